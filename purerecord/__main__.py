"""``python -m purerecord``."""

import sys

from .cli import main

if __name__ == "__main__":  # a worker process imports this module under another name
    sys.exit(main())
