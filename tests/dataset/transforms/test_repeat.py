"""repeat: epoch after epoch, the same as loops."""

from __future__ import annotations

import itertools

import pytest

from purerecord.dataset import TFRecordDataset
from tests.support.dataset_properties import (
    write_files,
)

TOTAL = 47


@pytest.fixture(params=["", "GZIP"])
def files(request, tmp_path):
    return write_files(tmp_path, [5, 0, 12, 30], request.param)


def test_repeat_goes_through_the_same_epochs_as_loops_do(files):
    dataset = TFRecordDataset(files).shuffle(20, seed=5)
    loops = [record for _ in range(3) for record in dataset]
    assert list(dataset.repeat(3)) == loops
    assert list(itertools.islice(dataset.repeat(), 3 * TOTAL)) == loops
