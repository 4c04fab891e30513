"""``tf.errors``: TensorFlow's errors, and the core's errors as TensorFlow's."""

from __future__ import annotations

import errno
import pickle

import pytest

from purerecord import errors as core
from purerecord import tf
from purerecord.tf.errors import combined_error, translate, translated


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        ("DataLossError", ValueError),
        ("NotFoundError", FileNotFoundError),
        ("InvalidArgumentError", ValueError),
        ("OutOfRangeError", EOFError),
        ("OutOfRangeError", IndexError),
        ("FailedPreconditionError", ValueError),
        ("FailedPreconditionError", OSError),
        ("AlreadyExistsError", FileExistsError),
        ("PermissionDeniedError", PermissionError),
        ("UnimplementedError", NotImplementedError),
        ("ResourceExhaustedError", MemoryError),
    ],
)
def test_errors_are_the_builtin_exceptions_they_resemble(kind, builtin):
    error = getattr(tf.errors, kind)(None, None, "text")
    assert isinstance(error, builtin)
    assert isinstance(error, tf.errors.OpError)
    assert (str(error), error.message, error.op, error.node_def) == ("text", "text", None, None)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), "text")


LOSS = "DataLossError"


TRANSLATED = [
    (
        core.ChecksumError("x", part="length", offset=0),
        LOSS,
        "corrupted record at 0 (Is this even a TFRecord file?)",
    ),
    (core.ChecksumError("x", part="length", offset=30), LOSS, "corrupted record at 30"),
    (core.ChecksumError("x", part="data", offset=30), LOSS, "corrupted record at 42"),
    (
        core.TruncatedError("x", offset=30),
        LOSS,
        "truncated record at 30' failed with Read less bytes than requested",
    ),
    (
        core.CompressionError("the GZIP stream is broken at compressed byte 0 (incorrect header check)"),
        LOSS,
        "inflate() failed with error -3: incorrect header check",
    ),
    (core.CompressionError("odd"), LOSS, "odd"),
    (core.ClosedError("x"), "FailedPreconditionError", "Writer is closed."),
    (core.DecodeError("odd"), "InvalidArgumentError", "odd"),
    (core.SchemaError("odd", feature="a"), "InvalidArgumentError", "feature 'a': odd"),
    (
        FileNotFoundError(errno.ENOENT, "No such file or directory", "a"),
        "NotFoundError",
        "a; No such file or directory",
    ),
    (IsADirectoryError(errno.EISDIR, "Is a directory", "a"), "FailedPreconditionError", "a; Is a directory"),
    (OSError(errno.ENAMETOOLONG, "File name too long", "a"), "InvalidArgumentError", "a; File name too long"),
    (OSError("odd"), "UnknownError", "odd"),
]


@pytest.mark.parametrize(("error", "kind", "text"), TRANSLATED)
def test_errors_become_tensorflows_and_stay_what_they_were(error, kind, text):
    made = translate(error)
    assert type(made).__name__ == kind
    assert isinstance(made, getattr(tf.errors, kind))
    assert isinstance(made, type(error))
    assert str(made) == text
    for name, value in vars(error).items():
        assert getattr(made, name) == value
    if isinstance(error, OSError):
        assert (made.errno, made.filename) == (error.errno, error.filename)
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), str(again)) == (type(made), text)
    with pytest.raises(getattr(tf.errors, kind)), translated():
        raise error


def test_compressed_files_are_cut_with_other_words():
    made = translate(core.TruncatedError("x", offset=30), compressed=True)
    assert str(made) == "truncated record at 30' failed with EOF reached"


def test_other_errors_pass_and_translated_ones_stay():
    error = KeyError("x")
    assert translate(error) is error
    made = combined_error(tf.errors.DataLossError, core.ChecksumError("x"), "text")
    assert translate(made) is made
    with pytest.raises(KeyError), translated():
        raise error
