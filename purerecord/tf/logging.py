"""``tf.logging``: the logger of TensorFlow 1, which is Python's logger "tensorflow"."""

from __future__ import annotations

import logging
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

from ._missing import missing

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_logger",
    "get_verbosity",
    "info",
    "set_verbosity",
    "warn",
    "warning",
]


def get_logger() -> logging.Logger:
    """The logger; nothing here logs to it."""
    return logging.getLogger("tensorflow")


def set_verbosity(v: Any) -> None:
    """From which level on messages are shown."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """From which level on messages are shown."""
    return get_logger().getEffectiveLevel()


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message for debugging."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a warning."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an error."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an error that ends things."""
    get_logger().critical(msg, *args, **kwargs)


warn = warning

__getattr__ = missing("logging")
