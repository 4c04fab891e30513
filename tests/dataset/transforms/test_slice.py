"""take, skip and shard: some of the elements."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.damage import flip_byte, frames
from tests.support.dataset_properties import elements, fail_at_five, outcomes


def test_any_negative_count_is_all_or_none_as_in_tensorflow():
    numbers = Dataset.range(5)
    for count in (-1, -2, -5):
        assert (list(numbers.take(count)), len(numbers.take(count))) == ([0, 1, 2, 3, 4], 5)
        assert (list(numbers.skip(count)), len(numbers.skip(count))) == ([], 0)
        assert elements(numbers.shuffle(1).repeat(count).iterator(2), 7) == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("size", [50, 30_000])
def test_every_other_record_up_to_damage_comes_before_the_error(size, tmp_path):
    path = tmp_path / "file"
    payloads = [bytes([number]) * size for number in range(40)]
    path.write_bytes(flip_byte(frames(payloads), 31 * (size + 16) + 20))
    got = []
    with pytest.raises(pr.ChecksumError) as error:  # noqa: PT012 - what came before it is looked at
        for record in TFRecordDataset(path).shard(2, 1):
            got.append(record)
    assert got == payloads[1:31:2]
    assert error.value.record == 31


@pytest.mark.parametrize("parallel", [None, 2])
@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (lambda ds: ds.shard(2, 1), [1, 3, "error five", 7, 9, 11]),
        (lambda ds: ds.shard(2, 0), [0, 2, 4, 6, 8, 10]),
        (lambda ds: ds.shard(3, 2), [2, "error five", 8, 11]),
        (lambda ds: ds.take(8), [0, 1, 2, 3, 4, "error five", 6, 7]),
        (lambda ds: ds.skip(4), [4, "error five", 6, 7, 8, 9, 10, 11]),
        (lambda ds: ds.take(9).shard(4, 1).prefetch(1), [1, "error five"]),
    ],
)
def test_an_element_that_failed_has_its_place(chain, expected, parallel):
    """Who goes on after its error gets the elements that he would get without it."""
    dataset = chain(Dataset.range(12).map(fail_at_five, parallel))
    assert outcomes(dataset.iterator(0)) == expected
    for rank in range(2):
        assert outcomes(dataset.iterator(0, rank=rank, world_size=2)) == expected[rank::2]
