"""Errors: what they are, and how each says where the fault lies."""

from __future__ import annotations

import pytest

from purerecord import errors

PLACED = [
    (errors.CorruptionError("why"), "why"),
    (errors.CorruptionError("why", path="a.tfrecord"), "a.tfrecord: why"),
    (errors.CorruptionError("why", record=0, offset=0), "record 0 at byte 0: why"),
    (errors.CorruptionError("why", path="a", record=3, offset=70), "a: record 3 at byte 70: why"),
    (errors.TruncatedError("cut", path="a", offset=9, expected=12, got=3), "a: at byte 9: cut"),
    (errors.ChecksumError("bad", record=1, part="data"), "record 1: bad"),
    (errors.DecodeError("junk", path="a", record=1, feature="x\n"), r"a: record 1: junk (feature 'x\n')"),
    (errors.SchemaError("missing", feature="x", record=2), "feature 'x': record 2: missing"),
    (errors.EncodeError("too large", feature="x"), "feature 'x': too large"),
]


@pytest.mark.parametrize(("error", "text"), PLACED, ids=str)
def test_message_says_the_place_and_then_the_reason(error, text):
    assert str(error) == text


def test_place_that_an_outer_layer_fills_in_later_is_in_the_message():
    error = errors.DecodeError("junk", feature="x")
    error.path, error.record, error.offset = "a.tfrecord", 4, 99
    assert str(error) == "a.tfrecord: record 4 at byte 99: junk (feature 'x')"
    late = errors.SchemaError("missing", feature="x", record=2)
    late.path, late.step = "a.tfrecord", 7
    assert str(late) == "a.tfrecord: feature 'x': record 2: step 7: missing"


@pytest.mark.parametrize(
    ("kind", "also"),
    [
        (errors.CorruptionError, ValueError),
        (errors.TruncatedError, EOFError),
        (errors.ChecksumError, errors.CorruptionError),
        (errors.CompressionError, errors.CorruptionError),
        (errors.DecodeError, errors.CorruptionError),
        (errors.SchemaError, ValueError),
        (errors.EncodeError, ValueError),
        (errors.StaleIndexError, ValueError),
        (errors.ClosedError, ValueError),
    ],
)
def test_error_is_of_ours_and_of_the_kind_that_python_code_catches(kind, also):
    assert issubclass(kind, errors.PureRecordError)
    assert issubclass(kind, also)
    assert not issubclass(kind, OSError)


def test_the_traceback_that_torch_puts_into_the_error_of_a_worker_keeps_its_lines():
    head = "Caught SchemaError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
    assert str(errors.SchemaError(head + "a\x1b[1m\nb")) == head + "a\\x1b[1m\nb"
    assert str(errors.SchemaError("line\nbreak")) == "line\\nbreak"
