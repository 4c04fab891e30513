"""States: merged from all consumers, found wherever they are, refused if they are none."""

from __future__ import annotations

import copy
import itertools
import json
from random import Random

import pytest

from purerecord import CorruptionError
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.states import merge_states
from tests.support.dataset_properties import CHAINS, elements, write_files
from tests.support.settings import tries


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


@pytest.mark.parametrize(
    "state",
    [
        {"epoch": 0, "steps": -1},
        {"epoch": 0, "steps": 1.5},
        {"epoch": 0, "steps": 1, "position": 1},
        {"epoch": 0, "steps": 1, "world_size": "2"},
        {"epoch": 0, "steps": 1, "world_size": 0},
        {"epoch": 0, "steps": True},
        {"epoch": 0, "position": 1, "world_size": 2},
        {"epoch": 0, "position": 1, "pos": 2},
        {"steps": 1},
    ],
)
def test_steps_that_cannot_be_meant_are_refused(state):
    with pytest.raises(ValueError, match=r"not a state of this dataset|a state has an epoch"):
        iter(Dataset.range(5)).load_state_dict(state)


def test_steps_are_those_of_each_rank():
    dataset = Dataset.range(20)
    for state, begin in (
        ({"steps": 3}, 6),
        ({"steps": 3, "world_size": 4}, 12),
        ({"steps": 3, "world_size": 1}, 3),
    ):
        for rank in range(2):
            iterator = dataset.iterator(rank=rank, world_size=2)
            iterator.load_state_dict({"epoch": 0, **state})
            assert list(iterator) == list(range(begin + rank, 20, 2))


JUNK = [
    None,
    -1,
    1 << 31,
    1 << 40,
    1 << 70,
    1.5,
    float("nan"),
    "x",
    "",
    [],
    [0],
    {},
    {"up": 0},
    [[0, 0]],
    True,
]


def places(state, path=()):
    """The paths of all values in a state."""
    inside = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


def forged(state, path, value):
    """The state with another value at a path; without it if the value is ``places``."""
    state = copy.deepcopy(state)
    part = state
    for key in path[:-1]:
        part = part[key]
    if value is places:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return state


@pytest.mark.light(12)
@pytest.mark.parametrize("name", [name for name in CHAINS if "parallel" not in name])
def test_a_forged_state_is_refused_with_a_value_error_or_loads(name, tmp_path):
    dataset = CHAINS[name](TFRecordDataset(write_files(tmp_path, [5, 0, 12, 30])))
    iterator = dataset.iterator(0)
    elements(iterator, 3)
    state = json.loads(json.dumps(iterator.state_dict()))
    whole = elements(dataset.iterator(0))
    random = Random(name)
    cases = [(path, value) for path in places(state) for value in [*JUNK, places]]
    for path, value in random.sample(cases, min(len(cases), tries(60))):
        target = dataset.iterator(0)
        elements(target, 2)
        try:
            target.load_state_dict(forged(state, path, value))
        except ValueError:
            assert elements(target) == whole[2:], "a state that is refused changes nothing"
        else:
            try:
                elements(target, 60)
            except CorruptionError:
                assert path[0] == "cursor"  # it pointed into the middle of a frame


def test_the_error_about_a_forged_state_is_one_sentence():
    dataset = Dataset.range(40).shuffle(5)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state_dict()
    cursor = state["cursor"]
    forgeries = [{"rounds": 7}, {"ended": 2}, {"cursor": {}}, {"consumer": 0}, {"skipped": -1}]
    forgeries += [{"cursor": {**cursor, "taken": 1 << 31}}, {"cursor": {**cursor, "given": float("nan")}}]
    for forgery in forgeries:
        with pytest.raises(ValueError, match=r"^this is not a state of this dataset: [^.]*$"):
            iter(dataset).load_state_dict({**state, **forgery})


def test_a_state_that_cannot_be_merged_is_refused():
    state = Dataset.range(9).iterator(0).state_dict()
    for name in ("base", "rounds", "ahead", "cursor"):
        with pytest.raises(ValueError, match="not a state"):
            merge_states([{key: value for key, value in state.items() if key != name}])
