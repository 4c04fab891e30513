"""zip: elements side by side, or an error."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.damage import flip_byte, frames
from tests.support.dataset_properties import elements, fail_at_five, outcomes


def test_zip_does_not_pair_what_does_not_belong_together_after_an_error():
    failing = Dataset.range(7).map(fail_at_five)
    for chain in (Dataset.zip(failing, Dataset.range(7)), Dataset.zip(Dataset.range(7), failing.prefetch(2))):
        assert outcomes(iter(chain)) == [*((n, n) for n in range(5)), "error five", (6, 6)]


def test_error_of_the_data_comes_again_and_again(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(flip_byte(frames([b"%d" % number for number in range(9)]), 5 * 17 + 12))
    iterator = iter(Dataset.zip(TFRecordDataset(path).batch(1), Dataset.range(9)))
    assert elements(iterator, 5) == [([b"%d" % number], number) for number in range(5)]
    for _ in range(2):
        with pytest.raises(pr.ChecksumError, match="record 5"):
            next(iterator)
