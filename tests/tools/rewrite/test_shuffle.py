"""``shuffle``: a random order that follows from the seed alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord.tools import shuffle
from purerecord.tools.rewrite.record_keys import random_keys
from tests.support.rewriting import PAYLOADS, files_of, records, write_inputs
from tests.support.settings import tries


@settings(max_examples=tries(20))
@given(
    st.lists(st.integers(0, 500), max_size=60), st.integers(1, 4), st.integers(1, 30_000), st.integers(1, 9)
)
def test_order_does_not_depend_on_the_memory(tmp_path_factory, lengths, files, memory, count):
    folder = tmp_path_factory.mktemp("shuffle")
    payloads = [b"%d " % n + bytes(length) for n, length in enumerate(lengths)]
    source = write_inputs(folder / "in", payloads, files)
    small = shuffle(source, folder / "small@*", shards=count, seed=5, memory=memory)
    shuffle(source, folder / "large" / "small@*", shards=count, seed=5)
    assert sorted(records(small.paths)) == sorted(payloads)
    found = {name: data for name, data in files_of(folder).items() if name.startswith("small")}
    assert found == files_of(folder / "large")


def test_another_seed_is_another_order(tmp_path):
    source = write_inputs(tmp_path / "in")
    first, again, second = (records(shuffle(source, tmp_path / "out", seed=seed).paths) for seed in (1, 1, 2))
    assert first == again != second
    assert sorted(first) == sorted(second) == sorted(PAYLOADS)


def test_every_record_may_come_first():
    places = np.arange(3, dtype=np.int64)
    firsts = Counter(int(random_keys(places, seed).argmin()) for seed in range(600))
    assert min(firsts[place] for place in range(3)) > 150


@pytest.mark.parametrize("limit", [{"max_records": 7}, {"max_bytes": 700}])
def test_shards_may_be_filled_one_after_the_other(tmp_path, limit):
    source = write_inputs(tmp_path / "in")
    expected = records(shuffle(source, tmp_path / "one").paths)
    done = shuffle(source, tmp_path / "out@*", memory=20_000, **limit)
    assert records(done.paths) == expected
    assert len(done.paths) > 10
