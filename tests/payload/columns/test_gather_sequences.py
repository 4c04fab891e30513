"""SequenceExamples: decoded together or row by row, any payloads give the same columns or the same error."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.errors import DecodeError, PureRecordError
from purerecord.payload.columns import gather as columns_module
from purerecord.payload.columns import gather_sequences as lists_module
from purerecord.payload.columns import tuning
from purerecord.payload.columns.block_decoder import decode_row
from purerecord.payload.columns.gather_sequences import (
    gather_all_sequences,
    gather_sequences,
    has_feature_lists,
    have_only,
)
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.parse.sequences import parse_sequence_example
from purerecord.payload.specs import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET, decode_sequence, delimited
from purerecord.records import Records
from tests.support.column_batches import TUNINGS
from tests.support.handmade_messages import (
    UNSET_FEATURE,
    entry,
    feature,
    floats,
    ints,
    sequence_example,
    strings,
)
from tests.support.settings import tries
from tests.support.strategies import any_sequence, hostile_example, hostile_sequence, mutate

KINDS = (BYTES, FLOAT, INT64)


def ordinary(random: Random) -> bytes:
    """A SequenceExample as an encoder writes it."""

    def one(kind: int) -> bytes:
        count = random.choice((0, 1, 1, 2, 9))
        values: dict[int, Any] = {
            BYTES: [random.randbytes(random.randrange(5)) for _ in range(count)],
            FLOAT: [random.random() for _ in range(count)],
            INT64: [random.choice((1, 300, -1)) for _ in range(count)],
        }
        return UNSET_FEATURE if random.random() < 0.05 else feature(kind, values[kind])

    names = random.sample(["a", "b", "ab", "é", ""], random.randrange(5))
    context = [(name, one(random.choice(KINDS))) for name in names]
    return sequence_example(
        context, [(name, [one(random.choice(KINDS)) for _ in range(random.randrange(6))]) for name in names]
    )


def columns_of(payloads: list[bytes], wanted: dict[str, int], row_by_row: bool) -> Any:
    """What is gathered, as plain data, or the error."""
    records = Records.of([b"before", *payloads])[1:]
    try:
        with tuned(sequences=not row_by_row, least_sequences=1):
            context, lists = gather_sequences(records, wanted, wanted)
    except DecodeError as error:
        return str(error), error.record
    plain = {("context", name): plain_column(column) for name, column in context.items()}
    for name, found in lists.items():
        plain["lists", name] = (plain_column(found.column), found.splits.tolist(), found.present.tolist())
    return plain


def plain_column(column: Any) -> Any:
    kinds = np.full(column.rows, column.kind) if column.kinds is None else column.kinds
    values = column.values.tolist() if column.kind == BYTES else column.values.tobytes()
    return column.rows, kinds.tolist(), column.row_splits.tolist(), values, str(column.values.dtype)


def wanted_of(random: Random) -> dict[str, int]:
    names = random.sample(["a", "b", "ab", "é", "", "a" * 130, "nowhere"], random.randrange(8))
    return {name: random.choice(KINDS) for name in names}


@pytest.mark.parametrize("seed", range(tries(40)))
def test_decoding_together_and_row_by_row_agree_on_valid_payloads(seed: int) -> None:
    random = Random(seed)
    payloads = [ordinary(random) for _ in range(random.choice((1, 5, 30)))]
    while len(payloads) < 40 and random.random() < 0.8:
        strange = hostile_sequence(random)
        try:
            decode_sequence(strange)
        except DecodeError:
            continue
        payloads.insert(random.randrange(len(payloads) + 1), strange)
    wanted = wanted_of(random)
    together = columns_of(payloads, wanted, row_by_row=False)
    assert together == columns_of(payloads, wanted, row_by_row=True)


@pytest.mark.parametrize("seed", range(tries(40)))
def test_first_malformed_record_is_told_whatever_the_decoder(seed: int) -> None:
    random = Random(seed)
    payloads = [ordinary(random) for _ in range(20)]
    for _ in range(random.randrange(1, 4)):
        place = random.randrange(len(payloads))
        payloads[place] = mutate(payloads[place], random) if random.random() < 0.7 else any_sequence(random)
    wanted = wanted_of(random)
    together = columns_of(payloads, wanted, row_by_row=False)
    assert together == columns_of(payloads, wanted, row_by_row=True)


def uniform(random: Random) -> bytes:
    """A SequenceExample whose steps have one kind for each name, mostly one value, and often one size."""
    many = [random.choice((1, 1, 1, 2)) for _ in range(random.randrange(4))]
    lists = [
        ("a", [ints(*[random.choice((1, 1, 300, -1))] * number) for number in many]),
        ("b", [floats(*[0.5] * 3) for _ in many]),
        ("ab", [strings(b"x" * random.choice((2, 2, 200))) for _ in many]),
    ]
    return sequence_example([("a", ints(len(many))), ("é", floats(1))], lists)


@pytest.mark.light(17)
@pytest.mark.parametrize("changes", TUNINGS.values(), ids=TUNINGS)
def test_switches_change_no_result(changes: dict[str, int]) -> None:
    random = Random(2)
    for make in [ordinary, uniform] * tries(4):
        payloads = [make(random) for _ in range(70)]
        if random.random() < 0.5:
            place = random.randrange(len(payloads))
            payloads[place] = mutate(payloads[place], random)
        wanted = wanted_of(random)
        with tuned(**changes):
            found = columns_of(payloads, wanted, row_by_row=not tuning.current.sequences)
        assert found == columns_of(payloads, wanted, row_by_row=True)


@pytest.mark.parametrize("seed", range(tries(20)))
def test_any_bytes_give_a_result_or_one_of_our_errors(seed: int) -> None:
    random = Random(seed)
    specs: dict[str, Any] = {"a": VarLenFeature(int), "b": RaggedFeature(bytes)}
    for _ in range(20):
        payloads = [random.choice((any_sequence, ordinary))(random) for _ in range(random.choice((1, 3, 20)))]
        try:
            parse_sequence_example(payloads, specs | {"ab": FixedLenFeature((), float, 0)}, specs)
            parse_sequence_example(
                payloads, None, {"a": FixedLenSequenceFeature((), int, allow_missing=True)}
            )
        except PureRecordError:
            pass


ODD = {
    "a map in two parts": sequence_example([("a", ints(1))], []) + sequence_example([("b", ints(1))], []),
    "a repeated key": sequence_example([("a", ints(1)), ("a", ints(2))], []),
    "a value before its key": delimited(1, delimited(1, delimited(2, ints(1)) + delimited(1, b"a"))),
    "an unpacked list": sequence_example([("a", ints(1, packed=False))], []),
    "a list in two parts": sequence_example([("a", ints(1) + ints(2))], []),
    "an unknown field": delimited(1, entry("a", ints(1))) + b"\x20\x01",
    "a long key": sequence_example([("a" * 200, ints(1))], []),
    "unpacked floats in a step": sequence_example([], [("a", [floats(1.0, packed=False)])]),
}


@pytest.mark.parametrize("case", ODD)
def test_one_odd_record_does_not_slow_down_the_others(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = sequence_example([("a", ints(1))], [("a", [ints(1), ints(2)]), ("s", [strings(b"x", b"y")])])
    payloads = [usual] * 10 + [ODD[case]] + [usual] * 10
    alone: list[bytes] = []
    for module, name in ((lists_module, "decode_sequence"), (columns_module, "decode_features")):
        decode = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda payload, decode=decode: alone.append(payload) or decode(payload)
        )
    gather_sequences(Records.of(payloads), {"a": INT64}, {"a": INT64})
    assert len(alone) == 1
    assert ODD[case].startswith(alone[0])  # as a whole, or its context


def test_one_long_list_does_not_make_all_wait_for_it() -> None:
    payloads = [sequence_example([], [("a", [ints(1)])])] * 20
    payloads[7] = sequence_example([], [("a", [ints(k) for k in range(5000)])])
    together = columns_of(payloads, {"a": INT64}, row_by_row=False)
    assert together == columns_of(payloads, {"a": INT64}, row_by_row=True)


@pytest.mark.parametrize("seed", range(tries(6)))
def test_feature_lists_are_noticed_wherever_the_row_decoder_finds_one(seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        payloads = [random.choice((ordinary, hostile_sequence, hostile_example))(random) for _ in range(3)]
        found = []
        for payload in payloads:
            try:
                found.append(bool(decode_sequence(payload)[1]))
            except DecodeError:
                found.append(False)
        if any(found):
            assert has_feature_lists(Records.of(payloads))
    examples = [pr.encode_example({"a": 1, "b": ["x"]}), b"", pr.encode_example({})]
    assert not has_feature_lists(Records.of(examples))


@pytest.mark.parametrize("seed", range(tries(6)))
def test_records_that_have_only_the_named_features_have_no_others(seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        payloads = [random.choice((ordinary, hostile_sequence, hostile_example))(random) for _ in range(3)]
        named = {name for name in ("a", "b", "ab", "é", "") if random.random() < 0.8}
        if not have_only(Records.of(payloads), named, named):
            continue
        for payload in payloads:
            context, lists = decode_sequence(payload)
            assert {*context, *lists} <= named


def test_records_written_in_the_usual_form_are_seen_to_have_only_the_named_features() -> None:
    records = Records.of([pr.encode_sequence_example({"a": 1}, {"s": [[1]]}), pr.encode_example({"a": 2})])
    assert have_only(records, {"a", "b"}, {"s"})
    assert not have_only(records, {"b"}, {"s"})
    assert not have_only(records, {"a"}, {"t"})
    assert not have_only(Records.of([b"\xff"]), {"a"}, {"s"})


def test_all_names_are_gathered_with_their_first_kind() -> None:
    rows: list[tuple[Any, Any]] = [
        ({"a": []}, {"s": [], "t": [[], [1]]}),
        ({"a": 1.5, "b": "x"}, {"t": [[]]}),
    ]
    context, lists = gather_all_sequences(Records.of([pr.encode_sequence_example(*row) for row in rows]))
    assert {name: column.kind for name, column in context.items()} == {"a": FLOAT, "b": BYTES}
    assert {name: found.column.kind for name, found in lists.items()} == {"s": UNSET, "t": INT64}
    assert lists["t"].splits.tolist() == [0, 2, 3]
    assert lists["s"].present.tolist() == [True, False]


def all_of(payloads: list[bytes]) -> Any:
    """All columns, as plain data, or the error."""
    try:
        context, lists = gather_all_sequences(Records.of([b"before", *payloads])[1:])
    except DecodeError as error:
        return str(error), error.record
    plain: list[Any] = [(name, column.kind, plain_column(column)) for name, column in context.items()]
    for name, found in lists.items():
        column = plain_column(found.column)
        plain.append((name, found.column.kind, column, found.splits.tolist(), found.present.tolist()))
    return plain


@pytest.mark.parametrize("seed", range(tries(60)))
def test_all_columns_are_the_same_whether_the_first_records_tell_the_names_or_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    make = random.choice((ordinary, uniform, uniform))
    payloads = [make(random) for _ in range(random.choice((3, 12, 60)))]
    if random.random() < 0.5:
        strange = random.choice((hostile_sequence, any_sequence, ordinary, lambda r: mutate(uniform(r), r)))
        payloads.insert(random.randrange(len(payloads) + 1), strange(random))
    expected = all_of(payloads)  # fewer records than tell the names: row by row
    for first in (1, 2, 8, 40):
        monkeypatch.setattr(lists_module, "_TELLING", first)
        assert all_of(payloads) == expected


def test_records_of_the_same_names_are_decoded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    row = pr.encode_sequence_example({"a": 1}, {"s": [[1], [2, 3]]})
    calls: list[Any] = []
    monkeypatch.setattr(lists_module, "decode_row", lambda *a: calls.append(a) or decode_row(*a))
    context, lists = gather_all_sequences(Records.of([row] * 1000))
    assert context["a"].values.tolist() == [1] * 1000
    assert lists["s"].column.values.tolist() == [1, 2, 3] * 1000
    assert len(calls) == lists_module._TELLING
