"""serialize_tensor and parse_tensor against live TensorFlow: byte for byte, array for array."""

from __future__ import annotations

import itertools
import math
from random import Random
from typing import Any

import numpy as np
import pytest

from purerecord.errors import EncodeError, PureRecordError, SchemaError
from purerecord.payload.proto import TensorProto
from purerecord.payload.tensor import parse_tensor, serialize_tensor
from tests.payload.test_tensor import BAD, FIELDS, KNOWN, same
from tests.support.interop import interop
from tests.support.strategies import CAMPAIGN, mutate

tf = interop("tensorflow")

DTYPES = [
    *(tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64),
    *(tf.half, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128),
]
SHAPES = [(), (1,), (0,), (3,), (2, 3), (0, 3), (3, 0, 2), (1, 1, 1, 1), (300,), (2, 0, 0)]
EXTRA = [
    *(tf.dtypes.experimental.float8_e5m2, tf.dtypes.experimental.float8_e4m3fn),
    *(tf.dtypes.experimental.int4, tf.dtypes.experimental.uint4),
]
QUANTISED = {
    tf.qint8: np.int8,
    tf.quint8: np.uint8,
    tf.qint16: np.int16,
    tf.quint16: np.uint16,
    tf.qint32: np.int32,
}


def tf_parse(payload: bytes, dtype: Any) -> np.ndarray | None:
    """TensorFlow's array, or None if it refuses."""
    try:
        found = tf.raw_ops.ParseTensor(serialized=payload, out_type=dtype).numpy()
    except tf.errors.InvalidArgumentError:
        return None
    if isinstance(found, bytes):
        return np.array(found, object)
    found = np.asarray(found)
    return found.view(QUANTISED[dtype]) if dtype in QUANTISED else found


def sample(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    octets = np.random.default_rng(seed).bytes(math.prod(shape) * numpy_dtype.itemsize)
    if numpy_dtype == np.bool_:
        octets = bytes(octet & 1 for octet in octets)
    return np.frombuffer(octets, numpy_dtype).reshape(shape)


@pytest.mark.parametrize(("dtype", "shape"), [*itertools.product(DTYPES, SHAPES)])
def test_arrays_of_every_type_and_shape_have_the_same_bytes(dtype: Any, shape: tuple[int, ...]) -> None:
    array = sample(dtype, shape)
    payload = tf.io.serialize_tensor(array).numpy()
    assert serialize_tensor(array) == payload
    assert serialize_tensor(tf.constant(array)) == payload
    assert same(parse_tensor(payload, dtype), tf_parse(payload, dtype))
    assert same(parse_tensor(payload), array)
    assert same(parse_tensor(tf.make_tensor_proto(array)), array)


@pytest.mark.parametrize("shape", SHAPES)
def test_strings_of_every_shape_have_the_same_bytes(shape: tuple[int, ...]) -> None:
    strings = [b"", b"a", b"\0", b"x" * 200, "é".encode()]
    array = np.empty(math.prod(shape), object)
    array[:] = [strings[k % len(strings)] for k in range(array.size)]
    array = array.reshape(shape)
    payload = tf.io.serialize_tensor(tf.constant(array, tf.string)).numpy()
    assert serialize_tensor(array) == payload
    assert same(parse_tensor(payload, tf.string), array)


@pytest.mark.parametrize("dtype", EXTRA)
def test_types_that_tensorflow_only_parses_come_back_from_our_bytes(dtype: Any) -> None:
    array = sample(dtype, (2, 3))
    assert same(tf_parse(serialize_tensor(array), dtype), array)
    assert same(parse_tensor(serialize_tensor(array), dtype), array)


@pytest.mark.parametrize(("value", "octets"), KNOWN)
def test_the_known_bytes_are_those_of_the_installed_tensorflow(value: Any, octets: str) -> None:
    assert tf.io.serialize_tensor(value).numpy().hex() == octets


@pytest.mark.parametrize(
    "value",
    [None, 2**63, [1, None], np.array([None]), [[1], [2, 3]], [1, "a"], [True, 2], 1e39, np.longdouble(1)],
)
def test_what_tensorflow_refuses_we_refuse(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        tf.io.serialize_tensor(value)
    with pytest.raises(EncodeError):
        serialize_tensor(value)


SCALARS = {
    "int": 1,
    "large int": 2**40,
    "float": 1.5,
    "bool": True,
    "complex": 1j,
    "str": "a",
    "bytes": b"b",
    **{name: np.dtype(name).type(1) for name in ("float64", "float32", "float16", "int64", "int8", "uint8")},
    "bool_": np.bool_(True),
    "complex64": np.complex64(1j),
    "array of int": np.array(1),
    "array of float": np.array(1.5),
}


@pytest.mark.parametrize("first", SCALARS)
def test_lists_of_any_two_scalars_have_the_same_bytes(first: str) -> None:
    for second, scalar in SCALARS.items():
        value = [SCALARS[first], scalar]
        try:
            theirs = tf.io.serialize_tensor(value).numpy()
        except (ValueError, TypeError):
            theirs = None
        try:
            ours = serialize_tensor(value)
        except EncodeError:
            ours = None
        kinds = {first, second}
        if ours is None and kinds & {"bool", "bool_"}:
            continue  # see below
        if theirs is None and kinds & {"complex", "complex64"}:
            continue
        if kinds == {"float16", "large int"} and ours is None:
            assert np.isinf(parse_tensor(theirs)).any()
            continue
        assert ours == theirs, value


def test_deliberate_differences_in_serializing() -> None:
    # TensorFlow takes a mutable or viewed byte string for a list of small integers, ...
    assert serialize_tensor(bytearray(b"x")) == serialize_tensor(memoryview(b"x")) == serialize_tensor(b"x")
    # ... loses the zeros at the end of numpy's bytes, ...
    assert serialize_tensor(np.bytes_(b"a\0")) == serialize_tensor(b"a\0")
    assert tf.io.serialize_tensor(np.bytes_(b"a\0")).numpy() == serialize_tensor(b"a")
    # ... takes True for a number if a number comes first, ...
    tf.io.serialize_tensor([1, True])
    with pytest.raises(EncodeError):
        serialize_tensor([1, True])
    # ... makes infinity of a number that is too large for the half in front of it, ...
    assert np.isinf(tf.io.parse_tensor(tf.io.serialize_tensor([np.float16(1), 2**40]), tf.half)).any()
    with pytest.raises(EncodeError, match="too large for float16"):
        serialize_tensor([np.float16(1), 2**40])
    # ... and knows no complex number among others.
    with pytest.raises(ValueError, match="mixed types"):
        tf.io.serialize_tensor([1, 1j])
    assert parse_tensor(serialize_tensor([1, 1j])).tolist() == [1, 1j]


# --- Parsing ----------------------------------------------------------------------------------------


def dtype_of(payload: bytes) -> Any:
    try:
        return tf.as_dtype(TensorProto.FromString(payload).dtype)
    except Exception:  # not a message, or not a type
        return tf.float32


@pytest.mark.parametrize("payload", [case[1] for case in FIELDS], ids=[case[0] for case in FIELDS])
def test_elements_are_found_where_tensorflow_finds_them(payload: bytes) -> None:
    assert same(parse_tensor(payload), tf_parse(payload, dtype_of(payload)))


@pytest.mark.parametrize("title", BAD)
def test_what_we_refuse_tensorflow_refuses(title: str) -> None:
    assert tf_parse(BAD[title], dtype_of(BAD[title])) is None


def test_another_type_than_asked_for_is_refused_by_both() -> None:
    payload = serialize_tensor(1.5)
    assert tf_parse(payload, tf.int32) is None
    with pytest.raises(SchemaError):
        parse_tensor(payload, tf.int32)


SMALL = [code for code in range(1, 34) if code not in (20, 21)]


@pytest.mark.parametrize("code", SMALL)
def test_every_field_means_the_same_for_every_type(code: int) -> None:
    dtype = tf.as_dtype(code)
    fields = {
        "int_val": [1, -3, 300, 9],
        "half_val": [0x3F80, 0x13F80, -1],
        "float8_val": b"\x01\x88",
        "float_val": [0.5, 2],
        "double_val": [0.5],
        "string_val": [b"x"],
        "scomplex_val": [1, 2, 3],
        "dcomplex_val": [1, 2],
        "int64_val": [-5],
        "bool_val": [True],
        "uint32_val": [7],
        "uint64_val": [2**63],
    }
    for field, value in fields.items():
        message = TensorProto(dtype=code, tensor_shape={"dim": [{"size": 4}]}, **{field: value})
        payload = message.SerializeToString()
        assert same(parse_tensor(payload), tf_parse(payload, dtype)), field


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_give_the_same_array_or_an_error_on_both_sides(seed: int) -> None:
    random = Random(seed)
    payloads = [case[1] for case in FIELDS] + [bytes.fromhex(octets) for _, octets in KNOWN]
    payloads += [serialize_tensor(sample(dtype, (2, 3), seed)) for dtype in DTYPES]
    compared = 0
    for _ in range(600 * CAMPAIGN):
        payload = mutate(random.choice(payloads), random)
        try:
            found = parse_tensor(payload, max_expansion=1 << 16)
        except PureRecordError as error:
            # TensorFlow would allocate what we refuse to, and keeps resource handles.
            if not isinstance(error, SchemaError) and "max_expansion" not in str(error):
                assert tf_parse(payload, dtype_of(payload)) is None, payload.hex()
            continue
        compared += 1
        assert same(found, tf_parse(payload, dtype_of(payload))), payload.hex()
    assert compared > 20
