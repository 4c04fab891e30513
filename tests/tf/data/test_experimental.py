"""``tf.data.experimental``: the dataset writer and the functions for ``apply``."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


def test_datasets_are_written_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    dataset = Dataset.range(3).map(tf.io.serialize_tensor)
    tf.data.experimental.TFRecordWriter(path, "GZIP").write(dataset)
    again = tf.data.TFRecordDataset(path, "GZIP").map(lambda record: tf.io.parse_tensor(record, tf.int64))
    assert values(again) == [0, 1, 2]


def test_old_functions_are_the_methods_of_a_dataset() -> None:
    experimental = tf.data.experimental
    dataset = Dataset.range(4)
    assert values(dataset.apply(experimental.take_while(lambda x: x < 2))) == [0, 1]
    assert values(dataset.batch(3).apply(experimental.unbatch())) == [0, 1, 2, 3]
    assert values(dataset.apply(experimental.map_and_batch(lambda x: x * 2, 3))) == [[0, 2, 4], [6]]
    repeated = dataset.apply(experimental.shuffle_and_repeat(4, 2, seed=1))
    assert repr(repeated).startswith("<_ShuffleAndRepeatDataset")
    assert sorted(values(repeated)) == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("expected", "text"), [(2, "at least 3 elements"), (9, "only 4 elements")])
def test_wrong_cardinality_is_an_error_at_the_end(expected: int, text: str) -> None:
    dataset = Dataset.range(4).apply(tf.data.experimental.assert_cardinality(expected))
    assert len(dataset) == expected
    with pytest.raises(tf.errors.FailedPreconditionError, match=text):
        list(dataset)
