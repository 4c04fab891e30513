"""Batches as writers produce them, for the tests of the column decoder, and the expected columns.

A batch has a schema: features of a kind and a number of values. It is written in one order or in any order,
with some features left out, with a few records of an unusual form. ``rows_to_columns`` computes the expected
result of ``gather`` with the row decoder alone. ``TUNINGS`` switches the paths of the decoder on and off.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from purerecord.bytes_column import BytesColumn
from purerecord.errors import DecodeError
from purerecord.payload.columns.gather import Column, gather
from purerecord.payload.columns.located import RecordBlock
from purerecord.payload.columns.tuning import SWITCHES, Tuning
from purerecord.payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET, decode_features, delimited
from purerecord.records import Records
from tests.support import handmade_messages as messages
from tests.support.strategies import hostile_example, mutate, plain

Values = Callable[[Random], bytes]  # a Feature message

# Small batches, as tests have them, take every path that is on.
_EAGER = {"least_segments_of_wide_run": 1, "least_entries_of_wide_layout": 1, "least_sequences": 1}


def _with_needs(switch: str) -> set[str]:
    """A switch, and all those without which its path is never taken."""
    needs = Tuning.__dataclass_fields__[switch].metadata["needs"]
    return {switch}.union(*map(_with_needs, needs))


def _only(switches: set[str]) -> dict[str, int]:
    return {switch: switch in switches for switch in SWITCHES} | _EAGER


# Changes of the tuning: all fast paths off, each alone on (with those it needs), each alone off, and all on.
TUNINGS = {
    "all off": _only(set()),
    **{f"only {switch}": _only(_with_needs(switch)) for switch in SWITCHES},
    **{f"without {switch}": _only({*SWITCHES} - {switch}) for switch in SWITCHES},
    "all on": _only({*SWITCHES}),
}

NAMES = ["a", "b1", "c22", "feature_001", "feature_002", "feature_010", "a longer name " * 3, "", "größe"]


def block(payloads: list[bytes], around: bytes = b"") -> RecordBlock:
    """Payloads to be decoded together, with other bytes before and after them."""
    records = Records.of([around, *payloads, around])
    octets = np.frombuffer(records.buffer, np.uint8)
    return RecordBlock(records.buffer, octets, records.begins[1:-1], records.ends[1:-1])


def integer(random: Random) -> int:
    """An integer of any length, sometimes negative."""
    value = random.getrandbits(random.choice([1, 7, 8, 14, 20, 28, 35, 50, 56, 60, 63]))
    return -value if random.random() < 0.1 else value


def scalar_int(random: Random) -> bytes:
    return messages.ints(integer(random))


def scalar_float(random: Random) -> bytes:
    return messages.floats(random.random())


def short_string(random: Random) -> bytes:
    return messages.strings(random.randbytes(random.choice([0, 1, 5, 5, 8, 20])))


def long_string(random: Random) -> bytes:
    return messages.strings(random.randbytes(random.choice([100, 127, 128, 400, 20000])))


def int_list(random: Random) -> bytes:
    return messages.ints(*(integer(random) for _ in range(random.choice([0, 1, 2, 3, 20, 100]))))


def small_int_list(random: Random) -> bytes:
    return messages.ints(*(random.randrange(300) for _ in range(random.randrange(5))))


def float_vector(random: Random) -> bytes:
    return messages.floats(*(random.random() for _ in range(40)))


def float_list(random: Random) -> bytes:
    return messages.floats(*(random.random() for _ in range(random.choice([0, 1, 1, 2, 3, 50]))))


def string_list(random: Random) -> bytes:
    number = random.choice([0, 1, 2, 5, 30])
    return messages.strings(*(random.randbytes(random.choice([0, 3, 200])) for _ in range(number)))


def sometimes_unset(random: Random) -> bytes:
    return b"" if random.random() < 0.3 else scalar_int(random)


def never_set(random: Random) -> bytes:
    return b""


def any_kind(random: Random) -> bytes:
    return random.choice([scalar_int, scalar_float, short_string])(random)


VALUES: list[Values] = [
    scalar_int,
    scalar_float,
    short_string,
    long_string,
    int_list,
    small_int_list,
    float_vector,
    float_list,
    string_list,
    sometimes_unset,
    never_set,
    any_kind,
]
USUAL: list[Values] = [scalar_int, scalar_int, scalar_float, scalar_float, short_string, small_int_list]


def batch(
    random: Random, size: int, *, usual: bool = False, missing: float = 0, shuffled: bool = False
) -> list[bytes]:
    """Payloads of one schema."""
    names = random.sample(NAMES, random.randint(1, len(NAMES)))
    schema = [(name, random.choice(USUAL if usual else VALUES)) for name in names]
    payloads = []
    for _ in range(size):
        entries = [(name, make(random)) for name, make in schema if random.random() >= missing]
        if shuffled:
            random.shuffle(entries)
        payloads.append(messages.example(entries))
    return payloads


def strange_entries(random: Random) -> bytes:
    """A valid Example in which not everything is as encoders write it."""
    feature = random.choice(VALUES)(random)
    name = random.choice(NAMES)
    unpacked = [messages.ints(1, 2, 300, packed=False), messages.floats(1.5, 2.5, packed=False)]
    entries = [
        messages.entry(name, feature),
        messages.entry(name, feature),  # the same key twice
        delimited(1, delimited(2, feature) + delimited(1, name.encode())),  # the value before the key
        delimited(1, delimited(1, name.encode())),  # no value
        delimited(1, delimited(2, feature)),  # no key
        messages.entry("b1", random.choice(unpacked)),
        messages.entry("c22", messages.ints(1) + messages.ints(2)),  # a list in two parts
        messages.entry("c22", messages.ints(1) + messages.floats(2)),  # the last kind wins
        messages.entry(
            "a", delimited(3, delimited(1, b"\x01") + delimited(1, b"\x02"))
        ),  # packed in two parts
        messages.entry("a", delimited(3, delimited(1, b"\x81\x80\x80\x00"))),  # longer than it needs to be
        messages.entry("a", delimited(3, delimited(1, b"\xff" * 9 + b"\x7f"))),  # more than 64 bits
        messages.entry("a", messages.ints(-1)),
        messages.entry("a", delimited(3, delimited(1, b""))),  # packed, but nothing
        messages.entry("b1", delimited(1, delimited(1, b"x") + delimited(2, b"y"))),  # unknown in the list
        delimited(1, delimited(1, b"a") + delimited(2, messages.ints(1)) + delimited(3, b"")),
        delimited(2, b"unknown"),
        b"\x18\x05",
        delimited(1, b""),
    ]
    return delimited(1, b"".join(random.sample(entries, random.randint(1, 3))))


def spoil(payloads: list[bytes], random: Random, number: int) -> list[bytes]:
    """The same payloads, with some of them replaced by unusual ones, valid or not."""
    payloads = list(payloads)
    for _ in range(number):
        at = random.randrange(len(payloads))
        what = random.randrange(6)
        if what == 0:
            payloads[at] = hostile_example(random)
        elif what == 1:
            payloads[at] = strange_entries(random)
        elif what == 2:
            payloads[at] += strange_entries(random)  # concatenated Examples are merged
        elif what == 3:
            payloads[at] = random.choice([b"", b"\x0a\x00", b"junk", bytes(50)])
        else:
            payloads[at] = mutate(payloads[at], random)
    return payloads


Outcome = tuple[str, Any]


def cell(values: Any) -> Any:
    """The values of one record as plain data."""
    numbers = isinstance(values, np.ndarray) and values.dtype != object
    return plain(values if numbers else list(values)) if len(values) else []


def outcome(columns: Callable[[], Mapping[str, Any]]) -> Outcome:
    """The columns, or the error and its place."""
    try:
        return "columns", columns()
    except DecodeError as error:
        return "error", (error.record, error.reason, error.feature, error.position)


def rows_to_columns(payloads: Sequence[bytes], wanted: Mapping[str, int | None] | None = None) -> Outcome:
    """The expected columns by the row decoder: name -> (kind, kind in each row, values of each row)."""

    def columns() -> dict[str, Any]:
        rows = []
        for record, payload in enumerate(payloads):
            try:
                rows.append(decode_features(payload))
            except DecodeError as error:
                error.record = record
                raise
        names = dict.fromkeys(sorted(set().union(*rows))) if wanted is None else wanted
        return {name: column([row.get(name, (ABSENT, None)) for row in rows], names[name]) for name in names}

    def column(cells: list[tuple[int, Any]], kind: int | None) -> Any:
        if kind is None:
            kind = next((own for own, _ in cells if own > UNSET), UNSET)
        lists = [cell(values) if own == kind and values is not None else [] for own, values in cells]
        return kind, [own for own, _ in cells], lists

    return outcome(columns)


def gathered(
    payloads: Any, wanted: Mapping[str, int | None] | None = None, *, in_place: Container[str] = ()
) -> Outcome:
    """The columns of ``gather``, in the same form."""

    def columns() -> dict[str, Any]:
        found = gather(payloads, wanted, in_place=in_place)
        for name, column in found.items():
            assert isinstance(column.values, BytesColumn) == (name in in_place and column.kind == BYTES)
        return {name: check_column(column, len(payloads)) for name, column in found.items()}

    return outcome(columns)


def check_column(column: Column, size: int) -> Any:
    """A column as plain data. Asserts everything that ``Column`` promises."""
    dtype = {UNSET: np.int64, BYTES: object, FLOAT: np.float32, INT64: np.int64}[column.kind]
    assert column.values.dtype == dtype
    assert column.values.ndim == 1
    assert column.rows == size
    splits = column.row_splits
    assert splits.dtype == np.int64
    assert splits.tolist()[0] == 0
    assert splits.tolist()[-1] == len(column.values)
    lengths = np.diff(splits)
    assert (lengths >= 0).all()
    assert (column.uniform is None) == (len(set(lengths.tolist())) > 1)
    assert (column.splits is None) == (column.uniform is not None)
    kinds = [column.kind] * size if column.kinds is None else column.kinds.tolist()
    assert column.kinds is None or any(kind != column.kind for kind in kinds)
    rows = [column.values[a:b] for a, b in pairwise(splits)]
    if column.kind == BYTES:
        assert all(type(value) is bytes for value in column.values)
    return column.kind, kinds, [cell(row) for row in rows]
