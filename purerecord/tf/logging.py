"""``tf.logging`` of TensorFlow 1: functions of Python's logger "tensorflow".

This module does not know what is logged.
"""

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
    """The logger "tensorflow". purerecord does not log to it."""
    return logging.getLogger("tensorflow")


def set_verbosity(v: Any) -> None:
    """Sets the lowest level of messages that are shown."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The lowest level of messages that are shown."""
    return get_logger().getEffectiveLevel()


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a debug message."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an informational message."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a warning."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log an error."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a critical error."""
    get_logger().critical(msg, *args, **kwargs)


warn = warning

__getattr__ = missing("logging")
