"""What the tests of datasets share: files to read, and what must hold for every chain."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

import purerecord as pr
from purerecord.dataset import Dataset
from purerecord.dataset.engine.states import merge_states
from tests.support.settings import sampled


def write_files(folder: Path, counts: list[int], compression: str = "", size: int = 0) -> list[str]:
    """Files with so many records each, numbered through; each record is its number, filled up to ``size``."""
    numbers = itertools.count()
    paths = []
    for place, count in enumerate(counts):
        path = str(folder / f"part-{place}.tfrecord")
        with pr.TFRecordWriter(path, compression) as writer:
            writer.write_many([b"%d" % next(numbers) + bytes(size) for _ in range(count)])
        paths.append(path)
    return paths


def numbered(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def plain(element: Any) -> Any:
    """An element as something that can be compared."""
    if isinstance(element, dict):
        return {name: plain(part) for name, part in element.items()}
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    if isinstance(element, (pr.Records, list)):
        return [plain(part) for part in element]
    return element.tolist() if isinstance(element, (np.ndarray, np.generic)) else element


def elements(iterator: Any, count: int | None = None) -> list[Any]:
    return [plain(element) for element in itertools.islice(iterator, count)]


def outcomes(iterator: Any) -> list[Any]:
    """What comes of at most 50 elements, errors too."""
    seen: list[Any] = []
    while len(seen) < 50:
        try:
            seen.append(next(iterator))
        except StopIteration:
            break
        except RuntimeError as error:
            seen.append(f"error {error}")
    return seen


def saved(iterator: Any) -> dict[str, Any]:
    """A state that has been to a file and back."""
    return json.loads(json.dumps(iterator.state_dict()))


def check_shares(dataset: Dataset, whole: list[Any], epoch: int) -> None:
    """Every consumer gets every n-th element; with even steps, all the same number."""
    consumers = [
        (ranks, workers, rank, worker)
        for ranks, workers in [(1, 2), (3, 1), (2, 2)]
        for rank, worker in itertools.product(range(ranks), range(workers))
    ]
    for ranks, workers, rank, worker in sampled(consumers, 4):
        who = {"rank": rank, "world_size": ranks, "worker": worker, "workers": workers}
        place, count = rank + ranks * worker, ranks * workers
        assert elements(dataset.iterator(epoch, **who)) == whole[place::count]
        kept = whole[: len(whole) // ranks * ranks]
        assert elements(dataset.iterator(epoch, even="drop", **who)) == kept[place::count]
        padded = whole + [whole[n % len(whole)] for n in range(-len(whole) % ranks)] if whole else []
        assert elements(dataset.iterator(epoch, even="pad", **who)) == padded[place::count]


def check_resume(dataset: Dataset, whole: list[Any], epoch: int, every: int) -> None:
    """Stopped anywhere, and going on in a new iterator, the elements are those of one run."""
    for stop in sampled(range(0, len(whole) + 1, every), 3):
        first = dataset.iterator(epoch)
        begin = elements(first, stop)
        state = saved(first)
        assert begin + elements(first) == whole, "taking a state changed the run"
        second = dataset.iterator(0)
        second.load_state_dict(state)
        assert second.epoch == epoch
        middle = elements(second, 2)
        third = dataset.iterator(0)
        third.load_state_dict(saved(second))
        assert begin + middle + elements(third) == whole, f"stopped after {stop}"


def check_resize(dataset: Dataset, whole: list[Any], epoch: int) -> None:
    """Other numbers of consumers go on where some have stopped, in step or not."""
    resizes = [
        (before, after, steps, extra)
        for before, after in [(1, 3), (2, 1), (3, 2)]
        for steps in range(0, len(whole) // before + 2, 5)
        for extra in range(before)
    ]
    for before, after, steps, extra in sampled(resizes, 7):
        its = [dataset.iterator(epoch, rank=rank, world_size=before) for rank in range(before)]
        had = [elements(it, steps + (rank < extra)) for rank, it in enumerate(its)]
        taken = sum(map(len, had))
        state = saved(its[-1])
        if extra:
            state = json.loads(json.dumps(merge_states([it.state_dict() for it in its])))
        rest: list[Any] = [None] * (len(whole) - taken)
        for rank in range(after):
            it = dataset.iterator(0, rank=rank, world_size=after)
            it.load_state_dict(state)
            rest[rank::after] = elements(it)
        assert rest == whole[taken:], (before, after, steps, extra)


def check(dataset: Dataset, *, epoch: int = 1, every: int = 5) -> list[Any]:
    """All that must hold for every chain; the elements of an epoch."""
    whole = elements(dataset.iterator(epoch))
    assert elements(dataset.iterator(epoch)) == whole, "an epoch is the same each time"
    try:
        size = len(dataset)
    except TypeError:
        pass
    else:
        assert size == len(whole)
    check_shares(dataset, whole, epoch)
    check_resume(dataset, whole, epoch, every)
    check_resize(dataset, whole, epoch)
    return whole
