"""``tf.io`` without TensorFlow at hand; ``tests/interop`` compares all of it with the real one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf
from purerecord.tf.io.specs import core_specs

A = pr.encode_example({"a": [1, 2], "s": "text", "f": 0.5})


def test_example_comes_as_tensors() -> None:
    parsed = tf.io.parse_single_example(
        A,
        {
            "a": tf.io.FixedLenFeature([2], tf.int64),
            "s": tf.io.FixedLenFeature([], tf.string),
            "f": tf.io.VarLenFeature(tf.float32),
            "r": tf.io.RaggedFeature(tf.int64),
        },
    )
    assert isinstance(parsed["a"], type(tf.constant(0)))
    assert parsed["a"].numpy().tolist() == [1, 2]
    assert parsed["s"].numpy() == b"text"
    assert tf.sparse.to_dense(parsed["f"]).numpy().tolist() == [0.5]
    assert parsed["r"].shape == (0,)


def test_batch_of_a_dataset_is_parsed_at_once() -> None:
    dataset = tf.data.Dataset.from_tensor_slices([A, A, A]).batch(2)
    parsed = dataset.map(
        lambda batch: tf.io.parse_example(batch, {"a": tf.io.FixedLenFeature([2], tf.int64)})
    )
    assert [batch["a"].shape.as_list() for batch in parsed] == [[2, 2], [1, 2]]
    assert parsed.element_spec["a"] == tf.TensorSpec([None, 2], tf.int64)


def test_core_specs_serve_as_well() -> None:
    parsed = tf.io.parse_single_example(A, {"a": pr.FixedLenFeature([2], np.int64)})
    assert parsed["a"].numpy().tolist() == [1, 2]


def test_error_is_tensorflows_and_purerecords_at_once() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: a, Index: 1") as caught:
        tf.io.parse_example([pr.encode_example({"a": 1}), A], {"a": tf.io.FixedLenFeature([], tf.int64)})
    assert isinstance(caught.value, pr.SchemaError)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.feature, caught.value.problem) == ("a", "count")  # type: ignore[attr-defined]


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(payload: bytes) -> None:
    specs = {"a": tf.io.VarLenFeature(tf.int64)}
    for source in (payload, [payload, A]):
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            tf.io.parse_example(source, specs)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        tf.io.parse_single_sequence_example(payload, specs)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(payload, tf.float32)


def test_payload_is_never_in_the_message() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_single_example(b"\x0a\x7fsecret", {"a": tf.io.VarLenFeature(tf.int64)})
    assert "secret" not in str(caught.value)


def test_values_never_move_from_one_example_to_another() -> None:
    """Where TensorFlow lets them, this namespace keeps the core's error."""
    payloads = [pr.encode_example({"a": list(range(6))}), pr.encode_example({"a": list(range(6, 12))})]
    spec = tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(4)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="6 values cannot be cut into rows of 4"):
        tf.io.parse_example(payloads, {"a": spec})


def test_specs_are_named_tuples_and_converted_once() -> None:
    spec = tf.io.FixedLenFeature([2], "int64", [1, 2])
    assert spec._replace(shape=[1, 2]).shape == [1, 2]
    assert tuple(spec) == ([2], "int64", [1, 2])
    made = core_specs({"a": spec})["a"]
    assert made is core_specs({"b": spec})["b"]
    assert made == pr.FixedLenFeature([2], np.int64, [1, 2])


NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64"]


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=4), st.sampled_from(NUMBERS))
def test_decode_raw_is_numpys_frombuffer(strings: list[bytes], name: str) -> None:
    for little, order in ((True, "<"), (False, ">")):
        decoded = tf.io.decode_raw(strings, name, little_endian=little).numpy()
        expected = np.stack([np.frombuffer(string, np.dtype(name).newbyteorder(order)) for string in strings])
        assert decoded.dtype == np.dtype(name)
        assert decoded.tobytes() == expected.astype(name).tobytes()


@given(st.binary(max_size=9), st.integers(1, 9))
def test_fixed_length_cuts_or_fills_up(string: bytes, length: int) -> None:
    decoded = tf.io.decode_raw([string], tf.uint8, fixed_length=length).numpy()
    assert decoded.tobytes() == string[:length].ljust(length, b"\0")


VALUES: list[Any] = [5, 2.5, "text", b"\0", True, [[1, 2], [3, 4]], np.zeros((0, 3), np.uint8), ["a", ""]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_tensor_comes_back_from_its_bytes(value: Any) -> None:
    tensor = tf.constant(value)
    again = tf.io.parse_tensor(tf.io.serialize_tensor(tensor), tensor.dtype)
    assert again.dtype == tensor.dtype
    assert (
        again.numpy().tolist() == tensor.numpy().tolist() if again.ndim else again.numpy() == tensor.numpy()
    )


def test_whole_files_and_pathlib(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    tf.io.write_file(str(path), tf.constant(b"\0text"))
    assert tf.io.read_file(path).numpy() == b"\0text"
    assert tf.io.gfile.exists(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        assert file.read() == b"\0text"
    with tf.io.TFRecordWriter(path) as writer:  # type: ignore[arg-type,unused-ignore]
        writer.write("record")
    assert [record.numpy() for record in tf.data.TFRecordDataset(path)] == [b"record"]


def test_missing_file_is_also_pythons_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tf.io.read_file(str(tmp_path / "missing"))
    assert isinstance(caught.value, tf.errors.NotFoundError)
    assert str(caught.value).endswith("missing; No such file or directory")


def test_closed_writer_says_so(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "file"))
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"^Writer is closed\.$"):
        writer.write(b"")


@pytest.mark.parametrize("record", [3, None, [b"x"], memoryview(b"x"), tf.constant("x"), pr.Example()])
def test_writer_takes_bytes_and_text_only(tmp_path: Path, record: Any) -> None:
    with (
        tf.io.TFRecordWriter(str(tmp_path / "file")) as writer,
        pytest.raises(TypeError, match="incompatible"),
    ):
        writer.write(record)


def test_old_spellings(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(2)) as writer:
        writer.write(A)
    (record,) = tf.compat.v1.io.tf_record_iterator(path, "GZIP")
    assert tf.parse_single_example(record, {"a": tf.FixedLenFeature([2], tf.int64)})[
        "a"
    ].numpy().tolist() == [1, 2]
    assert tf.parse_example([record], {"a": tf.VarLenFeature(tf.int64)})["a"].shape == (1, 2)
    assert tf.parse_tensor(tf.serialize_tensor(3), tf.int32) == 3
    assert tf.decode_raw(b"ab", tf.uint8).shape == (2,)
    assert tf.gfile.Exists(path)
    assert tf.gfile.Glob(f"{tmp_path}/*") == [path]
    assert tf.compat.as_bytes("é") == "é".encode()
    assert tf.compat.as_text(b"x") == tf.compat.as_str_any(b"x") == "x"
    assert tf.compat.v1 is tf


@pytest.mark.parametrize(
    "name", ["io.decode_csv", "io.gfile.chmod", "data.Iterators", "python_io.x", "compat.forward"]
)
def test_what_is_not_there_is_explained(name: str) -> None:
    *path, last = name.split(".")
    namespace: Any = tf
    for part in path:
        namespace = getattr(namespace, part)
    with pytest.raises(AttributeError, match=r"covers TFRecord input pipelines; docs/tensorflow\.md lists"):
        getattr(namespace, last)


def test_url_without_fsspec_or_scheme_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((ImportError, tf.errors.UnimplementedError)):
        tf.io.gfile.exists("nosuchscheme://x/y")


def test_records_behind_a_url() -> None:
    pytest.importorskip("fsspec")
    path = "memory://purerecord-records/file"
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write("record")
    assert [record.numpy() for record in tf.data.TFRecordDataset(path, "GZIP")] == [b"record"]
    assert len(tf.data.Dataset.list_files("memory://purerecord-records/*")) == 1
    for missing in (lambda: list(tf.data.TFRecordDataset(path + "x")), lambda: tf.io.read_file(path + "x")):
        with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
            missing()
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 'nosuch' not implemented"):
        list(tf.data.TFRecordDataset("nosuch://x"))


def test_gfile_behind_a_url() -> None:
    pytest.importorskip("fsspec")
    gfile = tf.io.gfile
    root = "memory://purerecord-test"
    gfile.makedirs(f"{root}/a")
    with gfile.GFile(f"{root}/a/x", "w") as file:
        file.write("text")
    assert gfile.exists(f"{root}/a/x")
    assert gfile.isdir(f"{root}/a")
    assert gfile.listdir(f"{root}/a") == ["x"]
    assert [name.rpartition("/")[2] for name in gfile.glob(f"{root}/a/*")] == ["x"]
    assert gfile.stat(f"{root}/a/x").length == 4
    gfile.copy(f"{root}/a/x", f"{root}/a/y")
    gfile.rename(f"{root}/a/y", f"{root}/a/z")
    assert sorted(gfile.listdir(f"{root}/a")) == ["x", "z"]
    assert gfile.GFile(f"{root}/a/z").read() == "text"
    gfile.remove(f"{root}/a/z")
    gfile.rmtree(f"{root}/a")
    assert not gfile.exists(f"{root}/a/x")
