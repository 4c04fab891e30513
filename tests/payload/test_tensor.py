"""purerecord.payload.tensor: known bytes, every way to hold elements, and what is refused."""

from __future__ import annotations

import math
import re
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from purerecord.errors import DecodeError, EncodeError, PureRecordError, SchemaError
from purerecord.payload import tensor
from purerecord.payload.proto import TensorProto, TensorShapeProto
from purerecord.payload.tensor import parse_tensor, serialize_tensor
from tests.support.interop import interop
from tests.support.strategies import CAMPAIGN, mutate

NUMPY_DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
EXTRA_DTYPES = [*tensor._EXTRA_CODES]

# What TensorFlow 2.21 writes.
KNOWN = [
    (5, "08031200220405000000"),
    (2**31, "0809120022080000008000000000"),
    (-(2**31) - 1, "080912002208ffffff7fffffffff"),
    (1.5, "0801120022040000c03f"),
    (-0.0, "08011200220400000080"),
    (True, "080a1200220101"),
    ([True, False], "080a12041202080222020100"),
    (1j, "0812120022100000000000000000000000000000f03f"),
    ([], "080112021200"),
    ([[], []], "08011206120208021200"),
    ([1, 2.5], "080112041202080222080000803f00002040"),
    ([2**31, 1.5], "080112041202080222080000004f0000c03f"),
    ([[1, 2], [3, 4]], "080312081202080212020802221001000000020000000300000004000000"),
    (range(3), "0803120412020803220c000000000100000002000000"),
    ([np.float64(1)], "08021204120208012208000000000000f03f"),
    ([np.int64(1), 2], "080312041202080222080100000002000000"),
    ([np.uint8(5)], "0803120412020801220405000000"),
    ([np.int64(5), 2.5], "080112041202080222080000a04000002040"),
    ([1.5, np.float64(1.5)], "080112041202080222080000c03f0000c03f"),
    ([np.float16(1.5), 1], "08131204120208022204003e003c"),
    ([np.complex64(1j)], "0812120412020801221000000000000000000000" + "00000000f03f"),
    (np.uint64(3), "0817120022080300000000000000"),
    (np.int32([]), "080312021200"),
    (np.zeros((0, 3), np.float32), "08011206120012020803"),
    (np.array([1], ">i4"), "0803120412020801220401000000"),
    (np.arange(4, dtype=np.int8).reshape(2, 2).T, "0806120812020802120208022204" + "00020103"),
    ("a", "08071200420161"),
    ([b"a\0"], "080712041202080142026100"),
    (["a", b"b"], "0807120412020802420161420162"),
    (["a", "bcd", ""], "080712041202080342016142036263644200"),
    (np.array(["a"]), "0807120412020801420161"),
    (np.array([b"a", "b"], object), "0807120412020802420161420162"),
    (np.array(b"x", object), "08071200420178"),
]


@pytest.mark.parametrize(("value", "octets"), KNOWN)
def test_known_values_have_the_bytes_that_tensorflow_writes(value: Any, octets: str) -> None:
    assert serialize_tensor(value).hex() == octets


@pytest.mark.parametrize(
    "value",
    [
        *(None, {}, object(), (x for x in [1]), 2**63, [2**63], [1, None], [None], np.array([None])),
        *([[1], [2, 3]], [["a"], ["b", "c"]], [1, "a"], [True, 1], [True, 1.5], 1e39, [1e39], "\ud800"),
        *(np.array([1, 2], object), np.zeros(2, "M8[s]"), np.longdouble(1), np.array([(1, 2)], "i4,i4")),
        *(np.ma.array([1, 2], mask=[False, True]), np.void(b"abc"), [np.uint64(2**63)]),
        *([1, np.uint64(2**63)], [np.bool_(True), 1], [1, np.bool_(True)], [np.float16(1.5), 2**40]),
    ],
    ids=lambda value: re.sub(r" at 0x\w+", "", repr(value)),
)
def test_what_no_tensor_holds_is_an_encode_error(value: Any) -> None:
    with pytest.raises(EncodeError):
        serialize_tensor(value)


def test_a_list_that_contains_itself_is_an_encode_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(EncodeError, match="deep"):
        serialize_tensor(endless)


def test_a_tensor_that_cannot_become_an_array_is_an_encode_error() -> None:
    class OnDevice:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            raise RuntimeError("it is elsewhere")

    with pytest.raises(EncodeError, match="it is elsewhere"):
        serialize_tensor(OnDevice())


def test_more_than_protobuf_can_read_is_an_encode_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor, "MAX_SIZE", 100)
    with pytest.raises(EncodeError, match="2 GiB"):
        serialize_tensor(np.zeros(100))


# --- There and back ---------------------------------------------------------------------------------


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    return (
        found.dtype == expected.dtype
        and found.shape == expected.shape
        and (
            found.tolist() == expected.tolist()
            if found.dtype == object
            else found.tobytes() == expected.tobytes()
        )
    )


@given(st.data())
def test_arrays_come_back(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(NUMPY_DTYPES))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    array = data.draw(hnp.arrays(np.dtype(dtype), shape))
    found = parse_tensor(serialize_tensor(array))
    assert same(found, array)
    assert found.flags.writeable
    assert same(parse_tensor(serialize_tensor(array), array.dtype), array)
    message = TensorProto.FromString(serialize_tensor(array))
    assert same(parse_tensor(message), array)
    assert message.SerializeToString() == serialize_tensor(array)


@given(
    hnp.arrays(object, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0), elements=st.binary(max_size=5))
)
def test_strings_come_back(array: np.ndarray) -> None:
    assert same(parse_tensor(serialize_tensor(array)), array)
    assert same(parse_tensor(serialize_tensor(array), "string"), array)


@pytest.mark.parametrize("name", EXTRA_DTYPES)
def test_the_types_of_ml_dtypes_come_back(name: str) -> None:
    ml_dtypes = interop("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = np.arange(2).astype(dtype).reshape(2, 1)
    payload = serialize_tensor(array)
    assert payload[1] == tensor._EXTRA_CODES[name]
    assert same(parse_tensor(payload, name), array)
    assert same(parse_tensor(payload, dtype), array)


def test_without_ml_dtypes_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(SchemaError, match="ml_dtypes"):
        parse_tensor(proto(14, [1], half_val=[1]))


@pytest.mark.parametrize(
    "size", [tensor.FIND_CONTENT_FROM - 1, tensor.FIND_CONTENT_FROM, tensor.FIND_CONTENT_FROM + 1]
)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_large_content_is_the_same_and_belongs_to_the_caller(size: int, kind: Any) -> None:
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    payload = bytearray(serialize_tensor(array))
    found = parse_tensor(kind(payload))
    payload[:] = bytes(len(payload))
    assert same(found, array)
    found += 1


def test_large_content_in_another_place_is_found_by_protobuf() -> None:
    array = np.zeros(tensor.FIND_CONTENT_FROM, np.uint8)
    content = serialize_tensor(array)[serialize_tensor(array).index(b"\x22") :]
    head = serialize_tensor(array)[: -len(content)]
    assert same(parse_tensor(content + head), array)
    assert same(parse_tensor(head + b"\x22\x01x" + content), array)
    with pytest.raises(DecodeError, match="1 bytes"):
        parse_tensor(head + content + b"\x22\x01x")
    assert same(parse_tensor(head + content + b"\x22\x00"), array)
    with pytest.raises(DecodeError):
        parse_tensor(head + content[:-1])


# --- Every way to hold elements ---------------------------------------------------------------------


def proto(dtype: int, dims: list[int] | None = None, **values: Any) -> bytes:
    shape = None if dims is None else TensorShapeProto(dim=[{"size": size} for size in dims])
    return TensorProto(dtype=dtype, tensor_shape=shape, **values).SerializeToString()


FIELDS = [
    ("a value for each element", proto(1, [2], float_val=[1, 2]), np.float32([1, 2])),
    ("the last value repeated", proto(1, [3], float_val=[1, 2]), np.float32([1, 2, 2])),
    ("no value", proto(1, [2]), np.float32([0, 0])),
    ("more values than elements", proto(1, [1], float_val=[1, 2]), np.float32([1])),
    ("values of another type", proto(1, [2], int_val=[1]), np.float32([0, 0])),
    ("content and values", proto(3, [1], tensor_content=b"\1\0\0\0", int_val=[5]), np.int32([1])),
    ("no shape", proto(1, float_val=[7]), np.float32(7)),
    ("no elements", proto(1, [2, 0], tensor_content=b"???"), np.zeros((2, 0), np.float32)),
    ("no elements, large", proto(1, [0, 2**40]), np.zeros((0, 2**40), np.float32)),
    ("doubles", proto(2, [1], double_val=[0.1]), np.float64([0.1])),
    ("int32", proto(3, [2], int_val=[-1]), np.int32([-1, -1])),
    ("uint8, cut as in C", proto(4, [2], int_val=[300, -1]), np.uint8([44, 255])),
    ("int16, cut as in C", proto(5, [2], int_val=[70000, -1]), np.int16([4464, -1])),
    ("int64", proto(9, [1], int64_val=[-(2**63)]), np.int64([-(2**63)])),
    ("uint32", proto(22, [1], uint32_val=[2**32 - 1]), np.uint32([2**32 - 1])),
    ("uint64", proto(23, [1], uint64_val=[2**64 - 1]), np.uint64([2**64 - 1])),
    ("booleans", proto(10, [3], bool_val=[True, False]), np.bool_([True, False, False])),
    ("half", proto(19, [3], half_val=[0x3C00, 0x13C00]), np.float16([1, 1, 1])),
    ("complex", proto(8, [2], scomplex_val=[1, 2]), np.complex64([1 + 2j, 1 + 2j])),
    ("complex with a part too many", proto(18, [2], dcomplex_val=[1, 2, 3]), np.complex128([1 + 2j] * 2)),
    ("complex with a part alone", proto(8, [1], scomplex_val=[1]), np.complex64([0])),
    ("quantised", proto(11, [2], int_val=[300, 1]), np.int8([44, 1])),
    ("quantised content", proto(13, [1], tensor_content=b"\1\0\0\0"), np.int32([1])),
    ("strings", proto(7, [3], string_val=[b"a", b""]), np.array([b"a", b"", b""], object)),
    ("no strings", proto(7, [2]), np.array([b"", b""], object)),
    ("a scalar string", proto(7, string_val=[b"a", b"b"]), np.array(b"a", object)),
    ("strings in the content", proto(7, [2], tensor_content=b"\1\2abc"), np.array([b"a", b"bc"], object)),
    ("a long length", proto(7, [1], tensor_content=b"\x81\x80\x80\x80\x10a"), np.array([b"a"], object)),
]


@pytest.mark.parametrize(
    ("payload", "expected"), [case[1:] for case in FIELDS], ids=[case[0] for case in FIELDS]
)
def test_elements_are_found_wherever_they_are(payload: bytes, expected: np.ndarray) -> None:
    assert same(parse_tensor(payload), np.asarray(expected))


@pytest.mark.parametrize(
    ("code", "name", "field", "value"),
    [
        (14, "bfloat16", "half_val", [0x3F80]),
        (25, "float8_e4m3fn", "float8_val", b"\x38"),
        (29, "int4", "int_val", [1]),
    ],
)
def test_small_types_are_found_in_their_fields(code: int, name: str, field: str, value: Any) -> None:
    interop("ml_dtypes")
    found = parse_tensor(proto(code, [3], **{field: value}))
    assert found.dtype.name == name
    assert found.astype(float).tolist() == [1, 1, 1]
    assert parse_tensor(proto(code, [2])).astype(float).tolist() == [0, 0]


# --- What is refused --------------------------------------------------------------------------------

BAD = {
    "junk": b"junk",
    "nothing": b"",
    "no type": proto(0, [1]),
    "a type that does not exist": proto(34, [1]),
    "a reference": proto(101, [1]),
    "a negative type": proto(-1, [1]),
    "a negative dimension": proto(1, [-1]),
    "a negative dimension behind a zero": proto(1, [0, -1]),
    "too many elements": proto(1, [2**62, 2**62]),
    "too many elements times zero": proto(1, [2**62, 2**62, 0]),
    "no elements, but too large for numpy": proto(1, [0, 2**62, 2**62]),
    "more dimensions than numpy has": proto(1, [1] * 100, float_val=[1]),
    "more dimensions than TensorFlow has": proto(1, [1] * 255, float_val=[1]),
    "too little content": proto(1, [2], tensor_content=b"1234"),
    "too much content": proto(1, [1], tensor_content=b"12345678"),
    "a boolean that is 2": proto(10, [2], tensor_content=b"\1\2"),
    "string content that is cut": proto(7, [2], tensor_content=b"\1"),
    "string content that is too short": proto(7, [2], tensor_content=b"\1\2ab"),
    "string content that is too long": proto(7, [2], tensor_content=b"\1\2abcd"),
    "string content with a length of 6 bytes": proto(7, [1], tensor_content=b"\x81\x80\x80\x80\x80\x00a"),
    "endless strings in little content": proto(7, [2**62], tensor_content=b"\1\1"),
}


@pytest.mark.parametrize("title", BAD)
def test_bad_bytes_are_a_decode_error(title: str) -> None:
    with pytest.raises(DecodeError):
        parse_tensor(BAD[title])


@pytest.mark.parametrize(
    "payload",
    [
        proto(1, [2**40]),
        proto(1, [2**24 + 1]),
        proto(7, [2**23 + 2], string_val=[b""]),
        proto(10, [2**62], bool_val=[True]),
        proto(18, [2**62], dcomplex_val=[1, 2]),
    ],
)
def test_a_short_message_cannot_ask_for_much_memory(payload: bytes) -> None:
    with pytest.raises(DecodeError, match="max_expansion"):
        parse_tensor(payload)


def test_the_limit_can_be_moved() -> None:
    payload = proto(1, [1000], float_val=[1])
    assert parse_tensor(payload, max_expansion=999 * 4).sum() == 1000
    with pytest.raises(DecodeError, match="3996 bytes"):
        parse_tensor(payload, max_expansion=999 * 4 - 1)
    full = serialize_tensor(np.ones(1000))
    assert parse_tensor(full, max_expansion=0).sum() == 1000


@pytest.mark.parametrize("code", [20, 21])
def test_what_only_tensorflow_can_hold_is_a_schema_error(code: int) -> None:
    with pytest.raises(SchemaError, match="TensorFlow"):
        parse_tensor(proto(code, [1]))


@pytest.mark.parametrize("data", [None, "text", 5, [b""], TensorShapeProto()])
def test_what_is_no_payload_is_a_type_error(data: Any) -> None:
    with pytest.raises(TypeError, match="TensorProto"):
        parse_tensor(data)


@pytest.mark.parametrize("dtype", [np.float32, "float32", "<f4", np.dtype("f4"), float, "float"])
def test_the_dtype_can_be_asked_for_in_many_ways(dtype: Any) -> None:
    assert parse_tensor(serialize_tensor(1.5), dtype) == 1.5
    with pytest.raises(SchemaError, match="int32, not float32"):
        parse_tensor(serialize_tensor(1), dtype)


@pytest.mark.parametrize("dtype", [bytes, str, object, "string", "S", np.dtype("U3")])
def test_strings_can_be_asked_for_in_many_ways(dtype: Any) -> None:
    assert parse_tensor(serialize_tensor("a"), dtype) == b"a"
    with pytest.raises(SchemaError, match="int32, not string"):
        parse_tensor(serialize_tensor(1), dtype)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_give_an_array_or_an_error_of_ours(seed: int) -> None:
    random = Random(seed)
    payloads = [case[1] for case in FIELDS] + [serialize_tensor(value) for value, _ in KNOWN]
    outcomes = set()
    for _ in range(1500 * CAMPAIGN):
        try:
            found = parse_tensor(mutate(random.choice(payloads), random), max_expansion=1 << 16)
        except PureRecordError:
            outcomes.add(False)
        else:
            assert found.size == math.prod(found.shape)
            outcomes.add(True)
    assert outcomes == {True, False}
