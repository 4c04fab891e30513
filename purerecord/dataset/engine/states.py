"""``merge_states``: one checkpoint out of the checkpoints of all workers and ranks.

This module knows the JSON values that ``Share.state`` writes. It must not know cursors or datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from ... import public

KIND = "purerecord"
VERSION = 1


def check_state(state: Any) -> None:
    """Raise unless ``state`` is the state of an iterator; that of a whole loader is not."""
    place = [state.get(name) for name in ("epoch", "position")] if isinstance(state, Mapping) else []
    if not place or not all(isinstance(number, SupportsIndex) and index(number) >= 0 for number in place):
        raise ValueError(
            "a state has an epoch and a position, whole numbers from 0 on; merge_states makes one of what a "
            "loader's state_dict gave"
        )


@public
def merge_states(states: Any) -> dict[str, Any]:
    """Merge the states of all workers and ranks into one, from which any number of them can continue.

    ``states`` is a list of states, or any structure that contains them, such as a list of the ranks'
    ``StatefulDataLoader.state_dict()``. Together the consumers must have taken the first elements of the
    order and no others. That is so after every step of all ranks if each element is a batch.
    """
    found = _by_consumer(list(_find(states)))
    if not found:
        raise ValueError("there is no state of a purerecord iterator in this")
    if any("files" in state for state in found.values()):
        raise ValueError('states with share="files" are each for one consumer, and do not make one together')
    consumers = sorted(found)
    count = consumers[0][1]
    ordered = [found[consumer] for consumer in consumers]
    if len({(state["base"], state["epoch"]) for state in ordered}) > 1:
        raise ValueError("these states are not of the same run and epoch")
    if consumers != [(number, count) for number in range(count)]:
        raise ValueError(
            f"these are states of {len(consumers)} consumers (workers x ranks), not of all {count}"
        )
    rounds = [state["rounds"] for state in ordered]
    if rounds != sorted(rounds, reverse=True) or rounds[0] - rounds[-1] > 1:
        raise ValueError(
            "the consumers are not in step: one has had elements that come after others that another has not "
            "had yet. Put batch into the chain and give the loader batch_size=None, or keep as many workers"
        )
    last = ordered[-1]  # it has finished the fewest rounds
    more = sum(rounds) - rounds[-1] * count
    position = last["base"] + sum(rounds)
    merged = {**last, "position": position, "base": position, "rounds": 0, "consumer": [0, 0]}
    return {**merged, "ahead": last["ahead"] + more, "ended": all(state["ended"] for state in ordered)}


def _by_consumer(states: list[Mapping[str, Any]]) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The states by (number, count) of their consumer.

    For a worker that has yielded nothing yet, a loader may hold the state of an iterator that it made
    before it started workers. Such a state belongs to fewer consumers and has finished no round. It stands
    for all workers that have no state of their own.
    """
    found = {tuple(state["consumer"]): state for state in states}
    count = max((consumer[1] for consumer in found), default=0)
    early = {consumer: state for consumer, state in found.items() if consumer[1] < count}
    for (number, fewer), state in early.items():
        if fewer and not count % fewer and not state["rounds"]:
            del found[number, fewer]
            for own in range(number, count, fewer):
                found.setdefault((own, count), {**state, "consumer": [own, count]})
    return found


def _find(states: Any) -> Iterator[Mapping[str, Any]]:
    """All iterator states in a structure."""
    if isinstance(states, Mapping):
        if KIND in states and "consumer" in states:
            yield states
        else:
            for part in states.values():
                yield from _find(part)
    elif isinstance(states, Sequence) and not isinstance(states, (str, bytes)):
        for part in states:
            yield from _find(part)
