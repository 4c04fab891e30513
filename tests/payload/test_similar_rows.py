"""Records that look like earlier ones are decoded to what the row decoder gives, and no others are."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.payload import similar_rows
from purerecord.payload.similar_rows import Row, RowLayout, decode_row
from purerecord.payload.wire import FLOAT, INT64, decode_features
from tests.support.exact import exact, outcome
from tests.support.handmade_messages import example, feature, floats, ints
from tests.support.settings import tries
from tests.support.strategies import any_example, mutate

LONG = "k" * 118  # with a value of two bytes, an entry's lengths no longer fit into single bytes


def features_of(payload: bytes) -> Any:
    found = decode_row(payload)
    return found.features() if isinstance(found, Row) else found


def record(random: Random) -> bytes:
    """Mostly single values of a few kinds, which often have the layout of another record."""
    numbers = [0, 1, 127, 128, 300, 2**14, 2**21, 2**28 - 1, 2**28, 2**35, 2**56 - 1, 2**62, 2**63 - 1, -1]
    entries = {
        "i": ints(random.choice(numbers)),
        "f": floats(random.choice([0.0, -0.0, 1.5, float("inf")])),
        "b": feature(1, [random.randbytes(random.choice([0, 1, 60, 118, 119, 130, 300]))]),
        LONG: ints(random.choice([1, 127, 300])),
        "é": ints(3),
    }
    if random.random() < 0.3:
        odd = [
            ints(),
            ints(1, 2),
            floats(1, 2),
            feature(1, [b"", b"x"]),
            feature(None),
            ints(5, packed=False),
        ]
        entries[random.choice(list(entries))] = random.choice(odd)
    if random.random() < 0.1:
        entries.pop(random.choice(list(entries)))
    order = sorted(entries, reverse=random.random() < 0.1)
    return example([(name, entries[name]) for name in order])


@given(st.integers(0, 2**32))
@settings(max_examples=tries(200))
def test_any_records_are_decoded_as_by_the_row_decoder(seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        payload = any_example(random) if random.random() < 0.1 else record(random)
        if random.random() < 0.4:
            payload = mutate(payload, random)
        assert outcome(lambda p=payload: features_of(p)) == outcome(lambda p=payload: decode_features(p))


@given(st.integers(0, 2**32))
@settings(max_examples=tries(200))
def test_a_layout_accepts_no_changed_record_that_means_something_else(seed: int) -> None:
    random = Random(seed)
    payload = record(random)
    layout = RowLayout(decode_features(payload))
    same = layout.decode(payload)
    assert same is None or exact(same.features()) == exact(decode_features(payload))
    for _ in range(20):
        changed = mutate(payload, random)
        row = layout.decode(changed)
        if row is not None:
            assert exact(row.features()) == exact(decode_features(changed))


def test_every_single_bit_of_a_record_counts() -> None:
    payload = example([("i", ints(300)), ("f", floats(1.5)), ("b", feature(1, [b"xy"])), ("j", ints(1))])
    layout = RowLayout(decode_features(payload))
    for bit in range(8 * len(payload)):
        changed = bytearray(payload)
        changed[bit // 8] ^= 1 << bit % 8
        row = layout.decode(bytes(changed))
        if row is not None:
            assert exact(row.features()) == exact(decode_features(bytes(changed)))


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_rows, "_remembered", ())
    monkeypatch.setattr(similar_rows, "_latest", [])


@pytest.mark.usefixtures("forgotten")
def test_the_third_record_of_a_kind_is_compared_with_headers() -> None:
    payloads = [pr.encode_example({"a": n, "b": 0.5, "c": b"x" * n}) for n in range(1, 4)]
    assert [type(decode_row(payload)) for payload in payloads] == [dict, dict, Row]


@pytest.mark.usefixtures("forgotten")
def test_long_and_missing_values_do_not_leave_the_layout() -> None:
    for payload in [pr.encode_example({"a": 1, "b": 0.5, "c": b"x"})] * 2:
        decode_row(payload)
    for values in ({"a": -1, "b": 1.0, "c": b"y" * 500}, {"a": [1, 2], "b": [0.5, 2.5], "c": []}):
        row = decode_row(pr.encode_example(values))
        assert isinstance(row, Row)
        assert exact(row.features()) == exact(decode_features(pr.encode_example(values)))


@pytest.mark.usefixtures("forgotten")
def test_keys_in_another_order_in_every_record_make_no_layouts() -> None:
    one, other = example([("a", ints(1)), ("b", ints(2))]), example([("b", ints(2)), ("a", ints(1))])
    assert [type(decode_row(payload)) for payload in [one, other] * 3] == [dict] * 6


@pytest.mark.usefixtures("forgotten")
def test_values_can_be_changed_and_share_nothing() -> None:
    payload = pr.encode_example({"a": 1, "b": 0.5, "c": 2})
    first, second, third, fourth = (pr.decode_example(payload) for _ in range(4))
    third["a"][:] = 7
    third["b"] += 1
    assert exact(first) == exact(second) == exact(fourth)
    assert (third["a"].tolist(), third["b"].tolist(), third["c"].tolist()) == ([7], [1.5], [2])


@pytest.mark.usefixtures("forgotten")
def test_single_values_are_those_of_the_specs() -> None:
    specs = {"b": pr.FixedLenFeature([], np.float32), "a": pr.FixedLenFeature([], np.int64)}
    payload = pr.encode_example({"a": 1, "b": 0.5, "c": b"x"})
    results = [pr.parse_single_example(payload, specs) for _ in range(4)]
    assert all(exact(result) == exact({"b": np.float32(0.5), "a": np.int64(1)}) for result in results)
    assert tuple(RowLayout(decode_features(payload)).places[name][0] for name in "ba") == (FLOAT, INT64)
    with pytest.raises(pr.SchemaError, match="float, but int64"):
        pr.parse_single_example(pr.encode_example({"a": 1.5, "b": 0.5, "c": b"x"}), specs)
