"""Statistics of Examples equal those that plain Python makes record by record, in whatever parts they
come."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import DecodeError, SchemaError, encode_example
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET, decode_sequence
from purerecord.records import Records
from purerecord.tools.inspect import example_statistics
from purerecord.tools.inspect.content import content_of
from purerecord.tools.inspect.example_statistics import ExampleStatistics
from purerecord.tools.inspect.feature_statistics import KINDS, FeatureSummary
from purerecord.tools.inspect.number_statistics import NumberStatistics
from tests.support.legal_examples import example_batches, sequence_batches


def summaries(payloads: list[bytes], cuts: list[int] = (), *, most: int = 1000) -> tuple[FeatureSummary, ...]:
    whole = ExampleStatistics(most=most)
    edges = [0, *sorted(cut % (len(payloads) + 1) for cut in cuts), len(payloads)]
    for low, high in pairwise(edges):
        part = ExampleStatistics(most=most)
        part.add(Records.of(payloads[low:high]))
        whole.merge(part)
    assert whole.records == len(payloads)
    return whole.summaries()


def of_numbers(numbers: list[Any], kind: str) -> Any:
    statistics = NumberStatistics(kind, 1000)
    statistics.add(np.array(numbers, kind))
    return statistics.summary()


def check(found: FeatureSummary, lists: list[list[tuple[int, Any]] | None]) -> None:
    """``lists`` holds the lists of each record: one of a feature, one for each step, or None."""
    each = [one for some in lists if some is not None for one in some]
    assert found.present == sum(some is not None for some in lists)
    assert found.missing == len(lists) - found.present
    assert found.untyped == sum(kind == UNSET for kind, _ in each)
    typed = [(kind, values) for kind, values in each if kind != UNSET]
    assert found.lists == Counter(KINDS[kind] for kind, _ in typed)
    assert found.empty == sum(len(values) == 0 for _, values in typed)
    assert found.lengths == of_numbers([len(values) for _, values in typed], "int64")
    if found.sequence:
        assert found.steps == of_numbers([len(some) for some in lists if some is not None], "int64")
    for kind in (FLOAT, INT64):
        numbers = [value for other, values in typed if other == kind for value in values.tolist()]
        expected = {KINDS[kind]: of_numbers(numbers, KINDS[kind])} if KINDS[kind] in found.lists else {}
        assert {name: found.numbers[name] for name in found.numbers if name == KINDS[kind]} == expected
    strings = [value for kind, values in typed if kind == BYTES for value in values]
    if found.strings is None:
        assert "bytes" not in found.lists
        return
    counts = Counter(strings)
    assert found.strings.contents == Counter(map(content_of, strings))
    assert found.strings.lengths == of_numbers(list(map(len, strings)), "int64")
    assert found.strings.distinct == len(counts)
    frequent = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
    assert found.strings.most_frequent == tuple(frequent)


def reference(payloads: list[bytes]) -> dict[tuple[bool, str], list[Any]]:
    decoded = [decode_sequence(payload) for payload in payloads]
    names = {(False, name) for context, _ in decoded for name in context}
    names |= {(True, name) for _, lists in decoded for name in lists}
    return {
        (sequence, name): [
            parts[sequence].get(name) if sequence or name not in parts[0] else [parts[0][name]]
            for parts in decoded
        ]
        for sequence, name in sorted(names)
    }


@given(example_batches() | sequence_batches(), st.lists(st.integers(0, 200), max_size=3))
def test_statistics_equal_a_reference_in_plain_python(payloads, cuts):
    found = {(feature.sequence, feature.name): feature for feature in summaries(payloads, cuts)}
    expected = reference(payloads)
    assert list(found) == list(expected)
    for key, lists in expected.items():
        check(found[key], lists)


@given(example_batches() | sequence_batches(), st.lists(st.integers(0, 200), max_size=4))
def test_parts_change_nothing_beyond_the_bound_but_the_most_frequent_strings(payloads, cuts):
    for one, other in zip(summaries(payloads, most=2), summaries(payloads, cuts, most=2), strict=True):
        assert {**vars(one), "strings": None} == {**vars(other), "strings": None}
        if one.strings is not None:
            assert (one.strings.distinct, one.strings.lengths) == (
                other.strings.distinct,
                other.strings.lengths,
            )


def test_only_the_named_features_are_counted():
    found = ExampleStatistics(["b", "missing"], most=10)
    found.add(Records.of([encode_example({"a": 1, "b": 2.0})]))
    assert [feature.name for feature in found.summaries()] == ["b"]


def test_records_that_are_no_examples_are_counted_one_by_one():
    payloads = [encode_example({"a": i}) for i in range(20)]
    payloads[3], payloads[11] = b"junk", b"\x08\x01\x10\x02"  # no message, and another message
    found = ExampleStatistics(most=100)
    with pytest.raises(DecodeError):
        found.add(Records.of(payloads))
    assert found.records == 0
    error = found.add_decodable(Records.of(payloads))
    assert (found.records, found.undecodable) == (18, 2)
    assert error is not None
    assert error.record == 3


def test_too_many_features_are_refused(monkeypatch):
    monkeypatch.setattr(example_statistics, "MOST_FEATURES", 3)
    found = ExampleStatistics(most=10)
    with pytest.raises(SchemaError, match="more than 3 features; name those"):
        found.add(Records.of([encode_example(dict.fromkeys("abcd", 1))]))
