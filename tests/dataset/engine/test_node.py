"""Nodes and cursors: what holds for all of them."""

from __future__ import annotations

import pytest

from purerecord.dataset import Dataset
from purerecord.dataset.engine.node import Context, DeferredError, Pattern, take_exactly, take_singly


def test_error_waits_for_the_elements_before_it():
    deferred = DeferredError()
    with pytest.raises(ValueError, match="at once"):
        deferred.defer(ValueError("at once"), [], "begin")
    deferred.defer(ValueError("later"), [1], "begin")
    assert deferred.is_pending
    assert deferred.state == "begin"
    with pytest.raises(ValueError, match="later"):
        deferred.raise_pending()
    assert not deferred.is_pending
    deferred.raise_pending()


def test_batches_multiply_the_pattern_and_other_transforms_end_it():
    context = Context(pattern=Pattern(1, 3)).batched(4)
    assert context.pattern == (4, 12)
    assert not context.pattern.takes_all
    assert context.without_pattern().pattern.takes_all


def test_exactly_as_many_elements_as_asked_for_unless_it_ends():
    cursor = Dataset.range(600)._node.open(Context())
    assert take_exactly(cursor, 590) == list(range(590))
    assert take_singly(cursor, 100) == list(range(590, 600))
