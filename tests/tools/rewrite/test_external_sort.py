"""Sorting what does not fit in memory: ranges that fit, in order, with every record in one of them."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import SchemaError, encode_example
from purerecord.tools import sort
from purerecord.tools.rewrite.external_sort import ranges
from tests.support.rewriting import write_inputs
from tests.support.settings import tries


class Listed:
    """A run in memory: (key, size) of each record."""

    def __init__(self, records):
        self.records = sorted(records)

    def __len__(self):
        return len(self.records)

    def key(self, row):
        return self.records[row][0]

    def weight(self, begin, end):
        return sum(size for _, size in self.records[begin:end])

    def middle(self, begin, end):
        return (begin + end - 1) // 2

    def rows_up_to(self, key, begin, end):
        return begin + sum(found <= key for found, _ in self.records[begin:end])


@settings(max_examples=tries(300))
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.integers(1, 100)), max_size=20), min_size=1, max_size=5
    ),
    st.integers(1, 300),
)
def test_ranges_are_small_and_follow_one_another(numbers, most):
    runs = [
        Listed([((0, number, 1000 * which + n), size) for n, (number, size) in enumerate(some)])
        for which, some in enumerate(numbers)
    ]
    bounds = ranges(runs, most)
    assert bounds[0].tolist() == [0] * len(runs)
    assert bounds[-1].tolist() == [len(run) for run in runs]
    last = None
    for begins, ends in pairwise(bounds):
        some = sorted(
            one for run, begin, end in zip(runs, begins, ends, strict=True) for one in run.records[begin:end]
        )
        assert sum(size for _, size in some) <= most or len(some) == 1
        assert last is None or not some or last < some[0][0]
        last = some[-1][0] if some else last


def test_without_records_there_is_one_empty_range():
    assert ranges([Listed([]), Listed([])], 10).tolist() == [[0, 0], [0, 0]]


def test_kinds_that_differ_between_files_are_an_error(tmp_path):
    payloads = [encode_example({"x": 1})] * 12 + [encode_example({"x": "a"})] * 98
    source = write_inputs(tmp_path / "in", payloads)
    with pytest.raises(
        SchemaError, match="feature 'x': it holds bytes and int64, which have no common order"
    ):
        sort(source, tmp_path / "out@2", "x")
    assert not list(tmp_path.glob("*out*"))


def test_memory_must_be_a_size(tmp_path):
    source = write_inputs(tmp_path / "in")
    with pytest.raises(ValueError, match="a size like 150MB or 64MiB is needed, not 'much'"):
        sort(source, tmp_path / "out@2", "id", memory="much")


def test_the_bounds_of_ranges_are_not_sent():
    from purerecord.tools.rewrite.external_sort import SortedSource  # noqa: PLC0415
    from purerecord.tools.rewrite.work_folder import WorkFolder  # noqa: PLC0415

    source = SortedSource(WorkFolder("nowhere"), (), 0)
    vars(source)["_ranges"] = np.zeros(100_000)
    assert len(pickle.dumps(source)) < 1000
