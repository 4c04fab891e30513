"""Settings for all tests."""

from tests.support import settings  # noqa: F401 - importing it sets them
