"""``tf.data``: tensors, ranges, generators and files as sources."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


def test_rows_of_a_structure_come_together() -> None:
    rows = list(Dataset.from_tensor_slices({"a": [1, 2], "b": ([0.5, 1.5],)}))
    assert [int(row["a"]) for row in rows] == [1, 2]
    assert [float(row["b"][0]) for row in rows] == [0.5, 1.5]
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        Dataset.from_tensor_slices(([1, 2], [1]))
    with pytest.raises(ValueError, match="should not be empty"):
        Dataset.from_tensor_slices(())


def test_ragged_and_sparse_tensors_have_rows() -> None:
    ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], []]))
    assert [row.shape.as_list() for row in ragged] == [[2], [0]]
    sparse = Dataset.from_tensor_slices(tf.SparseTensor([[0, 1]], [5], [2, 3]))
    assert [tf.sparse.to_dense(row).numpy().tolist() for row in sparse] == [[0, 5, 0], [0, 0, 0]]


@pytest.mark.parametrize("args", [(4,), (2, 5), (5, 0, -2)])
def test_range_is_pythons(args: tuple[int, ...]) -> None:
    assert values(Dataset.range(*args)) == list(range(*args))
    assert len(Dataset.range(*args)) == len(range(*args))


WRONG: list[tuple[Any, str]] = [
    ({"a": "text"}, "did not match|could not be converted"),
    ({"a": [1, 2]}, r"of shape \(2,\)"),
    ({"b": 1}, "did not match the expected structure"),
    (1, "did not match the expected structure"),
]


@pytest.mark.parametrize(("value", "text"), WRONG, ids=[str(value) for value, _ in WRONG])
def test_generator_must_match_its_signature(value: Any, text: str) -> None:
    signature = {"a": tf.TensorSpec([], tf.int64)}
    dataset = Dataset.from_generator(lambda: iter([value]), output_signature=signature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        list(dataset)


def test_generator_gets_its_arguments_and_its_errors_become_tensorflows() -> None:
    dataset = Dataset.from_generator(range, tf.int64, [], args=(3,))
    assert values(dataset) == [0, 1, 2]

    def broken() -> Any:
        yield 1
        raise KeyError("lost")

    with pytest.raises(tf.errors.UnknownError, match="KeyError"):
        list(Dataset.from_generator(broken, tf.int64))


def test_lines_are_without_their_ends(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(b"a\r\n\nb")
    packed.write_bytes(gzip.compress(b"c\n"))
    assert [line.numpy() for line in tf.data.TextLineDataset([str(plain)])] == [b"a", b"", b"b"]
    assert [line.numpy() for line in tf.data.TextLineDataset(str(packed), "GZIP")] == [b"c"]


def test_records_of_fixed_length_lie_between_header_and_footer(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"HEADabcdefF")
    dataset = tf.data.FixedLengthRecordDataset(str(path), 3, 4, 1)
    assert [record.numpy() for record in dataset] == [b"abc", b"def"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an exact multiple of the record length"):
        list(tf.data.FixedLengthRecordDataset(str(path), 4))


def test_files_are_read_one_after_the_other_or_in_turn(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "ab"]
    for name in names:
        Path(name).write_text(f"{name[-1]}\n" * 2)
    for parallel_reads, order in ((None, b"aabb"), (2, b"abab")):
        dataset = tf.data.TextLineDataset(names, num_parallel_reads=parallel_reads)
        assert b"".join(line.numpy() for line in dataset) == order


def test_file_names_may_be_a_dataset_or_paths_but_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x\n")
    listed = Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    for names in (path, [path], listed, listed.batch(1)):
        assert [line.numpy() for line in tf.data.TextLineDataset(names)] == [b"x"]
    assert not list(tf.data.TextLineDataset([]))
    with pytest.raises(TypeError, match=r"must contain `tf\.string` elements"):
        tf.data.TextLineDataset(np.arange(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        Dataset.list_files(str(tmp_path / "nothing*"))
