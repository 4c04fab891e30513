"""``tf.io`` and ``tf.train`` of purerecord.tf against live TensorFlow: results, errors and their texts."""

from __future__ import annotations

import os
import random
import zlib
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
import purerecord.tf as prtf
from purerecord.container import frames
from tests.support.core_vs_tensorflow import tensorflow_spec
from tests.support.facade_vs_tensorflow import error_of, plain, run
from tests.support.handmade_messages import UNSET_FEATURE, example, floats, ints, sequence_example, strings
from tests.support.interop import interop
from tests.support.spec_cases import Case

tf = interop("tensorflow")

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))
Program = Callable[[Any], Any]


# --- Parsing: random data ---------------------------------------------------------------------------


def outcome(tf: Any, function: str, payloads: Any, specs: dict[str, Any]) -> Any:
    try:
        theirs = {name: tensorflow_spec(tf, spec) for name, spec in specs.items()}
        result = getattr(tf.io, function)(payloads, theirs)
    except Exception as error:  # which one it is, is what the test compares
        return error
    return {name: plain(value) for name, value in result.items()}


@pytest.mark.parametrize("seed", range(4 * CAMPAIGN))
def test_random_examples_give_what_they_give_under_tensorflow(seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(60):
        faults = rng.choice((0.0, 0.02, 0.1, 0.4))
        cases = [Case(rng, name, faults) for name in rng.sample("abcdef", rng.randrange(1, 5))]
        specs = {case.name: case.spec for case in cases}
        payloads = [
            example([pair for case in cases for pair in case.features()])
            for _ in range(rng.choice((1, 2, 9)))
        ]
        for function, source in (("parse_example", payloads), ("parse_single_example", payloads[0])):
            ours, theirs = (outcome(library, function, source, specs) for library in (prtf, tf))
            if isinstance(theirs, Exception):
                # If there are several faults, TensorFlow may name another one, so only the class is compared.
                assert type(ours).__name__ == type(theirs).__name__
            elif getattr(ours, "problem", None) == "index":
                seen["refused"] += 1  # an index outside of its SparseFeature's size
            else:
                assert list(ours) == list(theirs)
                assert ours == theirs
            seen["error" if isinstance(theirs, Exception) else "equal"] += 1
    assert seen["error"]
    assert seen["equal"]


# --- Parsing: one fault, TensorFlow's text ----------------------------------------------------------


def parse(payloads: Any, **features: Callable[[Any], Any]) -> Program:
    """A program that parses ``payloads``, one or a list."""
    function = "parse_single_example" if isinstance(payloads, bytes) else "parse_example"
    return lambda tf: getattr(tf.io, function)(payloads, {name: make(tf) for name, make in features.items()})


def fixed(shape: Any, dtype: str = "int64", default: Any = None) -> Callable[[Any], Any]:
    return lambda tf: tf.io.FixedLenFeature(shape, dtype, default)


def var(dtype: Any = "int64") -> Callable[[Any], Any]:
    return lambda tf: tf.io.VarLenFeature(dtype)


def rows(shape: Any, dtype: str = "int64", **kwargs: Any) -> Callable[[Any], Any]:
    return lambda tf: tf.io.FixedLenSequenceFeature(shape, dtype, allow_missing=True, **kwargs)


def ragged(dtype: str = "int64", **kwargs: Any) -> Callable[[Any], Any]:
    return lambda tf: tf.io.RaggedFeature(dtype, **kwargs)


A2 = example([("a", ints(1, 2))])
F2 = example([("a", floats(1, 2))])
S2 = example([("a", strings(b"x", b"y"))])
UNSET = example([("a", UNSET_FEATURE)])

EXAMPLES: dict[str, Program] = {
    "scalar": parse(example([("a", ints(7))]), a=fixed([])),
    "vector": parse(A2, a=fixed([2])),
    "shape as a number": parse(A2, a=fixed(2)),
    "matrix in a batch": parse([A2, A2], a=fixed([1, 2])),
    "default": parse(b"", a=fixed([2], "int64", [7, 8])),
    "default for an unset feature": parse(UNSET, a=fixed([], "int64", 7)),
    "default of text": parse(b"", a=fixed([], "string", "é")),
    "default reshaped": parse(b"", a=fixed([1], "float32", 7)),
    "sparse": parse(A2, a=var()),
    "sparse batch": parse([A2, b"", A2], a=var()),
    "rows": parse([A2, b""], a=rows([])),
    "rows with a default": parse([A2, b""], a=rows([], default_value=-1)),
    "rows of one": parse(A2, a=rows([2])),
    "ragged": parse([A2, b""], a=ragged()),
    "ragged of one": parse(A2, a=ragged()),
    "ragged of strings": parse([S2], a=ragged("string")),
    "two": parse([A2], a=fixed([2]), b=fixed([], "string", "")),
    "order of the names": parse(A2, z=fixed([], "int64", 1), a=var(), m=ragged(), b=fixed([], "int64", 2)),
    "missing": parse(b"", a=fixed([])),
    "missing in a batch": parse([A2, b""], a=fixed([2])),
    "unset": parse(UNSET, a=fixed([2])),
    "kind": parse(F2, a=fixed([2])),
    "kind in a batch": parse([A2, F2], a=fixed([2])),
    "kind of strings": parse(S2, a=fixed([2], "float32")),
    "sparse kind": parse(S2, a=var("float32")),
    "sparse kind in a batch": parse([A2, F2], a=var()),
    "ragged kind": parse([A2, F2], a=ragged()),
    "too few": parse(A2, a=fixed([3])),
    "too few in a batch": parse([A2], a=fixed([3])),
    "too many": parse(A2, a=fixed([])),
    "too many in a batch": parse([A2], a=fixed([])),
    "too many floats": parse(F2, a=fixed([], "float32")),
    "too many strings": parse(S2, a=fixed([], "string")),
    "too many strings in a batch": parse([S2], a=fixed([], "string")),
    "too few strings in a batch": parse([S2], a=fixed([3], "string")),
    "rows that do not come out even": parse(A2, a=rows([3])),
    "rows that do not come out even in a batch": parse([A2], a=rows([3])),
    "no features": lambda tf: tf.io.parse_example([A2], {}),
    "no features for one": lambda tf: tf.io.parse_single_example(A2, {}),
    "None for features": lambda tf: tf.io.parse_single_example(A2, None),
    "a number for a feature": lambda tf: tf.io.parse_example([A2], {"a": 5}),
    "no type": parse([A2], a=var(None)),
    "no type, dense": parse([A2], a=fixed([], None)),
    "no shape": parse([A2], a=fixed(None)),
    "first dimension unknown": parse([A2], a=fixed([None, 2])),
    "another dimension unknown": parse([A2], a=fixed([2, None])),
    "a negative dimension": parse([A2], a=fixed([-1])),
    "rows that may not be missing": lambda tf: tf.io.parse_example(
        [A2], {"a": tf.io.FixedLenSequenceFeature([], tf.int64)}
    ),
    "a batch for one": lambda tf: tf.io.parse_single_example([A2], {"a": tf.io.VarLenFeature(tf.int64)}),
    "a batch of batches": lambda tf: tf.io.parse_example([[A2]], {"a": tf.io.VarLenFeature(tf.int64)}),
    "names": lambda tf: tf.io.parse_example(
        [A2, b""], {"a": tf.io.FixedLenFeature([2], tf.int64)}, example_names=["one", "two"]
    ),
    "too few names": lambda tf: tf.io.parse_example(
        [A2, A2], {"a": tf.io.FixedLenFeature([2], tf.int64)}, example_names=["one"]
    ),
    "dense and ragged in one": lambda tf: tf.io.parse_example(
        [A2], {"a": tf.io.VarLenFeature(tf.int64), "b": tf.io.RaggedFeature(tf.int64, value_key="a")}
    ),
    "ragged of int32": lambda tf: tf.io.RaggedFeature(tf.int32),
    "ragged with an empty key": lambda tf: tf.io.RaggedFeature(tf.int64, value_key=""),
    "specs as they are shown": lambda tf: (
        str(tf.io.FixedLenFeature([2], tf.int64, 3)),
        str(tf.io.VarLenFeature(tf.string)),
        str(tf.io.FixedLenSequenceFeature([], tf.float32, True)),
        str(tf.io.SparseFeature("i", "v", tf.float32, 5)),
        str(tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowSplits("s")])),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_parsed_or_refused_as_by_tensorflow(name: str) -> None:
    assert run(prtf, EXAMPLES[name]) == run(tf, EXAMPLES[name])


def test_types_that_an_example_has_not_are_refused_alike() -> None:
    for make in (fixed([], "int32"), var("int32")):
        ours, theirs = (run(library, parse([A2], a=make)) for library in (prtf, tf))
        assert ours[0] == theirs[0] == "InvalidArgumentError"
        assert theirs[1].startswith(ours[1])


def test_sparse_features_are_tensorflows() -> None:
    payloads = [
        example([("i", ints(3, 1)), ("v", floats(1, 2))]),
        b"",
        example([("i", ints(0)), ("v", floats(9))]),
    ]
    for spec in (
        ("i", "v", "float32", 5),
        ("i", "v", "float32", 5, True),
        (["i", "i"], "v", "float32", [5, 4]),
    ):

        def program(tf: Any, spec: Any = spec) -> Any:
            return tf.io.parse_example(payloads, {"s": tf.io.SparseFeature(*spec)})

        assert run(prtf, program) == run(tf, program)


def steps(*lists: Any) -> bytes:
    return sequence_example([("c", ints(5))], [("f", list(lists))])


SEQUENCES: dict[str, Program] = {
    "batch": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1), ints(2)), steps(ints(3))],
        {"c": tf.io.FixedLenFeature([], tf.int64)},
        {"f": tf.io.FixedLenSequenceFeature([], tf.int64)},
    ),
    "single": lambda tf: tf.io.parse_single_sequence_example(
        steps(ints(1), ints(2)),
        {"c": tf.io.FixedLenFeature([], tf.int64)},
        {"f": tf.io.FixedLenSequenceFeature([1], tf.int64)},
    ),
    "sparse": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1), ints(2, 3)), steps(ints())], None, {"f": tf.io.VarLenFeature(tf.int64)}
    ),
    "ragged": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1), ints(2, 3)), steps(ints())],
        {"c": tf.io.RaggedFeature(tf.int64)},
        {"f": tf.io.RaggedFeature(tf.int64)},
    ),
    "one payload for a batch": lambda tf: tf.io.parse_sequence_example(
        steps(ints(1)), {"c": tf.io.VarLenFeature(tf.int64)}, {"f": tf.io.VarLenFeature(tf.int64)}
    ),
    "nothing asked": lambda tf: tf.io.parse_sequence_example([b""]),
    "nothing asked of one": lambda tf: tf.io.parse_single_sequence_example(b""),
    "sparse specs in the context": lambda tf: tf.io.parse_sequence_example(
        [b""], {"c": tf.io.SparseFeature("i", "v", tf.int64, 3)}
    ),
    "a default in a sequence": lambda tf: tf.io.parse_sequence_example(
        [b""], None, {"g": tf.io.FixedLenSequenceFeature([], tf.int64, True, 3)}
    ),
    "a list that is missing": lambda tf: tf.io.parse_sequence_example(
        [steps()], None, {"g": tf.io.FixedLenSequenceFeature([], tf.int64)}
    ),
    "a list that may be missing": lambda tf: tf.io.parse_sequence_example(
        [steps()], None, {"g": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    ),
    "kind in the context": lambda tf: tf.io.parse_sequence_example(
        [steps()], {"c": tf.io.FixedLenFeature([], tf.float32)}
    ),
    "kind in a list": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1))], None, {"f": tf.io.FixedLenSequenceFeature([], tf.float32)}
    ),
    "kind in a sparse list": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1), floats(1))], None, {"f": tf.io.VarLenFeature(tf.int64)}, example_names=["me"]
    ),
    "number in a step": lambda tf: tf.io.parse_sequence_example(
        [steps(ints(1, 2), ints(3), ints(4, 5, 6))], None, {"f": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    ),
    "number in the context": lambda tf: tf.io.parse_sequence_example(
        [steps()], {"c": tf.io.FixedLenFeature([2], tf.int64)}
    ),
    "missing in the context": lambda tf: tf.io.parse_single_sequence_example(
        steps(), {"d": tf.io.FixedLenFeature([2], tf.int64)}
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequence_example_is_parsed_or_refused_as_by_tensorflow(name: str) -> None:
    assert run(prtf, SEQUENCES[name]) == run(tf, SEQUENCES[name])


# --- Tensors and bytes ------------------------------------------------------------------------------

CODECS: dict[str, Program] = {
    "int32": lambda tf: tf.io.decode_raw(b"abcd", tf.int32),
    "another byte order": lambda tf: tf.io.decode_raw([b"abcd"], tf.int16, little_endian=False),
    "floats": lambda tf: tf.io.decode_raw([[b"abcd"], [b"efgh"]], tf.float32),
    "booleans": lambda tf: tf.io.decode_raw(b"\0\1\2", tf.bool),
    "complex numbers": lambda tf: tf.io.decode_raw(bytes(range(16)), tf.complex64),
    "nothing": lambda tf: tf.io.decode_raw(b"", tf.uint8),
    "no strings": lambda tf: tf.io.decode_raw(tf.constant([], tf.string), tf.int32),
    "type by name": lambda tf: tf.io.decode_raw(b"a", "uint8"),
    "filled up": lambda tf: tf.io.decode_raw([b"abcd", b"a"], tf.int16, fixed_length=4),
    "cut": lambda tf: tf.io.decode_raw([b"abcd", b"abcdef"], tf.uint8, fixed_length=3),
    "not a multiple": lambda tf: tf.io.decode_raw(b"abc", tf.int32),
    "different lengths": lambda tf: tf.io.decode_raw([b"abcd", b"ab"], tf.uint8),
    "not a multiple, fixed": lambda tf: tf.io.decode_raw([b"abcd"], tf.int16, fixed_length=3),
    "serialized int": lambda tf: tf.io.serialize_tensor(5),
    "serialized floats": lambda tf: tf.io.serialize_tensor([[1.5, 2.0]]),
    "serialized strings": lambda tf: tf.io.serialize_tensor(["a", b"\0", ""]),
    "serialized booleans": lambda tf: tf.io.serialize_tensor([True, False]),
    "serialized array": lambda tf: tf.io.serialize_tensor(np.arange(6, dtype=np.int16).reshape(2, 3)),
    "there and back": lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor([[1, 2]]), tf.int32),
    "another type": lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(1.5), tf.int32),
    "a vector of tensors": lambda tf: tf.io.parse_tensor([b"x"], tf.int32),
}


@pytest.mark.parametrize("name", CODECS)
def test_bytes_are_decoded_as_by_tensorflow(name: str) -> None:
    assert run(prtf, CODECS[name]) == run(tf, CODECS[name])


def parse_floats(tf: Any, data: bytes) -> Any:
    return tf.io.parse_tensor(data, tf.float32)


def test_what_is_no_tensor_is_refused_alike() -> None:
    for data in (b"junk\xff", b"\x08\x63", b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x01x"):
        ours, theirs = (run(library, partial(parse_floats, data=data)) for library in (prtf, tf))
        assert ours[0] == theirs[0] == "InvalidArgumentError"
        assert ours[1][:12] == theirs[1][:12]


# --- Messages ---------------------------------------------------------------------------------------

MESSAGES: dict[str, Program] = {
    "ints": lambda tf: tf.train.Int64List(value=[1, -2]),
    "numpy ints": lambda tf: tf.train.Int64List(value=np.arange(3)),
    "small ints": lambda tf: tf.train.Int64List(value=[np.int8(1), np.uint32(2)]),
    "tensors": lambda tf: tf.train.Int64List(value=[tf.constant(3)]),
    "a tensor": lambda tf: tf.train.FloatList(value=tf.constant([1.0, 2.5])),
    "floats": lambda tf: tf.train.FloatList(value=[1, 2.5, np.float64(0.1), 1e40]),
    "bytes": lambda tf: tf.train.BytesList(value=[b"x", b"\xff\0"]),
    "numpy bytes": lambda tf: tf.train.BytesList(value=np.array([b"a", b"bc"])),
    "a feature": lambda tf: tf.train.Feature(int64_list=tf.train.Int64List(value=[1])),
    "an example": lambda tf: tf.train.Example(
        features=tf.train.Features(
            feature={"a": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))}
        )
    ),
    "a sequence": lambda tf: tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(
            feature_list={"a": tf.train.FeatureList(feature=[tf.train.Feature()])}
        )
    ),
    "nothing": lambda tf: tf.train.Int64List(),
    "fractions": lambda tf: tf.train.Int64List(value=[1.5]),
    "text for ints": lambda tf: tf.train.Int64List(value=["1"]),
    "too large": lambda tf: tf.train.Int64List(value=[2**63]),
    "a number": lambda tf: tf.train.Int64List(value=3),
    "text": lambda tf: tf.train.BytesList(value=["text"]),
    "bytes for a list": lambda tf: tf.train.BytesList(value=b"ab"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message_is_made_shown_and_stored_as_by_tensorflow(name: str) -> None:
    def program(tf: Any) -> Any:
        message = MESSAGES[name](tf)
        return str(message), message.SerializeToString(), type(message).__name__

    assert run(prtf, program) == run(tf, program)


def test_messages_go_from_one_to_the_other() -> None:
    ours = prtf.train.Example()
    ours.features.feature["a"].int64_list.value.extend([1, 2])
    theirs = tf.train.Example.FromString(ours.SerializeToString())
    assert str(theirs) == str(ours)
    assert prtf.train.Example.FromString(theirs.SerializeToString()) == ours


# --- Files ------------------------------------------------------------------------------------------


def framed(*records: bytes) -> bytes:
    return b"".join(piece for record in records for piece in frames.encode(record))


def deflated(data: bytes, wbits: int) -> bytes:
    stream = zlib.compressobj(-1, 8, wbits, 9)
    return stream.compress(data) + stream.flush()


GOOD = framed(b"hello", b"", b"world" * 3)
GZIP, ZLIB = deflated(GOOD, 31), deflated(GOOD, 15)
FILES = {
    "good": GOOD,
    "empty": b"",
    "one byte more": GOOD + b"x",
    "eleven bytes more": GOOD + b"x" * 11,
    "twelve bytes more": GOOD + b"x" * 12,
    "cut data": GOOD[:-6],
    "cut footer": GOOD[:-1],
    "bad length": b"\1" + GOOD[1:],
    "bad data": GOOD[:12] + b"H" + GOOD[13:],
    "bad in the middle": framed(b"a") + b"\1" + GOOD[1:],
    "gzip": GZIP,
    "zlib": ZLIB,
    "gzip without its trailer": GZIP[:-8],
    "gzip cut": GZIP[:25],
    "zlib cut": ZLIB[:-3],
    "gzip twice": GZIP + GZIP,
    "gzip and garbage": GZIP + b"garbage123456",
    "gzip of eleven bytes more": deflated(GOOD + b"x" * 11, 31),
    "gzip of cut data": deflated(GOOD[:-6], 31),
}


def events(records: Any) -> list[Any]:
    """The elements and errors of an iterator, up to its end."""
    seen: list[Any] = []
    for _ in range(8):
        try:
            seen.append(next(records))
        except StopIteration:
            break
        except Exception as error:  # the test compares the errors
            seen.append(error_of(error))
    return seen


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("name", FILES)
def test_damage_is_what_it_is_under_tensorflow(tmp_path: Path, name: str, compression: str) -> None:
    damaged, sound = tmp_path / "damaged", tmp_path / "sound"
    damaged.write_bytes(FILES[name])
    sound.write_bytes({"": GOOD, "GZIP": GZIP, "ZLIB": ZLIB}[compression])
    paths = [str(damaged), str(sound)]
    ours, theirs = (
        events(library.data.TFRecordDataset(paths, compression).as_numpy_iterator()) for library in (prtf, tf)
    )
    assert ours == theirs
    ours, theirs = (
        events(iter(library.compat.v1.io.tf_record_iterator(paths[0], compression))) for library in (prtf, tf)
    )
    assert ours == theirs


def test_missing_file_is_what_it_is_under_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(GOOD)
    for name in ("missing", "", "file/inside"):
        for program in (
            lambda tf, path: next(iter(tf.data.TFRecordDataset(path))),
            lambda tf, path: next(iter(tf.compat.v1.io.tf_record_iterator(path))),
            lambda tf, path: tf.io.read_file(path),
            lambda tf, path: tf.io.TFRecordWriter(path + "/x").close(),
            lambda tf, path: tf.io.gfile.GFile(path).read(),
        ):
            path = str(tmp_path / name)
            ours, theirs = (run(library, partial(program, path=path)) for library in (prtf, tf))
            assert ours == theirs


WRITES: list[Any] = [b"x", bytearray(b"xy"), "é", np.bytes_(b"z"), 3, None, [b"x"], memoryview(b"x")]


@pytest.mark.parametrize("options", [None, "", "GZIP", "ZLIB", 0, 1, 2])
def test_writer_writes_and_refuses_what_tensorflow_does(tmp_path: Path, options: Any) -> None:
    seen = []
    for library in (prtf, tf):
        path = tmp_path / library.__name__
        writer = library.io.TFRecordWriter(str(path), options)
        events = []
        for record in WRITES:
            try:
                events.append(writer.write(record))
            except TypeError:
                events.append("refused")
        writer.flush()
        writer.close()
        writer.close()
        events.append(run(library, lambda tf, writer=writer: writer.write(b"")))
        events.append(run(library, lambda tf, writer=writer: writer.flush()))
        seen.append((events, path.read_bytes()))
    assert seen[0] == seen[1]


def test_options_are_tensorflows(tmp_path: Path) -> None:
    for make in (
        lambda tf: tf.io.TFRecordOptions("GZIP", compression_level=1),
        lambda tf: tf.io.TFRecordOptions(tf.io.TFRecordOptions("ZLIB")),
        lambda tf: tf.io.TFRecordOptions("ZLIB", flush_mode=2, input_buffer_size=100),
        lambda tf: tf.compat.v1.python_io.TFRecordOptions(
            tf.compat.v1.python_io.TFRecordCompressionType.GZIP
        ),
    ):
        written = []
        for library in (prtf, tf):
            path = tmp_path / library.__name__
            with library.io.TFRecordWriter(str(path), make(library)) as writer:
                for row in range(100):
                    writer.write(f"row {row}")
            written.append(path.read_bytes())
        assert written[0] == written[1]


def test_files_are_read_written_and_found_as_by_tensorflow(tmp_path: Path) -> None:
    def program(tf: Any) -> Any:
        folder = str(tmp_path / tf.__name__)
        tf.io.write_file(f"{folder}/a/b/c", b"\0x")
        tf.io.write_file(f"{folder}/a/d", "é")
        patterns = [f"{folder}/a/*", f"{folder}/*/b/?"]
        return (
            tf.io.read_file(f"{folder}/a/b/c"),
            tf.io.read_file(tf.constant(f"{folder}/a/d")),
            [path.numpy().decode().replace(folder, "") for path in tf.io.matching_files(patterns)],
            tf.io.matching_files(f"{folder}/nothing*"),
        )

    assert run(prtf, program) == run(tf, program)


GFILE: list[Callable[[Any], Any]] = [
    lambda g: g.GFile("x", "w").write("ab\ncd\n"),
    lambda g: list(g.GFile("x")),
    lambda g: (g.GFile("x").read(), g.GFile("x", "rb").read(3), g.GFile("x").readline()),
    lambda g: (g.GFile("x").readlines(), g.GFile("x").size(), g.GFile("x").tell(), g.GFile("x").mode),
    lambda g: g.GFile("missing").read(),
    lambda g: g.GFile("x").seek(-1),
    lambda g: g.GFile("x").write("a"),
    lambda g: g.GFile("x", "w").read(),
    lambda g: g.GFile("x", "q"),
    lambda g: g.GFile("x", "a").write(b"zz"),
    lambda g: g.GFile("x", "w").write(3),
    lambda g: g.GFile("x", "w").write("ab\ncd\n"),
    lambda g: (g.makedirs("d/e/f"), g.makedirs("d/e/f"), g.mkdir("d")),
    lambda g: g.mkdir("p/q"),
    lambda g: g.makedirs("x/y"),
    lambda g: (
        g.listdir("d"),
        sorted(g.listdir(".")),
        g.isdir("d"),
        g.isdir("x"),
        g.exists("d"),
        g.exists("p"),
    ),
    lambda g: g.listdir("missing"),
    lambda g: g.listdir("x"),
    lambda g: [
        sorted(g.glob(p)) for p in ("*", ["d/*", "x*"], "d/**", "d", "[xd]", "p*", "d/*/f", "*/e/f", "d/*/")
    ],
    lambda g: [g.glob(p) for p in ("[!x]", "[^x]", "./d/*", "{x,d}")],
    lambda g: g.copy("x", "y"),
    lambda g: g.copy("x", "y"),
    lambda g: g.copy("x", "y", overwrite=True),
    lambda g: g.copy("missing", "m"),
    lambda g: g.rename("y", "z"),
    lambda g: g.rename("x", "z"),
    lambda g: (g.rename("x", "z", overwrite=True), g.remove("z")),
    lambda g: g.remove("z"),
    lambda g: g.remove("d"),
    lambda g: (list(g.walk("d")), list(g.walk("d", topdown=False)), list(g.walk("missing"))),
    lambda g: (g.stat("d").is_directory, g.join("a", "b")),
    lambda g: g.stat("missing"),
    lambda g: g.rmtree("d"),
    lambda g: g.rmtree("d"),
]


def test_gfile_is_tensorflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for library in (prtf, tf):
        folder = tmp_path / library.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        seen.append([run(library, lambda tf, step=step: step(tf.io.gfile)) for step in GFILE])
    assert seen[0] == seen[1]


def test_old_spellings_are_the_new_ones_and_serve_tensorflow_1(tmp_path: Path) -> None:
    old = prtf.compat.v1
    path = str(tmp_path / "old")
    with old.python_io.TFRecordWriter(path) as writer:
        writer.write(A2)
    (record,) = old.python_io.tf_record_iterator(path)
    assert record == A2
    parsed = old.parse_single_example(record, {"a": old.FixedLenFeature([2], old.int64)})
    assert parsed["a"].numpy().tolist() == [1, 2]
    assert old.gfile.Exists(path)
    assert old.gfile.FastGFile(path, "rb").read() == Path(path).read_bytes()
    for name in (
        "Exists",
        "Glob",
        "GFile",
        "FastGFile",
        "ListDirectory",
        "MakeDirs",
        "Open",
        "Remove",
        "Walk",
    ):
        assert hasattr(tf.compat.v1.gfile, name)
        assert hasattr(prtf.gfile, name)
    assert [record.numpy() for record in pr_records(path)] == [A2]


def pr_records(path: str) -> Any:
    return prtf.data.TFRecordDataset(path).make_one_shot_iterator()


def test_what_we_write_tensorflow_reads_with_its_own_specs(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with prtf.io.TFRecordWriter(path, "GZIP") as writer:
        for row in range(3):
            feature = prtf.train.Feature(int64_list=prtf.train.Int64List(value=[row > 1]))
            message = prtf.train.Example(features=prtf.train.Features(feature={"big": feature}))
            writer.write(message.SerializeToString())

    def program(tf: Any) -> Any:
        specs = {"big": tf.io.FixedLenFeature([], tf.int64)}
        return tf.data.TFRecordDataset(path, "GZIP").map(
            lambda record: tf.io.parse_single_example(record, specs)
        )

    assert run(prtf, program) == run(tf, program)
    assert len(list(pr.read_records(path))) == 3
