"""Examples that are parsed together are, one by one, what ``parse_single_example`` gives."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.payload.parse.examples import request_of
from purerecord.payload.parse.rows import ParsedRows, parse_each
from tests.support.exact import exact, outcome
from tests.support.handmade_messages import example
from tests.support.settings import tries
from tests.support.spec_cases import Case
from tests.support.strategies import any_example

SPECS = {
    "a": pr.FixedLenFeature([], np.int64),
    "b": pr.FixedLenFeature([2], np.float32, [1, 2]),
    "c": pr.VarLenFeature(bytes),
    "d": pr.FixedLenSequenceFeature([2], np.int64, allow_missing=True),
    "e": pr.RaggedFeature(np.int64),
}


def payload(number: int, **more: Any) -> bytes:
    values = {"a": number, "b": [0.5, number], "c": [b"x"] * (number % 3), "d": [1, 2] * (number % 4)}
    return pr.encode_example({**values, "e": list(range(number % 5)), **more})


def together(payloads: list[bytes], specs: dict[str, Any] = SPECS) -> ParsedRows | None:
    return parse_each(payloads, request_of(specs))


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.0, 0.02]))
@settings(max_examples=tries(150))
def test_rows_are_what_single_parsing_gives(seed: int, faults: float) -> None:
    rng = Random(seed)
    cases = [Case(rng, name, faults) for name in rng.sample("abcd", rng.randrange(1, 4))]
    specs = {case.name: case.spec for case in cases}
    payloads = [example(pair for case in cases for pair in case.features()) for _ in range(12)]
    if rng.random() < 0.2:
        payloads[rng.randrange(12)] = any_example(rng)
    alone = [outcome(lambda p=p: pr.parse_single_example(p, specs)) for p in payloads]
    rows = together(payloads, specs)
    if rows is None:
        assert any(kind == "error" for kind, *_ in alone)
    else:
        assert [("value", exact(row)) for row in rows] == alone


def test_one_bad_example_leaves_all_to_single_parsing() -> None:
    payloads = [payload(number) for number in range(20)]
    assert together(payloads) is not None
    for bad in (payload(3, a=1.5), payload(3, b=[1.0]), payload(3, d=[1]), payload(3)[:-1]):
        assert together([*payloads[:7], bad, *payloads[8:]]) is None


def test_few_or_large_payloads_and_other_things_gain_nothing() -> None:
    assert together([payload(0)] * 7) is None
    assert together([payload(0, c=[b"x" * 20_000])] * 8) is None
    assert together([bytearray(payload(0))] * 8) is None  # type: ignore[list-item]
    assert together([payload(0, c=[b"x" * 20_000]), *[payload(0)] * 15]) is not None


def test_defaults_do_not_take_more_memory_than_the_records_allow() -> None:
    specs = {"a": pr.FixedLenFeature([140_000], np.int64, [0] * 140_000)}
    assert together([b""] * 8, specs) is None
    assert together([b""] * 8, {"a": pr.FixedLenFeature([2], np.int64, [1, 2])}) is not None


def test_a_row_owns_its_memory() -> None:
    rows = together([payload(number) for number in range(9)])
    assert rows is not None
    before = exact(rows[4])
    kept = rows[3]
    for value in (kept["b"], kept["c"].values, kept["c"].indices, kept["d"], kept["e"]):
        assert value.flags.owndata or value.base.nbytes == value.nbytes
        if value.size:
            value[:] = value[::-1].copy()
    assert exact(rows[4]) == before


def test_a_part_of_the_rows_has_its_part_of_the_columns() -> None:
    payloads = [payload(number) for number in range(9)]
    rows = together(payloads)
    assert rows is not None
    part = rows[2:7][1:]
    assert isinstance(part, ParsedRows)
    assert exact(list(part)) == exact([rows[number] for number in range(3, 7)])
    columns = dict(part.columns())
    assert columns["a"].tolist() == [3, 4, 5, 6]
    assert exact(columns["e"]) == exact([rows[number]["e"] for number in range(3, 7)])
    columns["a"][:] = 0
    assert rows[3]["a"] == 3
