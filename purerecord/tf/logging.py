"""``tf.logging`` of TensorFlow 1: functions of Python's logger "tensorflow", shown on standard error.

As in TensorFlow, messages look like ``INFO:tensorflow:text``, and warnings are the lowest level that is shown
until ``set_verbosity``. A program that configures Python's logging itself decides where they go. This module
does not know what is logged.
"""

from __future__ import annotations

import logging
import sys
import threading
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import TYPE_CHECKING, Any, TextIO

from ._missing import missing

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_logger",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]


if TYPE_CHECKING:
    _Handler = logging.StreamHandler[TextIO]
else:
    _Handler = logging.StreamHandler  # Python 3.10 cannot subscript it


class _StandardError(_Handler):
    """Writes to what is standard error when a message comes."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter(logging.BASIC_FORMAT))

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        """The stream is not stored."""


_lock = threading.Lock()
_ready = False


def get_logger() -> logging.Logger:
    """The logger "tensorflow". purerecord does not log to it."""
    global _ready  # noqa: PLW0603 - the handler of the process
    logger = logging.getLogger("tensorflow")
    with _lock:
        if not _ready:
            _ready = True
            if not logging.getLogger().handlers and not logger.handlers:
                logger.addHandler(_StandardError())
    return logger


def set_verbosity(v: Any) -> None:
    """Sets the lowest level of messages that are shown."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The lowest level of messages that are shown."""
    return get_logger().getEffectiveLevel()


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a debug message."""
    get_logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an informational message."""
    get_logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a warning."""
    get_logger().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an error."""
    get_logger().error(msg, *args, stacklevel=2, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a critical error."""
    get_logger().critical(msg, *args, stacklevel=2, **kwargs)


warn = warning


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message of any level."""
    get_logger().log(level, msg, *args, stacklevel=2, **kwargs)


vlog = log


def log_if(level: int, msg: str, condition: bool, *args: Any) -> None:
    """Log a message if the condition holds."""
    if condition:
        log(level, msg, *args)


_counts: dict[tuple[str, int], int] = {}


def _count() -> int:
    """How often the line that called the caller of this function has logged before."""
    frame = sys._getframe(2)
    place = (frame.f_code.co_filename, frame.f_lineno)
    with _lock:
        found = _counts.get(place, 0)
        _counts[place] = found + 1
    return found


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first and then every ``n``-th message of this line of a program."""
    log_if(level, msg, _count() % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first ``n`` messages of this line of a program."""
    log_if(level, msg, _count() < n, *args)


def TaskLevelStatusMessage(msg: str) -> None:  # noqa: N802 - TensorFlow's name
    """Log an error."""
    error(msg)


def flush() -> None:
    """Does nothing: standard error has no buffer."""


__getattr__ = missing("logging")
