"""``tf.data``: stored datasets."""

from __future__ import annotations

from pathlib import Path

from purerecord import tf


def test_iteration_that_is_given_up_leaves_no_snapshot(tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(5).snapshot(str(tmp_path))
    assert len(list(dataset.take(2))) == 2
    assert not list(tmp_path.rglob("*.snapshot"))
    assert len(list(dataset)) == 5
    assert list(tmp_path.rglob("snapshot.metadata"))
    assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]
