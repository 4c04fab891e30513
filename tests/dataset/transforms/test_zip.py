"""zip: elements side by side, or an error."""

from __future__ import annotations

import pytest

from purerecord.dataset import Dataset
from tests.support.dataset_properties import (
    elements,
)


def test_zip_does_not_pair_what_does_not_belong_together_after_an_error():
    def fail_at_two(number):
        if number == 2:
            raise RuntimeError("two")
        return number

    iterator = iter(Dataset.zip(Dataset.range(6).map(fail_at_two), Dataset.range(6)))
    assert elements(iterator, 2) == [(0, 0), (1, 1)]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="two"):
            next(iterator)
