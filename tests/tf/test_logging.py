"""``tf.logging``: the logger of TensorFlow 1."""

from __future__ import annotations

import logging
import subprocess
import sys

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


def test_messages_are_shown_on_standard_error_as_tensorflow_shows_them() -> None:
    program = """
import purerecord.tf as tf
tf.logging.info("hidden")
tf.logging.warning("%s", "shown")
tf.logging.set_verbosity(tf.logging.INFO)
for number in range(4):
    tf.logging.log_every_n(tf.logging.INFO, "every %d", 2, number)
    tf.logging.log_first_n(tf.logging.INFO, "first %d", 1, number)
tf.logging.vlog(tf.logging.ERROR, "an error")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [
        "WARNING:tensorflow:shown",
        "INFO:tensorflow:every 0",
        "INFO:tensorflow:first 0",
        "INFO:tensorflow:every 2",
        "ERROR:tensorflow:an error",
    ]
    assert not done.stdout
