"""enumerate: numbers beside elements, the same for every worker."""

from __future__ import annotations

from purerecord.dataset import Dataset
from tests.support.dataset_properties import elements, fail_at_five, outcomes


def test_numbers_begin_where_the_caller_says():
    assert list(Dataset.range(5, 8).enumerate(10)) == [(10, 5), (11, 6), (12, 7)]


def test_every_worker_sees_the_numbers_of_the_whole():
    dataset = Dataset.range(5, 10).enumerate()
    assert elements(dataset.iterator(0, worker=1, workers=2)) == [(1, 6), (3, 8)]


def test_an_element_that_failed_is_counted():
    dataset = Dataset.range(8).map(fail_at_five).enumerate()
    assert outcomes(iter(dataset)) == [*((n, n) for n in range(5)), "error five", (6, 6), (7, 7)]
