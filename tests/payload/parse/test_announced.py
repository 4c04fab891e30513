"""Payloads that a function gets one by one: parsed some at a time, with the results of single parsing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.payload.parse import announced as module
from purerecord.payload.parse.announced import announced, parsed_with_others
from purerecord.payload.parse.rows import parse_each
from tests.support.exact import outcome
from tests.support.settings import tries
from tests.support.strategies import mutate

A = {"a": pr.FixedLenFeature([], np.int64)}
B = {"b": pr.FixedLenFeature([], np.float32)}
PAYLOADS = [pr.encode_example({"a": number, "b": number / 2}) for number in range(40)]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many payloads each joint parse got."""
    monkeypatch.setattr(module, "_TOGETHER", 16)
    return []


def counting(calls: list[int]) -> Callable[[Any, Any], Any]:
    def parse(payloads: Any, request: Any) -> Any:
        calls.append(len(payloads))
        return parse_each(payloads, request)

    return parse


def test_payloads_are_parsed_together_once_two_in_a_row_were_parsed(calls: list[int]) -> None:
    with announced(PAYLOADS, counting(calls)):
        found = [pr.parse_single_example(payload, A)["a"] for payload in PAYLOADS]
    assert found == list(range(40))
    assert calls == [16, 16, 7]
    with announced(PAYLOADS, counting(calls)):
        found = [pr.parse_single_example(payload, A)["a"] for payload in PAYLOADS[::2]]
    assert found == list(range(0, 40, 2))
    assert calls == [16, 16, 7]


def test_several_specs_each_have_their_own(calls: list[int]) -> None:
    with announced(PAYLOADS, counting(calls)):
        for number, payload in enumerate(PAYLOADS):
            assert pr.parse_single_example(payload, A)["a"] == number
            assert pr.parse_single_example(payload, B)["b"] == number / 2
    assert calls == [16, 16, 16, 16, 7, 7]
    calls.clear()
    with announced(PAYLOADS, counting(calls)):
        for payload in PAYLOADS:
            pr.parse_single_example(payload, {"a": pr.FixedLenFeature([], np.int64)})
    assert calls == []


def test_only_the_same_object_in_the_same_thread_counts(calls: list[int]) -> None:
    copies = [bytes(bytearray(payload)) for payload in PAYLOADS]
    with announced(PAYLOADS, counting(calls)):
        for payload in copies:
            pr.parse_single_example(payload, A)
        other = threading.Thread(target=lambda: [pr.parse_single_example(p, A) for p in PAYLOADS])
        other.start()
        other.join()
    assert calls == []
    for payload in PAYLOADS:
        assert parsed_with_others(payload, A) is None


def test_what_is_announced_inside_ends_first(calls: list[int]) -> None:
    with announced(PAYLOADS, counting(calls)):
        pr.parse_single_example(PAYLOADS[0], A)
        with pytest.raises(KeyError), announced(PAYLOADS[:3], counting(calls)):
            raise KeyError
        pr.parse_single_example(PAYLOADS[1], A)
    assert calls == [16]


@given(st.integers(0, 2**32))
@settings(max_examples=tries(90))
def test_every_record_has_its_own_result_or_error(seed: int) -> None:
    random = Random(seed)
    payloads = [mutate(p, random) if random.random() < 0.05 else p for p in PAYLOADS]
    for place in random.sample(range(40), 5):
        payloads[place] = payloads[place - 1]  # the same object twice
    asked = [
        (payload, random.choice([A, A, A, B]))
        for payload in payloads
        for _ in range(random.choice([0, 1, 1, 1, 1, 1, 2]))
    ]
    alone = [outcome(lambda p=p, s=s: pr.parse_single_example(p, s)) for p, s in asked]
    with announced(payloads, parse_each):
        together = [outcome(lambda p=p, s=s: pr.parse_single_example(p, s)) for p, s in asked]
    assert together == alone
