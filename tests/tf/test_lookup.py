"""Tables from keys to values."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord import tf


def test_vocabulary_of_a_file_numbers_unknown_words_behind(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\nb\n", encoding="utf-8")
    words = tf.lookup.TextFileInitializer(
        str(tmp_path / "words"), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )  # fmt: skip
    table = tf.lookup.StaticVocabularyTable(words, 1)
    assert table.lookup(tf.ragged.constant([["b", "z"], []])).to_list() == [[1, 2], []]
    assert table.size().numpy() == 3


def test_one_key_has_one_value() -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
