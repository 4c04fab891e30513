"""``sample``: a part of the records in their order, the same for the same seed."""

from __future__ import annotations

import pytest

from purerecord.tools import sample
from tests.support.rewriting import PAYLOADS, records, write_inputs


@pytest.fixture
def source(tmp_path):
    return write_inputs(tmp_path / "in")


@pytest.mark.parametrize("count", [1, 17, 200])
@pytest.mark.parametrize("seed", [0, 1])
def test_sample_has_exactly_so_many_records_in_their_order(tmp_path, source, count, seed):
    found = records(sample(source, tmp_path / "out@3", count=count, seed=seed).paths)
    assert len(found) == count
    places = [PAYLOADS.index(payload) for payload in found]
    assert places == sorted(set(places))


def test_a_larger_sample_includes_a_smaller_one_of_the_same_seed(tmp_path, source):
    small, large, other = (
        set(records(sample(source, tmp_path / "out", count=count, seed=seed).paths))
        for count, seed in ((20, 1), (100, 1), (20, 2))
    )
    assert small < large
    assert other != small


def test_fraction_is_about_that_part(tmp_path, source):
    done = sample(source, tmp_path / "out", fraction=0.25)
    assert 25 < done.records < 75
    assert done.read == 200
    assert sample(source, tmp_path / "out", fraction=1).records == 200
    assert sample(source, tmp_path / "out", fraction=1e-30).records == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "either fraction or count"),
        ({"fraction": 0.5, "count": 3}, "either fraction or count"),
        ({"fraction": 0}, "fraction must be more than 0"),
        ({"fraction": float("nan")}, "fraction must be more than 0"),
        ({"count": 0}, "count must be positive"),
        ({"count": 201}, "there are only 200 records, and 201 are asked for"),
    ],
)
def test_samples_that_cannot_be_are_an_error(tmp_path, source, arguments, reason):
    with pytest.raises(ValueError, match=reason):
        sample(source, tmp_path / "out", **arguments)
