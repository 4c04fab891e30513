"""purerecord.payload.wire: every form of the wire format, compared with protobuf."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import google.protobuf
import numpy as np
import pytest
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given, settings

from purerecord.errors import DecodeError, EncodeError
from purerecord.payload import proto, wire
from purerecord.payload.varint import varint
from purerecord.payload.wire import (
    BYTES,
    FLOAT,
    INT64,
    UNSET,
    decode_features,
    decode_sequence,
    delimited,
    read_size,
)
from tests.support.settings import tries
from tests.support.strategies import (
    any_example,
    any_sequence,
    example_payloads,
    message_feature,
    message_features,
    mutate,
    plain,
    sequence_payloads,
)

# Older versions accept a length of six bytes and refuse field 0 inside a group; the oldest crash.
needs_upb = pytest.mark.skipif(
    api_implementation.Type() != "upb" or int(google.protobuf.__version__.split(".")[0]) < 7,
    reason="compared with upb, protobuf's C implementation, from version 7",
)


# --- A table of messages ----------------------------------------------------------------------------


def example(*entries: bytes) -> bytes:
    return delimited(1, b"".join(delimited(1, entry) for entry in entries))


def key(name: str) -> bytes:
    return delimited(1, name.encode())


def value(*lists: bytes) -> bytes:
    return delimited(2, b"".join(lists))


def ints(*numbers: int) -> bytes:
    return delimited(INT64, delimited(1, b"".join(map(varint, numbers))))


def floats(*numbers: float) -> bytes:
    return delimited(FLOAT, delimited(1, struct.pack(f"<{len(numbers)}f", *numbers)))


def strings(*values: bytes) -> bytes:
    return delimited(BYTES, b"".join(delimited(1, string) for string in values))


def entry(*lists: bytes) -> bytes:
    return example(key("a") + value(*lists))


def int_list(content: bytes) -> bytes:
    return entry(delimited(INT64, content))


def float_list(content: bytes) -> bytes:
    return entry(delimited(FLOAT, content))


def group(depth: int, number: int = 5) -> bytes:
    return varint(number << 3 | 3) * depth + varint(number << 3 | 4) * depth


FIXED64 = b"\x09" + bytes(8)
GROUP = group(1)
ONE = struct.pack("<f", 1)
SHORT = key("a") + value(ints(1))
LONG_NAME = "n" * 200

# title -> (payload, the decoded features)
GOOD: dict[str, tuple[bytes, dict[str, Any]]] = {
    "empty": (b"", {}),
    "empty features": (b"\x0a\x00", {}),
    "packed integers": (entry(ints(1, -1, 300)), {"a": (INT64, [1, -1, 300])}),
    "unpacked integers": (int_list(b"\x08\x01\x08\xac\x02"), {"a": (INT64, [1, 300])}),
    "split packed integers": (int_list(b"\x0a\x01\x01\x0a\x02\x02\x03"), {"a": (INT64, [1, 2, 3])}),
    "unpacked, then packed": (int_list(b"\x08\x01\x0a\x01\x02\x08\x03"), {"a": (INT64, [1, 2, 3])}),
    "packed, but nothing in it": (int_list(b"\x0a\x00"), {"a": (INT64, [])}),
    "empty integers": (int_list(b""), {"a": (INT64, [])}),
    "forty integers": (entry(ints(*range(300, 340))), {"a": (INT64, [*range(300, 340)])}),
    "integer of 10 bytes": (int_list(b"\x0a\x0a" + b"\xff" * 9 + b"\x7f"), {"a": (INT64, [-1])}),
    "integer longer than needed": (int_list(b"\x08\x81\x80\x00"), {"a": (INT64, [1])}),
    "packed floats": (entry(floats(1, -2)), {"a": (FLOAT, [1, -2])}),
    "unpacked floats": (float_list(b"\x0d" + ONE + b"\x0d" + ONE), {"a": (FLOAT, [1, 1])}),
    "unpacked and packed floats": (float_list(b"\x0d" + ONE + b"\x0a\x04" + ONE), {"a": (FLOAT, [1, 1])}),
    "empty floats": (float_list(b""), {"a": (FLOAT, [])}),
    "strings": (entry(strings(b"x\0", b"", b"y" * 300)), {"a": (BYTES, [b"x\0", b"", b"y" * 300])}),
    "empty strings": (entry(strings()), {"a": (BYTES, [])}),
    "no kind": (example(key("a") + value()), {"a": (UNSET, None)}),
    "no value": (example(key("a")), {"a": (UNSET, None)}),
    "no key": (example(value(ints(1))), {"": (INT64, [1])}),
    "empty entry": (example(b""), {"": (UNSET, None)}),
    "value before key": (example(value(ints(1)) + key("a")), {"a": (INT64, [1])}),
    "two keys in an entry": (example(key("b") + SHORT), {"a": (INT64, [1])}),
    "two values in an entry": (example(SHORT + value(ints(2))), {"a": (INT64, [1, 2])}),
    "two values of two kinds": (example(SHORT + value(floats(2))), {"a": (FLOAT, [2])}),
    "a value, then one without a kind": (example(SHORT + value()), {"a": (INT64, [1])}),
    "the same key twice": (example(SHORT, key("a") + value(ints(2))), {"a": (INT64, [2])}),
    "the same key, then without a kind": (example(SHORT, key("a")), {"a": (UNSET, None)}),
    "two Features": (example(SHORT) + example(key("b")), {"a": (INT64, [1]), "b": (UNSET, None)}),
    "the same kind twice": (entry(ints(1), ints(2)), {"a": (INT64, [1, 2])}),
    "two kinds": (entry(ints(1), strings(b"x")), {"a": (BYTES, [b"x"])}),
    "a kind, another, the first": (entry(ints(1), floats(2), ints(3)), {"a": (INT64, [3])}),
    "long name": (example(key(LONG_NAME) + value(ints(1))), {LONG_NAME: (INT64, [1])}),
    "name with a zero": (example(key("\0é") + value(ints(1))), {"\0é": (INT64, [1])}),
    "unknown fields in the Example": (b"\x10\x05" + example(SHORT) + FIXED64, {"a": (INT64, [1])}),
    "features as a varint": (b"\x08\x05", {}),
    "unknown fields in Features": (delimited(1, GROUP + delimited(1, SHORT) + FIXED64), {"a": (INT64, [1])}),
    "unknown fields in the Feature": (entry(b"\x20\x01", ints(1), GROUP), {"a": (INT64, [1])}),
    "unknown fields in the list": (int_list(FIXED64 + b"\x08\x01" + GROUP), {"a": (INT64, [1])}),
    "an integer among floats": (float_list(b"\x08\x01"), {"a": (FLOAT, [])}),
    "a float among integers": (int_list(b"\x0d" + ONE), {"a": (INT64, [])}),
    "a float among strings": (entry(delimited(BYTES, b"\x0d" + ONE)), {"a": (BYTES, [])}),
    "unknown field in an entry": (example(SHORT + b"\x20\x01"), {}),
    "key of the wrong type": (example(b"\x08\x01" + value(ints(1))), {}),
    "tag longer than needed": (b"\x8a\x80\x80\x80\x00" + example(SHORT)[1:], {"a": (INT64, [1])}),
    "length longer than needed": (b"\x0a\x82\x80\x80\x80\x00\x0a\x00", {"": (UNSET, None)}),
    "largest field number": (varint((2**29 - 1) << 3) + b"\x01", {}),
    "field 0 inside a group": (b"\x2b\x00\x01\x2c", {}),
    "100 groups": (group(100), {}),
    "96 groups in a list": (int_list(group(96)), {"a": (INT64, [])}),
}

BAD: dict[str, bytes] = {
    "junk": b"junk",
    "field 0": b"\x00\x01",
    "field 0, delimited": b"\x02\x00",
    "wire type 6": b"\x0e",
    "wire type 7": b"\x0f",
    "a tag alone": b"\x0a",
    "a tag that is cut": b"\x8a",
    "a tag of 6 bytes": b"\x8a\x80\x80\x80\x80\x00\x00",
    "a tag beyond 32 bits": b"\xf8\xff\xff\xff\x1f\x01",
    "a length of 6 bytes": b"\x0a\x80\x80\x80\x80\x80\x00",
    "a length beyond 31 bits": b"\x0a\xff\xff\xff\xff\x0f",
    "a length beyond the payload": b"\x0a\x01",
    "a length beyond its message": delimited(1, b"\x0a\x02\x0a") + b"\x00",
    "a name that is not UTF-8": example(delimited(1, b"\xff") + value(ints(1))),
    "a name with a surrogate": example(delimited(1, b"\xed\xa0\x80")),
    "a bad name, then a good one": example(delimited(1, b"\xff") + SHORT),
    "packed floats of 5 bytes": float_list(b"\x0a\x05abcde"),
    "an unpacked float of 3 bytes": float_list(b"\x0dabc"),
    "a packed integer that is cut": int_list(b"\x0a\x01\x80"),
    "an unpacked integer that is cut": int_list(b"\x08\x80"),
    "a packed integer of 11 bytes": int_list(b"\x0a\x0b" + b"\x80" * 10 + b"\x00"),
    "an integer of 11 bytes": int_list(b"\x08" + b"\x80" * 10 + b"\x00"),
    "a bad integer among forty": int_list(delimited(1, bytes(40) + b"\x80" * 10 + b"\x00" * 40)),
    "a string that is too long": entry(delimited(BYTES, b"\x0a\x05abc")),
    "a bad list, replaced by a good one": entry(delimited(FLOAT, b"\x0a\x01x"), ints(1)),
    "a bad value, replaced by a good one": example(key("a") + value(b"\x0f"), SHORT),
    "a bad value in an unknown entry": example(key("a") + value(b"\x0f") + b"\x20\x01"),
    "a group that does not end": b"\x2b",
    "a group that does not begin": b"\x2c",
    "a group that another ends": b"\x2b\x34",
    "a group that field 0 ends": b"\x2b\x04",
    "a group that ends outside": delimited(1, b"\x2b") + b"\x2c",
    "groups that cross": b"\x2b\x33\x2c\x34",
    "101 groups": group(101),
    "97 groups in a list": int_list(group(97)),
    "a million groups": b"\x2b" * 1_000_000,
    "a million groups with ends": group(1_000_000),
}


def to_plain(features: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(feature) for name, feature in features.items()}


def expected(features: dict[str, Any]) -> dict[str, Any]:
    dtypes = {INT64: np.int64, FLOAT: np.float32}
    return to_plain(
        {
            name: (kind, np.array(values, dtypes[kind]) if kind in dtypes else values)
            for name, (kind, values) in features.items()
        }
    )


@pytest.mark.parametrize("title", GOOD)
def test_every_legal_form_is_decoded(title: str) -> None:
    payload, features = GOOD[title]
    assert to_plain(decode_features(payload)) == expected(features)


@needs_upb
@pytest.mark.parametrize("title", GOOD)
def test_protobuf_agrees_on_what_is_legal(title: str) -> None:
    payload, features = GOOD[title]
    assert to_plain(message_features(proto.Example.FromString(payload).features)) == expected(features)


@pytest.mark.parametrize("title", BAD)
def test_every_illegal_form_is_a_decode_error(title: str) -> None:
    with pytest.raises(DecodeError):
        decode_features(BAD[title])


@needs_upb
@pytest.mark.parametrize("title", BAD)
def test_protobuf_agrees_on_what_is_illegal(title: str) -> None:
    with pytest.raises(ProtobufError):
        proto.Example.FromString(BAD[title])


@pytest.mark.parametrize("title", GOOD)
def test_a_context_is_decoded_like_an_example(title: str) -> None:
    payload, features = GOOD[title]
    if title != "unknown fields in the Example":  # field 2 is the lists here
        assert to_plain(decode_sequence(payload)[0]) == expected(features)


# --- Long unpacked lists ----------------------------------------------------------------------------


def unpacked_list(random: Random) -> bytes:
    """An unpacked list, mostly of one type, with tags and values of every length; often with a mistake."""
    content = b""
    integers = random.random() < 0.6
    for _ in range(random.randrange(1, 30)):
        if random.random() < 0.03:
            content += random.choice(
                (b"\x0a\x01\x07", b"\x10\x05", b"\x88\x00\x01", b"\x88\x80\x80\x80\x80\x00\x01")
            )
        elif integers:
            number = random.choice((1, 8, 0x0D, 300, 2**35, 2**63, 2**64 - 1))
            content += b"\x08" + varint(number)
        else:
            content += b"\x0d" + random.choice((ONE, b"\x0d\x0d\x0d\x0d", b"\x08\x08\x88\x80"))
    if random.random() < 0.2:
        content = mutate(content, random)
    return int_list(content) if integers != (random.random() < 0.05) else float_list(content)


def outcome(payload: bytes) -> Any:
    try:
        return to_plain(decode_features(payload))
    except DecodeError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(tries(6)))
def test_long_unpacked_lists_are_read_as_short_ones_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    payloads = [unpacked_list(random) for _ in range(200)]
    monkeypatch.setattr(wire, "_LEAST_UNPACKED", 1 << 40)
    one_by_one = list(map(outcome, payloads))
    monkeypatch.setattr(wire, "_LEAST_UNPACKED", 1)
    assert list(map(outcome, payloads)) == one_by_one


def test_long_unpacked_lists_take_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_elements", None)
    numbers = [0, 127, 128, 2**63 - 1, 5] * 10
    payload = int_list(b"".join(b"\x08" + varint(number) for number in numbers))
    assert decode_features(payload)["a"][1].tolist() == numbers
    assert decode_features(float_list((b"\x0d" + ONE) * 20))["a"][1].tolist() == [1.0] * 20


# --- SequenceExample --------------------------------------------------------------------------------


def lists_of(name: str, *features: bytes) -> bytes:
    content = b"".join(delimited(1, feature) for feature in features)
    return delimited(2, delimited(1, key(name) + delimited(2, content)))


def test_steps_keep_their_order_and_their_kinds() -> None:
    payload = lists_of("s", ints(1, 2), b"", ints(), floats(3), strings(b"x"), b"\x20\x01" + ints(4))
    _, lists = decode_sequence(payload)
    assert plain(lists["s"]) == plain(
        [
            (INT64, np.array([1, 2])),
            (UNSET, None),
            (INT64, np.array([], np.int64)),
            (FLOAT, np.array([3], np.float32)),
            (BYTES, [b"x"]),
            (INT64, np.array([4])),
        ]
    )


def test_a_list_that_comes_twice_replaces_the_first_and_parts_of_one_are_joined() -> None:
    twice = lists_of("s", ints(1)) + lists_of("s", ints(2))
    assert plain(decode_sequence(twice)[1]) == plain({"s": [(INT64, np.array([2]))]})
    part = delimited(2, delimited(1, ints(1)))
    parts = delimited(2, delimited(1, key("s") + part + part))
    assert len(decode_sequence(parts)[1]["s"]) == 2


def test_context_and_lists_may_share_a_name_and_may_be_empty() -> None:
    context, lists = decode_sequence(example(SHORT) + lists_of("a"))
    assert (list(context), lists) == (["a"], {"a": []})


# --- Properties -------------------------------------------------------------------------------------


def judge(payload: bytes) -> Any:
    try:
        return to_plain(message_features(proto.Example.FromString(payload).features))
    except ProtobufError:
        return "an error"


def decoded(payload: bytes) -> Any:
    try:
        return to_plain(decode_features(payload))
    except DecodeError:
        return "an error"


def judge_sequence(payload: bytes) -> Any:
    try:
        message = proto.SequenceExample.FromString(payload)
    except ProtobufError:
        return "an error"
    lists = message.feature_lists.feature_list
    return (
        to_plain(message_features(message.context)),
        {name: [plain(message_feature(step)) for step in lists[name].feature] for name in lists},
    )


def decoded_sequence(payload: bytes) -> Any:
    try:
        context, lists = decode_sequence(payload)
    except DecodeError:
        return "an error"
    return to_plain(context), {name: [plain(step) for step in steps] for name, steps in lists.items()}


@needs_upb
@given(example_payloads)
@settings(max_examples=tries(300))
def test_any_example_gives_what_protobuf_gives(payload: bytes) -> None:
    assert decoded(payload) == judge(payload)


@needs_upb
@given(sequence_payloads)
@settings(max_examples=tries(300))
def test_any_sequence_gives_what_protobuf_gives(payload: bytes) -> None:
    assert decoded_sequence(payload) == judge_sequence(payload)


@pytest.mark.light(2)
@needs_upb
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_hostile_payloads_give_what_protobuf_gives(seed: int) -> None:
    random = Random(seed)
    outcomes = set()
    for _ in range(tries(2500)):
        payload = any_example(random)
        assert decoded(payload) == judge(payload), payload.hex()
        outcomes.add(decoded(payload) == "an error")
        payload = any_sequence(random)
        assert decoded_sequence(payload) == judge_sequence(payload), payload.hex()
    assert outcomes == {True, False}


@needs_upb
@pytest.mark.parametrize("title", [title for title, (payload, _) in GOOD.items() if len(payload) < 300])
def test_every_cut_and_every_flipped_bit_gives_what_protobuf_gives(title: str) -> None:
    payload, _ = GOOD[title]
    for position in range(len(payload)):
        assert decoded(payload[:position]) == judge(payload[:position])
        for bit in range(8):
            flipped = bytearray(payload)
            flipped[position] ^= 1 << bit
            assert decoded(bytes(flipped)) == judge(bytes(flipped))


# --- What errors say, and what belongs to whom ------------------------------------------------------


def test_an_error_names_the_feature_and_the_position_but_shows_no_payload() -> None:
    good = key("good") + value(strings(b"secret"))
    payload = example(good, key("bad") + value(delimited(FLOAT, delimited(1, b"secret!"))))
    with pytest.raises(DecodeError) as caught:
        decode_features(payload)
    assert caught.value.feature == "bad"
    assert caught.value.position == payload.index(b"secret!")
    assert "secret" not in str(caught.value)
    assert "bad" in str(caught.value)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data))])
def test_payloads_may_be_any_bytes_like_object(kind: Any) -> None:
    payload = example(SHORT, key("f") + value(floats(1)), key("b") + value(strings(b"x")))
    assert decoded(kind(payload)) == decoded(payload)
    strided = memoryview(bytes(octet for octet in payload for _ in range(2)))[::2]
    assert decoded(strided) == decoded(payload)


def test_values_belong_to_the_caller() -> None:
    buffer = bytearray(example(key("i") + value(ints(1, 2)), key("f") + value(floats(1, 2))))
    features = decode_features(buffer)
    buffer[:] = bytes(len(buffer))
    for _, values in features.values():
        assert values.flags.writeable
        assert values.flags.aligned
        assert values.tolist() == [1, 2]


def test_very_many_values_in_any_form_take_linear_time() -> None:
    n = tries(100_000)
    assert len(decode_features(int_list(b"\x08\x01" * n))["a"][1]) == n
    assert len(decode_features(int_list(b"\x0a\x01\x01" * n))["a"][1]) == n
    assert len(decode_features(float_list((b"\x0d" + ONE) * n))["a"][1]) == n
    assert len(decode_features(entry(strings(b"x") * n))["a"][1]) == n
    assert len(decode_features(example(SHORT) * n)) == 1


# --- Encoding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title", ["packed integers", "empty integers", "packed floats", "strings", "no kind"]
)
def test_encoding_a_decoded_feature_gives_its_bytes_again(title: str) -> None:
    payload, _ = GOOD[title]
    features = {name: wire.encode_feature(*feature) for name, feature in decode_features(payload).items()}
    assert delimited(1, wire.encode_map(features)) == payload


@needs_upb
@given(example_payloads)
def test_feature_on_its_own_is_what_it_is_in_an_example(payload: bytes) -> None:
    try:
        message = proto.Feature.FromString(payload)
    except ProtobufError:
        with pytest.raises(DecodeError):
            wire.decode_feature(payload)
        return
    kind, values = wire.decode_feature(payload)
    expected, known = message_feature(message)
    assert kind == expected
    assert plain(values) == plain(known)


def test_maps_are_sorted_by_the_utf8_of_their_names() -> None:
    entries = dict.fromkeys(("b", "\uffff", "\U00010000", "a", "ab", ""), b"")
    found = list(decode_features(delimited(1, wire.encode_map(entries))))
    assert found == ["", "a", "ab", "b", "\uffff", "\U00010000"]


def test_more_than_protobuf_can_read_is_an_encode_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_SIZE", 200)
    assert delimited(1, bytes(200))
    with pytest.raises(EncodeError, match="2 GiB"):
        delimited(1, bytes(201))


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384, 2**21, 2**28, 2**31 - 1])
def test_sizes_are_read_up_to_those_of_a_message(size: int) -> None:
    assert read_size(b"??" + varint(size) + b"?", 2) == (size, 2 + len(varint(size)))


@pytest.mark.parametrize(
    "octets", [b"", b"\x80", varint(2**31), varint(2**35), b"\x81" + b"\x80" * 4 + b"\x00"]
)
def test_what_the_row_decoder_takes_for_no_size_is_none(octets: bytes) -> None:
    with pytest.raises(IndexError):
        read_size(octets, 0)
