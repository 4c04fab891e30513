"""Hypothesis strategies for feature mappings and for payloads of Examples in unusual forms.

``hostile_example`` and ``hostile_sequence`` write messages field by field. Most are valid, in every form
that the wire format allows (packed, unpacked, split, repeated, out of order, with unknown fields and groups,
varints that are longer than needed); a few contain a mistake. ``mutate`` damages any bytes. These functions
take a ``Random``, so that a campaign can iterate over seeds. The strategies at the end wrap them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from purerecord.payload.values import object_array
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET
from tests.support.settings import CAMPAIGN  # noqa: F401 - for tests that import it from here

Make = Callable[[Random], bytes]


# --- Values -----------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
int64s = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-3, 300), st.sampled_from([2**63 - 1, -(2**63), 2**32])
)
float32s = st.floats(width=32)


# One decoded feature, as decode_example gives it.
feature_values = st.one_of(
    st.lists(int64s, max_size=40).map(lambda values: np.array(values, np.int64)),
    st.lists(float32s, max_size=40).map(lambda values: np.array(values, np.float32)),
    st.lists(st.binary(max_size=200), max_size=8).map(object_array),
    st.just([]),
)
feature_mappings = st.dictionaries(names, feature_values, max_size=8)
sequences = st.dictionaries(
    names,
    st.one_of(
        st.lists(st.lists(int64s, max_size=5).map(lambda v: np.array(v, np.int64)), max_size=5),
        st.lists(st.lists(float32s, max_size=5).map(lambda v: np.array(v, np.float32)), max_size=5),
        st.lists(st.lists(st.binary(max_size=20), max_size=5).map(object_array), max_size=5),
    ),
    max_size=4,
)


def plain(value: Any) -> Any:
    """Decoded features as plain data that can be compared: all NaNs are equal, and types are kept."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray):
        values = value.tolist()
        if value.dtype.kind == "f":
            values = ["nan" if math.isnan(v) else (v, math.copysign(1, v)) for v in values]
        return str(value.dtype), values
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def message_feature(feature: Any) -> tuple[int, Any]:
    """A Feature message as (kind, values), as ``wire.decode_features`` gives it."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return UNSET, None
    values = list(getattr(feature, kind).value)
    if kind == "bytes_list":
        return BYTES, values
    return (
        (FLOAT, np.array(values, np.float32)) if kind == "float_list" else (INT64, np.array(values, np.int64))
    )


def message_features(features: Any) -> dict[str, tuple[int, Any]]:
    """A Features message as ``wire.decode_features`` gives it."""
    return {name: message_feature(features.feature[name]) for name in features.feature}


# --- Hostile payloads -------------------------------------------------------------------------------


def varint(value: int, random: Random) -> bytes:
    """A varint, sometimes longer than needed, rarely longer than allowed."""
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    if random.random() < 0.03:
        octets[-1] |= 0x80
        octets += b"\x80" * random.randrange(3 if random.random() < 0.8 else 9) + b"\0"
    return bytes(octets)


def tag(number: int, wire_type: int, random: Random) -> bytes:
    return varint(number << 3 | wire_type, random)


def delimited(number: int, content: bytes, random: Random) -> bytes:
    return tag(number, 2, random) + varint(len(content), random) + content


def unknown(random: Random, depth: int = 0) -> bytes:
    """A field that none of the messages has; rarely an invalid one."""
    odd = random.random() < 0.05
    number = random.choice([0, 1, 2, 3, 4] if odd else [4, 5, 16, 2**28])
    wire_type = random.choice([4, 6, 7] if random.random() < 0.05 else [0, 1, 2, 3, 5])
    head = tag(number, wire_type, random)
    if wire_type == 0:
        return head + varint(random.getrandbits(random.choice([3, 20, 64])), random)
    if wire_type == 2:
        return delimited(number, random.randbytes(random.randrange(4)), random)
    if wire_type == 3:
        inner = b"".join(unknown(random, depth + 1) for _ in range(random.randrange(3) if depth < 5 else 0))
        return head + inner + tag(number + (random.random() < 0.05), 4, random)
    return head + random.randbytes({1: 8, 5: 4}.get(wire_type, 0))


def message(parts: list[bytes], random: Random, strange: float = 0.06) -> bytes:
    """The fields of a message, perhaps with unknown fields between them."""
    while random.random() < strange:
        parts.insert(random.randrange(len(parts) + 1), unknown(random))
    return b"".join(parts)


def _numbers(kind: int, count: int, random: Random) -> bytes:
    if kind == FLOAT:
        return random.randbytes(4 * count + (random.random() < 0.02))
    edges = [0, 1, 5, 127, 128, 300, 2**31, 2**63 - 1, 2**63, 2**64 - 1]
    return b"".join(varint(random.choice(edges), random) for _ in range(count))


def _list(kind: int, random: Random) -> bytes:
    count = random.choice([0, 1, 1, 2, 3, 30])
    if kind == BYTES:
        sizes = [random.choice([0, 1, 3, 200]) for _ in range(min(count, 4))]
        return message([delimited(1, random.randbytes(size), random) for size in sizes], random)
    if random.random() < 0.6:
        packed = [delimited(1, _numbers(kind, count, random), random)]
        return message(packed if count or random.random() < 0.5 else [], random)
    parts = []
    for _ in range(count):
        if random.random() < 0.5:
            parts.append(tag(1, 0 if kind == INT64 else 5, random) + _numbers(kind, 1, random))
        else:
            parts.append(delimited(1, _numbers(kind, random.randrange(4), random), random))
    return message(parts, random)


def _feature(random: Random) -> bytes:
    count = 1 if random.random() < 0.8 else random.randrange(4)
    kinds = [random.choice([BYTES, FLOAT, INT64]) for _ in range(count)]
    return message([delimited(kind, _list(kind, random), random) for kind in kinds], random)


def _feature_list(random: Random) -> bytes:
    return message([delimited(1, _feature(random), random) for _ in range(random.randrange(4))], random)


def _name(random: Random) -> bytes:
    if random.random() < 0.01:
        return b"\xff"
    return random.choice([b"", b"a", b"b", b"ab", b"a" * 130, "é".encode(), b"c"])


def _entry(value: Make, random: Random) -> bytes:
    if random.random() < 0.8:
        both = [delimited(1, _name(random), random), delimited(2, value(random), random)]
        return message(both, random, 0.02)
    parts = []
    for _ in range(random.randrange(4)):
        key = random.random() < 0.5
        parts.append(delimited(1, _name(random), random) if key else delimited(2, value(random), random))
    return message(parts, random)


def _map(value: Make, random: Random) -> bytes:
    return message([delimited(1, _entry(value, random), random) for _ in range(random.randrange(5))], random)


def hostile_example(random: Random) -> bytes:
    count = 1 if random.random() < 0.8 else random.randrange(3)
    return message([delimited(1, _map(_feature, random), random) for _ in range(count)], random)


def hostile_sequence(random: Random) -> bytes:
    parts = []
    for _ in range(random.randrange(4)):
        context = random.random() < 0.5
        parts.append(
            delimited(1 if context else 2, _map(_feature if context else _feature_list, random), random)
        )
    return message(parts, random)


def mutate(data: bytes, random: Random) -> bytes:
    """``data`` with one to three faults: bits flipped, bytes changed, cut off, removed or inserted."""
    damaged = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        what, position = random.randrange(5), random.randrange(len(damaged) + 1)
        if what == 0:
            damaged[position : position + 1] = bytes(
                octet ^ 1 << random.randrange(8) for octet in damaged[position : position + 1]
            )
        elif what == 1:
            damaged[position : position + 1] = random.randbytes(1)
        elif what == 2:
            del damaged[position:]
        elif what == 3:
            del damaged[position : position + random.randrange(1, 5)]
        else:
            damaged[position:position] = random.randbytes(random.randrange(1, 4))
    return bytes(damaged)


def _perhaps_mutated(make: Make) -> Make:
    def made(random: Random) -> bytes:
        data = make(random)
        return mutate(data, random) if random.random() < 0.5 else data

    return made


any_example = _perhaps_mutated(hostile_example)
any_sequence = _perhaps_mutated(hostile_sequence)

# The same for hypothesis, and bytes that are no message at all.
example_payloads = st.one_of(
    st.randoms(use_true_random=True).map(any_example), st.binary(max_size=60), st.just(b"")
)
sequence_payloads = st.one_of(
    st.randoms(use_true_random=True).map(any_sequence), st.binary(max_size=60), st.just(b"")
)
