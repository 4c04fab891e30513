"""Sets of shards: which are missing, and how that is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.storage.paths import shard_names
from purerecord.storage.shard_sets import complete_shards


def names(numbers: set[int] | range, total: int) -> list[str]:
    return [f"d/t-{number:05d}-of-{total:05d}.x" for number in sorted(numbers)]


@pytest.mark.parametrize(
    ("missing", "listed"),
    [
        ({19}, "1 of the 20 shards is missing: 00019"),
        ({0, 1, 2}, "3 of the 20 shards are missing: 00000 to 00002"),
        ({3, 5, 6, 7, 19}, "5 of the 20 shards are missing: 00003, 00005 to 00007, 00019"),
        (
            set(range(0, 20, 2)),
            "10 of the 20 shards are missing: "
            "00000, 00002, 00004, 00006, 00008, 00010, 00012, 00014 and 2 more",
        ),
    ],
)
def test_all_missing_shards_are_listed_unless_they_are_very_many(missing, listed):
    with pytest.raises(FileNotFoundError) as caught:
        complete_shards(names(set(range(20)) - missing, 20), "t@20", missing_ok=False)
    assert (caught.value.strerror, caught.value.filename) == (listed, "t@20")


def test_an_absurd_number_of_missing_shards_is_an_error_at_once():
    found = ["t-00000-of-99999999999"]
    for missing_ok in (False, True):
        with pytest.raises(FileNotFoundError, match="missing: 00001 to 99999999998"):
            complete_shards(found, "t@*", missing_ok=missing_ok)


def test_what_is_no_shard_passes():
    assert complete_shards(["b", "a"], "?", missing_ok=False) == ["a", "b"]


@given(st.integers(1, 30), st.integers(0, 1), st.data())
def test_missing_names_complete_the_set_from_0_or_1(total, first, data):
    whole = names(range(first, first + total), total)
    assert complete_shards(whole, "p", missing_ok=False) == whole
    # Without its first or last shard, a set does not show where it begins; then it begins with 0.
    kept = {*data.draw(st.sets(st.sampled_from(whole))), whole[-first]}
    assert complete_shards(sorted(kept), "p", missing_ok=True) == whole


def test_shards_that_purerecord_writes_are_complete():
    for count in (1, 12, 100_000):
        written = shard_names("t", count)
        assert complete_shards(written, "t@*", missing_ok=False) == written
