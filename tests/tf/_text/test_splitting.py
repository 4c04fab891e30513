"""Strings in parts."""

from __future__ import annotations

from purerecord import tf


def test_ngrams_of_rows_are_padded_for_each_row() -> None:
    rows = tf.ragged.constant([["a", "b"], []])
    found = tf.strings.ngrams(rows, 2, pad_values=("<", ">")).to_list()
    assert found == [[b"< a", b"a b", b"b >"], [b"< >"]]


def test_bytes_are_split_within_characters() -> None:
    assert tf.strings.bytes_split("é").numpy().tolist() == [b"\xc3", b"\xa9"]


def test_tensorflow_1_splits_at_any_byte_and_skips_empty_parts() -> None:
    parts = tf.compat.v1.string_split(["a,b;;c"], ",;")
    assert parts.values.numpy().tolist() == [b"a", b"b", b"c"]
