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


def test_an_element_that_failed_is_counted_where_a_shuffle_takes_placeholders():
    dataset = Dataset.range(9).map(fail_at_five).enumerate().shuffle(4, seed=1)
    whole = outcomes(iter(dataset))
    assert sorted(map(str, whole)) == sorted([*(str((n, n)) for n in range(9) if n != 5), "error five"])
    for workers in (2, 3):
        shares = [outcomes(dataset.iterator(0, worker=k, workers=workers)) for k in range(workers)]
        assert shares == [whole[k::workers] for k in range(workers)]
