"""``python -m purerecord``."""

import sys

from .cli import main

if __name__ == "__main__":  # not when a worker process imports this
    sys.exit(main())
