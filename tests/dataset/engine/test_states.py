"""States: merged from all consumers, found wherever they are, refused if they are none."""

from __future__ import annotations

import itertools

import pytest

from purerecord.dataset import Dataset
from purerecord.dataset.engine.states import merge_states


def test_states_that_are_out_of_step_are_refused():
    its = [Dataset.range(20).iterator(0, rank=rank, world_size=2) for rank in range(2)]
    next(its[1])
    with pytest.raises(ValueError, match="not in step"):
        merge_states([it.state_dict() for it in its])
    with pytest.raises(ValueError, match="not of all 2"):
        merge_states([its[0].state_dict()])
    other = Dataset.range(20).iterator(1, rank=1, world_size=2)
    with pytest.raises(ValueError, match="same run"):
        merge_states([its[0].state_dict(), other.state_dict()])
    with pytest.raises(ValueError, match="no state"):
        merge_states({"something": [1, "else"]})


def test_states_are_found_wherever_they_are():
    its = [Dataset.range(20).iterator(0, worker=worker, workers=2) for worker in range(2)]
    next(its[0])
    wrapped = {"loader": [{"worker": it.state_dict()} for it in its], "step": 1}
    assert merge_states(wrapped)["position"] == 1


@pytest.mark.parametrize("ranks", [1, 2])
def test_workers_that_have_not_begun_may_be_there_with_a_state_from_before_there_were_workers(ranks):
    dataset, workers = Dataset.range(20), 3
    state = {"epoch": 0, "position": 4}
    for taken in range(ranks * workers):
        states = []
        for worker, rank in itertools.product(range(workers), range(ranks)):
            begun = rank + ranks * worker < taken
            who = {"worker": worker, "workers": workers} if begun else {}
            iterator = dataset.iterator(0, rank=rank, world_size=ranks, **who)
            iterator.load_state_dict(state)
            if begun:
                assert next(iterator) == 4 + rank + ranks * worker
            states.append(iterator.state_dict())
        again = iter(dataset)
        again.load_state_dict(merge_states(states))
        assert list(again) == list(range(4 + taken, 20))


@pytest.mark.parametrize(
    "state",
    [None, {}, {"epoch": 1}, {"position": 3}, {"epoch": 0, "position": -2}, {"epoch": -1, "position": 0}],
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError, match="a state has an epoch and a position"):
        iter(Dataset.range(5)).load_state_dict(state)
