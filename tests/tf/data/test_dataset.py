"""``tf.data.Dataset``: several datasets as one, and a whole pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


@given(st.lists(st.integers(0, 2), max_size=20), st.booleans())
def test_choices_are_followed(choices: list[int], stop: bool) -> None:
    parts = [Dataset.range(10 * part, 10 * part + 3) for part in range(3)]
    chosen = Dataset.from_tensor_slices(np.array(choices, np.int64))
    expected, position = [], [0, 0, 0]
    for choice in choices:
        if position[choice] < 3:
            expected.append(10 * choice + position[choice])
            position[choice] += 1
        elif stop:
            break
    assert values(Dataset.choose_from_datasets(parts, chosen, stop_on_empty_dataset=stop)) == expected


def test_samples_are_drawn_by_their_weights_and_repeatably() -> None:
    def drawn(seed: int) -> list[Any]:
        parts = [Dataset.range(1000), Dataset.range(1000, 2000)]
        return values(Dataset.sample_from_datasets(parts, [0.9, 0.1], seed=seed).take(1000))

    first = drawn(1)
    assert drawn(1) == first != drawn(2)
    assert 850 < sum(number < 1000 for number in first) < 950


def test_a_pipeline_as_tutorials_have_it(tmp_path: Path) -> None:
    pattern = str(tmp_path / "train-{}.tfrecord")
    for shard in range(3):
        with tf.io.TFRecordWriter(pattern.format(shard)) as writer:
            for row in range(10):
                feature = {
                    "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[shard * 10 + row])),
                    "odd": tf.train.Feature(int64_list=tf.train.Int64List(value=[row % 2 == 1])),
                }
                message = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(message.SerializeToString())
    specs = {"id": tf.io.FixedLenFeature([], tf.int64), "odd": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        example = tf.io.parse_single_example(record, specs)
        return example["id"], tf.cast(example["odd"], tf.bool)

    dataset = (
        Dataset.list_files(pattern.format("*"))
        .interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
        .shuffle(100)
        .repeat(2)
        .batch(8, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    batches = list(dataset)
    assert len(batches) == 7
    ids = np.concatenate([ids.numpy() for ids, _ in batches])
    odds = np.concatenate([odd.numpy() for _, odd in batches])
    assert np.array_equal(ids % 10 % 2 == 1, odds)
    assert np.bincount(ids).max() == 2


def test_weights_are_floats_and_all_zero_is_nothing() -> None:
    parts = [Dataset.range(3), Dataset.range(3)]
    with pytest.raises(TypeError, match=r"must be either `tf.float32` or `tf.float64`"):
        Dataset.sample_from_datasets(parts, [1, 2])
    assert list(Dataset.sample_from_datasets(parts, [0.0, 0.0])) == []
