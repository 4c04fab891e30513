"""``tf.logging``: the logger of TensorFlow 1."""

from __future__ import annotations

import logging

import pytest

from purerecord import tf


def test_messages_go_to_the_logger_tensorflow(caplog: pytest.LogCaptureFixture) -> None:
    before = tf.get_logger().level
    try:
        tf.logging.set_verbosity(tf.logging.DEBUG)
        assert tf.logging.get_verbosity() == logging.DEBUG
        names = ("debug", "info", "warn", "warning", "error", "fatal")
        for name in names:
            getattr(tf.logging, name)("message of %s", name)
    finally:
        tf.get_logger().setLevel(before)
    assert {record.name for record in caplog.records} == {"tensorflow"}
    assert [record.getMessage() for record in caplog.records] == [f"message of {name}" for name in names]
    assert [record.levelname for record in caplog.records] == [
        "DEBUG",
        "INFO",
        "WARNING",
        "WARNING",
        "ERROR",
        "CRITICAL",
    ]
