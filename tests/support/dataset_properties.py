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


def odd(record: bytes) -> bool:
    return int(record) % 2 == 1


def double(record: bytes) -> bytes:
    return record * 2


def draw(record: bytes, random: np.random.Generator) -> tuple[bytes, int]:
    return record, int(random.integers(1 << 30))


def fail_at_five(number: int) -> int:
    if number == 5:
        raise RuntimeError("five")
    return number


def with_path(dataset: Dataset) -> Dataset:
    """The same files, as pairs of path and record."""
    return pr.TFRecordDataset(dataset._node.paths, with_path=True)


# One chain for each transform and for combinations of them, over a dataset of 47 records in 4 files. A new
# transform gets a row here: then workers, ranks, resuming and changing their number are tested for it.
CHAINS = {
    "records": lambda ds: ds,
    "batch": lambda ds: ds.batch(4),
    "batch, remainder dropped": lambda ds: ds.batch(4, drop_remainder=True),
    "shuffle": lambda ds: ds.shuffle(10, seed=3),
    "shuffle in a window larger than all": lambda ds: ds.shuffle(100),
    "shuffle of batches": lambda ds: ds.batch(3).shuffle(4),
    "shuffle twice": lambda ds: ds.shuffle(5).shuffle(7).batch(2),
    "unbatch": lambda ds: ds.batch(4).unbatch(),
    "map": lambda ds: ds.map(double),
    "map in threads": lambda ds: ds.shuffle(8).map(double, 2).batch(3),
    "map with a seed": lambda ds: ds.map(draw, seed=5).batch(4),
    "map with a seed in threads": lambda ds: ds.shuffle(8).map(draw, 2, seed=5),
    "map with a seed, shuffled": lambda ds: ds.map(draw, seed=5).shuffle(6),
    "filter": lambda ds: ds.filter(odd),
    "filter, shuffled and batched": lambda ds: ds.filter(odd).shuffle(6).batch(4),
    "pack": lambda ds: ds.map(lambda record: np.frombuffer(record, np.uint8)).pack(5),
    "repeat": lambda ds: ds.take(11).shuffle(6).repeat(3).batch(4),
    "take and skip": lambda ds: ds.skip(4).take(30),
    "shard": lambda ds: ds.shard(3, 1),
    "cache": lambda ds: ds.cache().batch(3),
    "prefetch": lambda ds: ds.shuffle(5).batch(3).prefetch(2),
    "prefetch of records": lambda ds: ds.prefetch(4),
    "threads and prefetch below batches": lambda ds: ds.map(double, 3).prefetch(2).batch(4).prefetch(1),
    "zip": lambda ds: Dataset.zip(ds, ds.shuffle(5), ds.batch(2)),
    "enumerate": lambda ds: ds.shuffle(4).enumerate(10),
    "concatenate": lambda ds: ds.concatenate(ds.shuffle(9)).batch(5),
    "sample": lambda ds: Dataset.sample([ds, ds.shuffle(5).take(20)], [0.3, 0.7], seed=2),
    "parallel": lambda ds: ds.batch(4).parallel(2),
    "parallel, shuffled before and behind": lambda ds: ds.shuffle(6).batch(3).parallel(3).shuffle(4),
    "with path": with_path,
    "with path, shuffled, mapped and batched": lambda ds: (
        with_path(ds).shuffle(6).map(lambda path, record: (path[-1:], record, len(record))).batch(4)
    ),
    "with path, shuffled over all": lambda ds: with_path(ds).global_shuffle(3).batch(4).unbatch(),
    "interleave": lambda ds: ds.take(7).interleave(lambda r: Dataset.range(int(r)), 3, 2),
}
