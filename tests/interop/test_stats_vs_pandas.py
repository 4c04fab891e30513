"""Statistics compared with what pandas and numpy find in the same values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import purerecord as pr
from purerecord import tools
from tests.support.interop import interop

pandas = interop("pandas")

RNG = np.random.default_rng(3)
COUNT = 30_000
COLUMNS = {
    "label": RNG.integers(0, 50, COUNT),
    "wide": RNG.integers(-(2**62), 2**62, COUNT),
    "score": RNG.normal(0, 1e3, COUNT).astype(np.float32),
    "word": np.array([f"word{n}".encode() for n in RNG.zipf(1.5, COUNT) % 5000], object),
}


@pytest.fixture(scope="module", params=[100, 100_000], ids=["few kept", "all kept"])
def found(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stats") / "train@3"
    with pr.ShardedWriter(path) as writer:
        writer.write_many(pr.encode_examples(COLUMNS))
    return tools.stats(path, most_distinct=request.param, workers=2)


@pytest.mark.parametrize("name", ["label", "wide", "score"])
def test_numbers_are_those_of_pandas(found, name):
    series = pandas.Series(COLUMNS[name].astype(np.longdouble) if name == "wide" else COLUMNS[name])
    numbers = next(iter(found[name].numbers.values()))
    assert numbers.count == series.count()
    assert numbers.minimum == COLUMNS[name].min()
    assert numbers.maximum == COLUMNS[name].max()
    exact = (
        math.fsum(map(float, COLUMNS[name])) / COUNT
        if name != "wide"
        else sum(COLUMNS[name].tolist()) / COUNT
    )
    assert numbers.mean == pytest.approx(exact, rel=1e-15)
    assert numbers.deviation == pytest.approx(float(np.std(COLUMNS[name].astype(np.float64))), rel=1e-12)
    assert numbers.zeros == int((COLUMNS[name] == 0).sum())
    in_order = np.sort(COLUMNS[name])
    for one in numbers.quantiles:
        true = in_order[max(1, math.ceil(round(one.share * COUNT, 9))) - 1]
        assert one.low <= true <= one.high
        assert one.low == one.high or not numbers.exact
    assert sum(count for *_, count in numbers.histogram) == COUNT
    for low, high, count in numbers.histogram[:-1]:
        assert count == int(((COLUMNS[name] >= low) & (COLUMNS[name] < high)).sum())


@pytest.mark.parametrize("name", ["label", "word"])
def test_frequencies_are_those_of_pandas(found, name):
    counts = pandas.Series(COLUMNS[name]).value_counts()
    summary = found[name].strings if name == "word" else found[name].numbers["int64"]
    error = summary.error if name == "word" else 0
    assert summary.distinct in ((len(counts),) if not error else (None,))
    for value, count in summary.most_frequent:
        assert count <= counts[value] <= count + error
    assert summary.most_frequent[0][0] == counts.index[0]


def test_missing_values_are_those_of_pandas(tmp_path):
    rows = [{"a": n} if n % 3 else {"b": float(n)} for n in range(100)]
    path = tmp_path / "file"
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example(row) for row in rows])
    frame = pandas.DataFrame(rows)
    found = tools.stats(path)
    assert {one.name: one.missing for one in found.features} == frame.isna().sum().to_dict()
