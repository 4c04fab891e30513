"""purerecord.payload.example: what a Python value becomes, and what cannot be stored."""

from __future__ import annotations

import array
import enum
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from purerecord.errors import DecodeError, EncodeError
from purerecord.payload import proto
from purerecord.payload.encode.examples import encode_examples
from purerecord.payload.example import (
    decode_example,
    decode_sequence_example,
    encode_example,
    encode_sequence_example,
)
from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse
from purerecord.payload.wire import delimited
from tests.support.interop import interop
from tests.support.settings import tries
from tests.support.strategies import example_payloads, feature_mappings, plain, sequence_payloads, sequences


class Colour(enum.IntEnum):
    RED = 3


class Tensor:
    """Stands for a tensor of another library."""

    def __init__(self, values: Any, error: Exception | None = None) -> None:
        self.values, self.error = np.asarray(values), error

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.error is not None:
            raise self.error
        return self.values


INTS = [
    (1, [1]),
    (True, [1]),
    (-(2**63), [-(2**63)]),
    (2**63 - 1, [2**63 - 1]),
    (Colour.RED, [3]),
    ([1, 2], [1, 2]),
    ((1, 2), [1, 2]),
    (range(3), [0, 1, 2]),
    ([True, 2], [1, 2]),
    ([[1, 2], [3, 4]], [1, 2, 3, 4]),
    ([[[1]], [[2]]], [1, 2]),
    ([np.int8(1), 2, np.bool_(True)], [1, 2, 1]),
    ([np.array([1, 2]), np.array([3, 4])], [1, 2, 3, 4]),
    (np.bool_(True), [1]),
    (np.uint64(2**63 - 1), [2**63 - 1]),
    (np.array(7), [7]),
    (np.array([True, False]), [1, 0]),
    (np.array([1, 2], ">i2"), [1, 2]),
    (np.arange(6).reshape(2, 3), [0, 1, 2, 3, 4, 5]),
    (np.arange(6).reshape(2, 3).T, [0, 3, 1, 4, 2, 5]),
    (np.arange(6)[::-2], [5, 3, 1]),
    (np.array([1, 2], object), [1, 2]),
    (np.ma.array([1, 2], mask=False), [1, 2]),
    (array.array("h", [1, 2]), [1, 2]),
    (Tensor([[1], [2]]), [1, 2]),
    (np.empty((0, 3), np.uint8), []),
]
FLOATS = [
    (1.5, [1.5]),
    (0.1, [float(np.float32(0.1))]),
    (-0.0, [-0.0]),
    (float("inf"), [float("inf")]),
    (3.4028234e38, [float(np.finfo(np.float32).max)]),
    (1e-60, [0.0]),
    ([1.5, 2], [1.5, 2.0]),
    ([2**24, 0.5], [2.0**24, 0.5]),
    ([[1.0], [2.0]], [1.0, 2.0]),
    (np.float16(1.5), [1.5]),
    (np.float64(1.5), [1.5]),
    (np.array([1.5, 2.5], ">f8"), [1.5, 2.5]),
    (np.array([[1.5], [2.5]], np.longdouble), [1.5, 2.5]),
    (np.array([1, 2.5], object), [1.0, 2.5]),
    (Tensor(np.float32(1.5)), [1.5]),
    (np.empty(0), []),
]
STRINGS = [
    ("é", ["é".encode()]),
    (b"a\0", [b"a\0"]),
    (bytearray(b"x"), [b"x"]),
    (memoryview(b"xyz")[::2], [b"xz"]),
    (np.bytes_(b"a\0"), [b"a\0"]),
    (np.str_("é"), ["é".encode()]),
    (["a", b"b", bytearray(b"c")], [b"a", b"b", b"c"]),
    ([memoryview(b"a"), "b"], [b"a", b"b"]),
    ([["a", "b"], ["c", "d"]], [b"a", b"b", b"c", b"d"]),
    ("", [b""]),
    (np.array([["a", "é"]]), [b"a", "é".encode()]),
    (np.array([b"a", b"bc"]), [b"a", b"bc"]),
    (np.array([b"a\0", "b"], object), [b"a\0", b"b"]),
    (Tensor(np.array(b"a\0", object)), [b"a\0"]),
    (np.empty(0, "S3"), []),
    (np.empty(0, object), []),
]


def stored(value: Any) -> Any:
    return decode_example(encode_example({"f": value}))["f"]


@pytest.mark.parametrize(("value", "values"), INTS)
def test_integers_and_booleans_become_int64(value: Any, values: list[int]) -> None:
    assert plain(stored(value)) == plain(np.array(values, np.int64))


@pytest.mark.parametrize(("value", "values"), FLOATS)
def test_floats_become_float32(value: Any, values: list[float]) -> None:
    assert plain(stored(value)) == plain(np.array(values, np.float32))


@pytest.mark.parametrize(("value", "values"), STRINGS)
def test_strings_become_bytes_exactly(value: Any, values: list[bytes]) -> None:
    found = stored(value)
    assert found.dtype == object
    assert found.tolist() == values
    assert all(type(string) is bytes for string in found)


@pytest.mark.parametrize("value", [float("nan"), [float("nan")], np.array([np.nan]), np.float16("nan")])
def test_nan_stays_nan(value: Any) -> None:
    assert np.isnan(stored(value)).all()


@pytest.mark.parametrize("value", [[], (), [[]], [[], []], range(0)])
def test_an_empty_list_has_no_kind_and_comes_back_as_an_empty_list(value: Any) -> None:
    assert encode_example({"f": value}) == encode_example({"f": proto.Feature()})
    assert stored(value) == []


def test_small_types_of_ml_dtypes_are_stored_as_what_they_stand_for() -> None:
    ml_dtypes = interop("ml_dtypes")
    assert plain(stored(np.array([1.5, 2], ml_dtypes.bfloat16))) == plain(np.array([1.5, 2], np.float32))
    assert plain(stored(np.array([1, -2], ml_dtypes.int4))) == plain(np.array([1, -2]))


UNSTORABLE = {
    "none": None,
    "none in a list": [1, None],
    "too large": 2**63,
    "too small": -(2**63) - 1,
    "too large in a list": [1, 2**63],
    "too large, numpy's": np.uint64(2**63),
    "too large in an array": np.array([1, 2**63], np.uint64),
    "too large for float32": 1e39,
    "rounded up to infinity": 3.4028235677973366e38,
    "too large for float32, in a list": [1.0, 1e39],
    "too large for float32, in an array": np.array([np.inf, 1e39]),
    "too large for float32, long": np.longdouble(1e39),
    "an integer not exact among floats": [2**24 + 1, 0.5],
    "2**63 - 1 among floats": [2**63 - 1, 0.5],
    "ragged": [[1], [2, 3]],
    "ragged with a scalar": [1, [2]],
    "ragged arrays": [np.zeros(1), np.zeros(2)],
    "ragged array of objects": np.array([[1], [2, 3]], object),
    "array of lists": np.array([[1], [2], None], object)[:2],
    "number and string": [1, "a"],
    "number and string, objects": np.array([1, "a"], object),
    "strings and an empty list": [["a"], []],
    "surrogate": "\ud800",
    "surrogate in an array": np.array(["\ud800"]),
    "complex": 1j,
    "complex array": np.array([1j]),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "durations": np.timedelta64(1, "s"),
    "structured": np.array([(1, 2)], "i4,i4"),
    "void": np.void(b"abc"),
    "masked": np.ma.array([1, 2], mask=[False, True]),
    "dict": {"a": 1},
    "set": {1},
    "generator": (x for x in [1]),
    "object": object(),
    "type": int,
    "numbers in a memoryview": memoryview(np.arange(3)),
    "tensor on a device": Tensor(1, RuntimeError("can't convert cuda tensor to numpy")),
    "another message": proto.Example(),
}


@pytest.mark.parametrize("title", UNSTORABLE)
def test_what_cannot_be_stored_is_an_encode_error_that_names_the_feature(title: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_example({"fine": 1, "not this": UNSTORABLE[title]})
    assert caught.value.feature == "not this"
    assert "not this" in str(caught.value)


def test_a_list_that_contains_itself_is_an_encode_error() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    with pytest.raises(EncodeError, match="deep"):
        encode_example({"f": endless})


@pytest.mark.parametrize("name", [b"a", 1, None, "\ud800"])
def test_a_name_must_be_a_str_that_utf8_can_hold(name: Any) -> None:
    with pytest.raises(EncodeError):
        encode_example({name: 1})


@pytest.mark.parametrize("features", [None, [("a", 1)], b"", "a"])
def test_features_must_be_a_mapping(features: Any) -> None:
    with pytest.raises(TypeError, match="mapping"):
        encode_example(features)


# --- Bytes ------------------------------------------------------------------------------------------


def test_known_values_have_known_bytes() -> None:
    assert encode_example({}).hex() == "0a00"
    assert encode_example({"a": []}).hex() == "0a070a050a01611200"
    assert encode_example({"a": 5}).hex() == "0a0c0a0a0a016112051a030a0105"
    assert encode_example({"a": np.empty(0, int)}).hex() == "0a090a070a016112021a00"


def test_the_order_of_the_mapping_does_not_matter() -> None:
    names = ["b", "a", "ab", "é", "\uffff", "\U00010000", ""]
    forwards = encode_example(dict.fromkeys(names, 1))
    backwards = encode_example(OrderedDict((name, 1) for name in reversed(names)))
    assert forwards == backwards
    assert list(decode_example(forwards)) == sorted(names, key=str.encode)


@given(feature_mappings)
def test_decoding_gives_back_what_was_encoded(features: dict[str, Any]) -> None:
    payload = encode_example(features)
    found = decode_example(payload)
    assert plain(found) == plain(features)
    assert encode_example(found) == payload


@given(feature_mappings)
def test_protobuf_reads_the_same_and_writes_the_same_lists(features: dict[str, Any]) -> None:
    message = proto.Example.FromString(encode_example(features))
    assert plain(decode_example(message)) == plain(features)
    for name, value in features.items():
        if "nan" in str(value):
            continue  # protobuf in pure Python does not keep the sign of a NaN
        alone = proto.Example()
        alone.features.feature[name].CopyFrom(message.features.feature[name])
        assert encode_example({name: value}) == alone.SerializeToString()


@given(example_payloads)
@settings(max_examples=tries(200))
def test_what_can_be_decoded_can_be_encoded_again(payload: bytes) -> None:
    try:
        features = decode_example(payload)
    except DecodeError:
        return
    assert plain(decode_example(encode_example(features))) == plain(features)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_payloads_may_be_any_bytes_like_object(kind: Any) -> None:
    assert decode_example(kind(encode_example({"a": 1})))["a"].tolist() == [1]
    assert decode_sequence_example(kind(encode_sequence_example({"a": 1}, {})))[0]["a"].tolist() == [1]


@pytest.mark.parametrize("payload", [None, "text", 5, [b""], proto.SequenceExample(), proto.Feature()])
def test_other_payloads_are_type_errors(payload: Any) -> None:
    with pytest.raises(TypeError, match="Example"):
        decode_example(payload)


# --- Messages ---------------------------------------------------------------------------------------


def test_messages_are_accepted_as_values() -> None:
    features = {
        "feature": proto.Feature(int64_list=proto.Int64List(value=[1, -1])),
        "ints": proto.Int64List(value=[2]),
        "floats": proto.FloatList(value=[0.5]),
        "strings": proto.BytesList(value=[b"x"]),
        "empty": proto.Int64List(),
    }
    plainly = {
        "feature": [1, -1],
        "ints": 2,
        "floats": 0.5,
        "strings": b"x",
        "empty": np.empty(0, np.int64),
    }
    assert encode_example(features) == encode_example(plainly)


def test_messages_are_decoded_like_their_bytes() -> None:
    payload = encode_example({"a": 1, "b": ["x"]})
    assert plain(decode_example(proto.Example.FromString(payload))) == plain(decode_example(payload))


# --- SequenceExample --------------------------------------------------------------------------------


@given(feature_mappings, sequences)
def test_sequences_come_back(context: dict[str, Any], sequence: dict[str, Any]) -> None:
    payload = encode_sequence_example(context, sequence)
    found = decode_sequence_example(payload)
    assert plain(found) == plain((context, sequence))
    assert encode_sequence_example(*found) == payload
    message = proto.SequenceExample.FromString(payload)
    assert plain(decode_sequence_example(message)) == plain((context, sequence))


STEPS = [
    ([[1, 2], [3]], [[1, 2], [3]]),
    ([1, 2], [[1], [2]]),
    (np.arange(6).reshape(3, 2), [[0, 1], [2, 3], [4, 5]]),
    (np.arange(2), [[0], [1]]),
    (np.arange(8).reshape(2, 2, 2), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    (Tensor([[1, 2]]), [[1, 2]]),
    (["a", b"b"], [[b"a"], [b"b"]]),
    ([[], [1]], [[], [1]]),
    ([], []),
    (np.empty((0, 3)), []),
    (Ragged([1, 2, 3], [0, 2, 2, 3]), [[1, 2], [], [3]]),
    (Ragged([b"a", b"b"], [0, 2]), [[b"a", b"b"]]),
    (Ragged([1], [0, 0, 1, 1], missing=[False, False, True]), [[], [1], []]),
    (range(2), [[0], [1]]),
    ([1, 2.5, [3, 4]], [[1.0], [2.5], [3.0, 4.0]]),
    ([[], 1, 0.5], [[], [1.0], [0.5]]),
    ([proto.Feature(int64_list=proto.Int64List(value=[1])), 0.5], [[1.0], [0.5]]),
    ([proto.Feature(), proto.FloatList(value=[0.5])], [[], [0.5]]),
]


@pytest.mark.parametrize(("steps", "values"), STEPS)
def test_the_first_axis_of_a_sequence_is_its_steps(steps: Any, values: list[list[Any]]) -> None:
    _, found = decode_sequence_example(encode_sequence_example({}, {"s": steps}))
    assert [list(step) for step in found["s"]] == values


def test_a_missing_step_is_stored_without_a_type() -> None:
    steps = Ragged([1], [0, 0, 1, 1], missing=[False, False, True])
    _, found = decode_sequence_example(encode_sequence_example({}, {"s": steps}))
    assert [type(step) for step in found["s"]] == [np.ndarray, np.ndarray, list]


@pytest.mark.parametrize(("context", "sequence"), [({}, {}), ({"a": 1}, {}), ({}, {"s": []})])
def test_an_empty_context_or_sequence_is_not_stored(context: Any, sequence: Any) -> None:
    message = proto.SequenceExample.FromString(encode_sequence_example(context, sequence))
    assert message.HasField("context") == bool(context)
    assert message.HasField("feature_lists") == bool(sequence)


@pytest.mark.parametrize(
    "steps",
    [
        *(1, "abc", b"abc", memoryview(b"abc"), None, np.float32(1), np.array(1), {"a": 1}, (x for x in [1])),
        *([2**24 + 1, 2.5], [[1], "a"], [[[1], [2, 3]]], [None], Tensor(1, ValueError("on a device"))),
    ],
)
def test_what_is_no_sequence_of_one_kind_is_an_encode_error(steps: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_sequence_example({}, {"s": steps})
    assert caught.value.feature == "s"


@pytest.mark.parametrize(
    ("steps", "match"),
    [
        ((x for x in [1]), "a list, an array or a Ragged, not in a generator"),
        ("abc", "not in a str"),
        (5, "not in a int"),
        ([Ragged([1], [0, 1])], "store its values and its row lengths as two features"),
        (Ragged(Ragged([1], [0, 1]), [0, 1]), "store its values and its row lengths as two features"),
        (
            [proto.Feature(int64_list=proto.Int64List(value=[1])), "a"],
            "of one kind, not strings and integers",
        ),
    ],
)
def test_error_about_steps_says_what_would_do(steps: Any, match: str) -> None:
    with pytest.raises(EncodeError, match=match):
        encode_sequence_example({}, {"s": steps})


def test_a_sparse_is_no_value_but_says_how_to_store_it() -> None:
    sparse = Sparse([[0]], [1], (2,))
    with pytest.raises(EncodeError, match="its values and its indices as features of their own"):
        encode_example({"f": sparse})
    with pytest.raises(EncodeError, match="its values and its indices as features of their own"):
        encode_examples({"f": sparse})


def test_a_ragged_is_no_value_but_says_how_to_store_it() -> None:
    with pytest.raises(EncodeError, match=r"feature 'f': .*store its values and its row lengths"):
        encode_example({"f": Ragged([1], [0, 1])})


@given(sequence_payloads)
@settings(max_examples=tries(200))
def test_any_payload_gives_a_sequence_or_a_decode_error(payload: bytes) -> None:
    try:
        context, sequence = decode_sequence_example(payload)
    except DecodeError:
        return
    assert isinstance(context, dict)
    assert all(isinstance(steps, list) for steps in sequence.values())


def test_a_feature_of_unknown_fields_only_is_a_step_like_others() -> None:
    strange = proto.Feature.FromString(delimited(4, b""))
    with pytest.raises(EncodeError, match="unknown fields"):
        encode_sequence_example({}, {"s": [strange, 1]})
