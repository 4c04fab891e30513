"""The options of a compression: every name and field that TensorFlow accepts, and errors for all others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from purerecord import TFRecordOptions
from purerecord.storage.compression import as_options, compression_name
from purerecord.storage.deflate import deflate


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, ""),
        ("", ""),
        (0, ""),
        ([], ""),
        ("GZIP", "GZIP"),
        ("ZLIB", "ZLIB"),
        (1, "ZLIB"),
        (2, "GZIP"),
        (TFRecordOptions("GZIP"), "GZIP"),
        (TFRecordOptions(TFRecordOptions("ZLIB")), "ZLIB"),
        (TFRecordOptions(), ""),
        (SimpleNamespace(compression_type="GZIP"), "GZIP"),
        (SimpleNamespace(compression_type=None), ""),
    ],
)
def test_all_names_of_a_compression_are_known(given_, expected):
    assert compression_name(given_) == expected
    assert TFRecordOptions(given_).compression == expected
    assert TFRecordOptions.get_compression_type_string(given_) == expected
    assert as_options(given_).compression == expected


@pytest.mark.parametrize("name", ["BZ2", "XZ", "ZSTD"])
def test_compression_of_other_tools_is_known_to_readers_only(name):
    assert compression_name(name) == name
    for use in (TFRecordOptions, as_options, TFRecordOptions.get_compression_type_string):
        with pytest.raises(ValueError, match=f"^{name} files are read but not written; use"):
            use(name)


@pytest.mark.parametrize("wrong", ["gzip", "FOO", b"GZIP", 3, -1, "SNAPPY", "auto", object()])
def test_unknown_compression_is_refused_in_tensorflows_words(wrong):
    with pytest.raises(ValueError, match="Not a valid compression_type: "):
        TFRecordOptions(wrong)


@pytest.mark.parametrize(
    ("field", "wrong", "right"),
    [
        ("flush_mode", [-1, 4, 5], [0, 1, 2, 3]),
        ("input_buffer_size", [0, -1], [1, 100, 1 << 30]),
        ("output_buffer_size", [0, 1, -5], [2, 262144]),
        ("window_bits", [0, 7, 16, 24, 32, -8, -16], [8, 9, 15, 25, 31, -9, -15]),
        ("compression_level", [-2, 10, "9"], [-1, 0, 9]),
        ("compression_method", [7, 9], [8]),
        ("mem_level", [0, 10], [1, 9]),
        ("compression_strategy", [-1, 5], [0, 1, 2, 3, 4]),
    ],
)
def test_options_that_zlib_does_not_take_are_refused_at_once(field, wrong, right):
    for value in wrong:
        with pytest.raises(ValueError, match=field):
            TFRecordOptions("GZIP", **{field: value})
        assert TFRecordOptions("", **{field: value}).compression == ""  # as in TensorFlow: it means nothing
    for value in right:
        options = TFRecordOptions("GZIP", **{field: value})
        assert getattr(options, field) == value
        assert deflate(options) is not None


def test_fields_are_tensorflows_in_its_order():
    names = list(TFRecordOptions.__dataclass_fields__)
    assert names == [
        "compression_type",
        "flush_mode",
        "input_buffer_size",
        "output_buffer_size",
        "window_bits",
        "compression_level",
        "compression_method",
        "mem_level",
        "compression_strategy",
        "block_size",
    ]


def test_options_around_options_keep_their_own_fields():
    inner = TFRecordOptions("GZIP", compression_level=1)
    assert as_options(TFRecordOptions(inner, compression_level=9)) == TFRecordOptions(
        "GZIP", compression_level=9
    )
    foreign = SimpleNamespace(compression_type="ZLIB", compression_level=3, window_bits=None)
    assert as_options(foreign) == TFRecordOptions("ZLIB", compression_level=3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"compression_type": "", "block_size": 100},
        {"compression_type": "ZLIB", "block_size": 100},
        {"compression_type": "GZIP", "block_size": 0},
        {"compression_type": "GZIP", "block_size": 100, "window_bits": 15},
        {"compression_type": "GZIP", "block_size": 100, "flush_mode": 2},
    ],
)
def test_impossible_block_options_are_refused(wrong):
    with pytest.raises(ValueError, match="block_size"):
        TFRecordOptions(**wrong)
