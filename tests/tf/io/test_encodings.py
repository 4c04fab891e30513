"""Strings in other encodings."""

from __future__ import annotations

import gzip
import zlib

import pytest

from purerecord import tf


def test_broken_compression_is_an_error() -> None:
    for data, kind in (
        (gzip.compress(b"abc")[:-3], "GZIP"),
        (b"no", "ZLIB"),
        (zlib.compress(b"abc")[:-5], "ZLIB"),
    ):
        with pytest.raises(tf.errors.DataLossError):
            tf.io.decode_compressed([data], kind)
    assert tf.io.decode_compressed(zlib.compress(b"abc"), "ZLIB").numpy() == b"abc"


def test_base64_comes_back() -> None:
    texts = [b"", b"a", b"ab", b"abc", b"\xff\xfe"]
    for pad in (False, True):
        assert tf.io.decode_base64(tf.io.encode_base64(texts, pad)).numpy().tolist() == texts
