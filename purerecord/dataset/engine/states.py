"""Checks of states, and ``merge_states``: one checkpoint out of the checkpoints of all workers and ranks.

A state may come from anywhere, so each cursor checks its part of it before it uses it. This module knows the
JSON values that ``Share.state`` writes. It must not know cursors or datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from ... import public

KIND = "purerecord"
VERSION = 1
_LARGEST_COUNT = (1 << 63) - 1
_NAMES = {
    *(KIND, "chain", "epoch", "position", "files", "consumer", "base", "rounds", "ended", "cursor"),
    *("ahead", "skipped"),
}


def with_position(state: Any, world_size: int) -> Any:
    """A state that says how many steps each rank has done, with a position instead: see ``resume``.

    ``world_size`` is the number of ranks, unless the state says another.
    """
    if not isinstance(state, Mapping) or "steps" not in state:
        return state
    steps, ranks = count_of(state["steps"]), count_of(state.get("world_size", world_size))
    if "position" in state:
        raise bad_state("it has steps and a position; one of them is enough")
    if not ranks:
        raise bad_state("its world_size is 0; it is the number of ranks that have done the steps")
    rest = {name: value for name, value in state.items() if name not in ("steps", "world_size")}
    return {**rest, "position": steps * ranks}


def check_state(state: Any) -> None:
    """Raise unless ``state`` is the state of an iterator; that of a whole loader is not."""
    place = [state.get(name) for name in ("epoch", "position")] if isinstance(state, Mapping) else []
    if not place or not all(map(_is_count, place)):
        raise ValueError(
            "a state has an epoch and a position (or steps), whole numbers from 0 on; merge_states makes one "
            "of what a loader's state_dict gave"
        )
    if "consumer" in state:
        base, rounds, ahead, ended, _ = values_of(state, "base", "rounds", "ahead", "ended", "cursor")
        count = list_of(state["consumer"], 2)[1]
        for number in (*state["consumer"], base, rounds, ahead):
            count_of(number)
        flag_of(ended)
        if state["position"] != base + rounds * count or ahead > state["position"]:
            raise bad_state("its numbers contradict each other")
    count_of(state.get("skipped", 0))
    if unknown := sorted(map(repr, set(state) - _NAMES)):
        raise bad_state(f"{', '.join(unknown)} is nothing that a state has")


def bad_state(problem: str) -> ValueError:
    """The error for what is not a state of the dataset that it is given to."""
    return ValueError(f"this is not a state of this dataset: {problem}")


def values_of(state: Any, *names: str) -> list[Any]:
    """The values that a part of a state has under these names."""
    if not isinstance(state, Mapping) or not all(name in state for name in names):
        raise bad_state(f"a part of it should have {', '.join(map(repr, names))}")
    return [state[name] for name in names]


def count_of(value: Any, most: int = _LARGEST_COUNT) -> int:
    """A number in a state that counts something: from 0 to ``most``."""
    if not _is_count(value) or value > most:
        raise bad_state("it holds something else where a count should be, or a count that is too large")
    return index(value)


def flag_of(value: Any) -> bool:
    """A value in a state that is true or false."""
    if value not in (True, False):
        raise bad_state("it holds something else where true or false should be")
    return bool(value)


def list_of(value: Any, length: int | None = None) -> Sequence[Any]:
    """A list in a state, of ``length`` values."""
    if not isinstance(value, (list, tuple)) or (length is not None and len(value) != length):
        raise bad_state("it holds something else where a list should be, or a list of another length")
    return value


def _is_count(value: Any) -> bool:
    return (
        isinstance(value, SupportsIndex)
        and not isinstance(value, bool)
        and 0 <= index(value) <= _LARGEST_COUNT
    )


@public
def merge_states(states: Any) -> dict[str, Any]:
    """Merge the states of all workers and ranks into one, from which any number of them can continue.

    ``states`` is a list of states, or any structure that contains them, such as a list of the ranks'
    ``StatefulDataLoader.state_dict()``. Together the consumers must have taken the first elements of the
    order and no others. That is so after every step of all ranks if each element is a batch.
    """
    single = list(_find(states))
    for state in single:
        check_state(state)
    found = _by_consumer(single)
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
