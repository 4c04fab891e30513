"""Datasets after something went wrong: errors, Ctrl-C and forks at any moment of any chain.

Whoever goes on with the same iterator gets exactly what comes next. The chains are random; a number in the
name of a test is the seed of its chain.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from purerecord import ClosedError
from purerecord.dataset import Dataset, DatasetIterator, TFRecordDataset
from tests.support.damage import flip_byte
from tests.support.dataset_properties import plain, saved, write_files
from tests.support.interruptions import Moments
from tests.support.settings import tries

# Python may be interrupted when a file is open, but nobody holds it yet.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

PARENT = os.getpid()
this_module = sys.modules[__name__]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


class FailedOnPurposeError(Exception):
    """What the functions of the chains raise."""


class DiskError(OSError):
    """What reading a file raises in some tests."""


def called() -> None:
    """The functions of the chains call it; tests replace it."""


def mix(value: int) -> int:
    called()
    return (int(value) * 7 + 3) % 1009


def fail_at_some(value: int) -> int:
    called()
    if value % 11 == 5:
        raise FailedOnPurposeError(value)
    return value


def keep(value: int) -> bool:
    called()
    return value % 7 != 3


def keep_or_fail(value: int) -> bool:
    return keep(fail_at_some(value))


def add(first: int, second: int) -> int:
    return mix(int(first) + 3 * int(second))


def several(value: int) -> Dataset:
    called()
    return Dataset.range(value, value + value % 4).map(mix)


def draw(value: int, random: np.random.Generator) -> int:
    return mix(value + int(random.integers(100)))


def as_sequence(value: int) -> Any:
    called()
    return np.full(value % 5, value)


def count_up() -> Any:
    return iter(range(70))


Source = Callable[[Path], Dataset]
Step = Callable[[Dataset, Path], Dataset]


def plain_files(folder: Path) -> Dataset:
    return TFRecordDataset(write_files(folder, [25, 0, 40])).map(int)


def gzip_files(folder: Path) -> Dataset:
    return TFRecordDataset(write_files(folder, [40, 25], "GZIP")).map(int)


def damaged_files(folder: Path) -> Dataset:
    paths = write_files(folder, [30, 40])
    Path(paths[1]).write_bytes(flip_byte(Path(paths[1]).read_bytes(), 300))
    return TFRecordDataset(paths, on_error="skip").map(int)


SOURCES: list[Source] = [
    plain_files,
    plain_files,
    gzip_files,
    damaged_files,
    lambda folder: TFRecordDataset(write_files(folder, [25, 0, 40])).global_shuffle(2).map(int),
    lambda folder: Dataset.range(70),
    lambda folder: Dataset.from_generator(count_up),
]
# Of whole numbers, whole numbers. These keep the place of an element that failed.
PLACES_STAY: dict[str, Step] = {
    "map": lambda ds, folder: ds.map(mix),
    "map that fails": lambda ds, folder: ds.map(fail_at_some),
    "map with a seed": lambda ds, folder: ds.map(draw, seed=2),
    "map in threads": lambda ds, folder: ds.map(mix, 2),
    "map in threads that fails": lambda ds, folder: ds.map(fail_at_some, 3),
    "shuffle": lambda ds, folder: ds.shuffle(9, seed=4),
    "shuffle in a large window": lambda ds, folder: ds.shuffle(500),
    "shard": lambda ds, folder: ds.shard(2, 1),
    "take": lambda ds, folder: ds.take(50),
    "skip": lambda ds, folder: ds.skip(3),
    "cache": lambda ds, folder: ds.cache(),
    "cache in a file": lambda ds, folder: ds.cache(folder / f"cache {crc32(repr(ds).encode())}"),
    "prefetch": lambda ds, folder: ds.prefetch(3),
    "enumerate": lambda ds, folder: ds.enumerate(5).map(add),
    "zip": lambda ds, folder: Dataset.zip(ds, ds.shuffle(4)).map(add),
    "concatenate": lambda ds, folder: ds.concatenate(ds.take(9)),
    "sample": lambda ds, folder: Dataset.sample([ds, Dataset.range(20)], [0.7, 0.3], seed=1),
    "repeat": lambda ds, folder: ds.take(25).repeat(2),
}
STEPS: dict[str, Step] = {
    **PLACES_STAY,
    "filter": lambda ds, folder: ds.filter(keep),
    "filter that fails": lambda ds, folder: ds.filter(keep_or_fail),
    "pack": lambda ds, folder: ds.map(as_sequence).pack(3).map(np.sum).map(mix),
    "batch and unbatch": lambda ds, folder: ds.batch(4).unbatch(),
    "interleave": lambda ds, folder: ds.interleave(several, 3, 2),
}


THREADS = ("map in threads", "map in threads that fails", "prefetch")


class Chain:
    """A random chain, the same for the same seed; each copy has a folder, and so caches, of its own."""

    def __init__(self, seed: str, folder: Path, steps: dict[str, Step] = STEPS, batched: bool = True) -> None:
        random = Random(seed)
        self._source = random.choice(SOURCES)
        self.names = random.choices(list(steps), k=random.randint(1, 5))
        self._batched = batched and random.random() < 0.3
        ranks = random.choice([1, 1, 1, 2, 3])
        self._who = {"rank": random.randrange(ranks), "world_size": ranks}
        self._folder = folder
        self._copies = itertools.count()

    def dataset(self, without: str = "") -> Dataset:
        """A copy; without the steps whose name ends with ``without``."""
        folder = self._folder / str(next(self._copies))
        folder.mkdir()
        dataset = self._source(folder)
        for name in self.names:
            if not without or not name.endswith(without):
                dataset = STEPS[name](dataset, folder)
        return dataset.batch(3) if self._batched else dataset

    def iterator(self, dataset: Dataset) -> DatasetIterator:
        return dataset.iterator(1, **self._who)


def go_on(
    iterator: DatasetIterator, seen: list[Any], after_interrupt: Callable[[], None] = lambda: None
) -> list[Any]:
    """All outcomes, errors of the functions too; after anything else that is raised, ask again."""
    while True:
        try:
            element = next(iterator)
        except StopIteration:
            return seen
        except FailedOnPurposeError as error:
            seen.append(f"failed at {error}")
        except KeyboardInterrupt:
            after_interrupt()
        except DiskError:
            pass
        except (ClosedError, RuntimeError):  # in a process that was forked while it computed an element
            assert os.getpid() != PARENT
        else:
            seen.append(plain(element))


def expected_of(chain: Chain) -> list[Any]:
    return go_on(chain.iterator(chain.dataset()), [])


def moments_of(chain: Chain, seed: int, count: int) -> list[int]:
    """Some moments of a run."""
    iterator = chain.iterator(chain.dataset())
    with Moments().counted() as moments:
        go_on(iterator, [])
    return Random(seed).choices(range(1, moments.count + 1), k=tries(count))


@pytest.mark.light(15)
@pytest.mark.parametrize("seed", range(90))
def test_elements_that_fail_leave_all_others_in_their_places(seed, tmp_path):
    chain = Chain(f"places {seed}", tmp_path, PLACES_STAY, batched=False)
    clean = go_on(chain.iterator(chain.dataset(without="that fails")), [])
    seen = expected_of(chain)
    assert [found for found in seen if isinstance(found, int)] == [
        whole for found, whole in zip(seen, clean, strict=True) if isinstance(found, int)
    ]


@pytest.mark.light(6)
@pytest.mark.parametrize("seed", range(90))
def test_an_iterator_that_was_interrupted_goes_on_exactly_there(seed, tmp_path):
    chain = Chain(f"interrupt {seed}", tmp_path)
    expected = expected_of(chain)
    for at in moments_of(chain, seed, 6):
        dataset = chain.dataset()
        iterator, seen = chain.iterator(dataset), []

        def resume(iterator: DatasetIterator, dataset: Dataset = dataset, seen: list[Any] = seen) -> None:
            """A new iterator goes on too; soon after an error it may begin with that error."""
            other = chain.iterator(dataset)
            other.load_state_dict(saved(iterator))
            rest = go_on(other, [])
            again = isinstance(seen[-1], str) if seen else False
            assert rest == expected[len(seen) :] or (again and rest == expected[len(seen) - 1 :])

        with Moments(at, times=3).counted():
            assert go_on(iterator, seen) == expected, (chain.names, at)
        iterator = chain.iterator(dataset)
        seen.clear()
        with Moments(at).counted():
            assert go_on(iterator, seen, partial(resume, iterator)) == expected, (chain.names, at)


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="files are read by another function here")
@pytest.mark.light(6)
@pytest.mark.parametrize("seed", range(60))
def test_after_an_error_of_the_disk_the_same_element_is_tried_again(seed, tmp_path, monkeypatch):
    chain = Chain(f"disk {seed}", tmp_path)
    expected = expected_of(chain)
    random = Random(seed)
    for calls in random.choices(range(1, 12), k=tries(9)):
        iterator = chain.iterator(chain.dataset())
        countdown = itertools.count(calls, -1)
        with monkeypatch.context() as patch:
            for name in ("pread", "preadv"):
                patch.setattr(os, name, fails_once(getattr(os, name), countdown))
            assert go_on(iterator, []) == expected, (chain.names, calls)


def fails_once(read: Callable[..., Any], countdown: Iterator[int]) -> Callable[..., Any]:
    def read_or_fail(*arguments: Any) -> Any:
        if next(countdown) == 0:
            raise DiskError
        return read(*arguments)

    return read_or_fail


@needs_fork
@pytest.mark.light(6)
@pytest.mark.parametrize("seed", range(60))
def test_parent_and_child_go_on_exactly_where_another_thread_forked(seed, tmp_path):
    chain = Chain(f"fork {seed}", tmp_path)
    expected = expected_of(chain)
    for at in moments_of(chain, seed, 6):
        iterator, seen = chain.iterator(chain.dataset()), []
        children: list[int] = []

        def fork(iterator: Any = iterator, seen: list[Any] = seen, children: list[int] = children) -> None:
            child = os.fork()
            if not child:
                check_in_child(lambda: go_on(iterator, list(seen)) == expected)
            children.append(child)

        def fork_in_thread(fork: Callable[[], None] = fork) -> None:
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()

        with Moments(at, fork_in_thread).counted():
            assert go_on(iterator, seen) == expected, (chain.names, at)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children), (chain.names, at)


@needs_fork
@pytest.mark.light(6)
@pytest.mark.parametrize("seed", range(60))
def test_parent_and_child_go_on_exactly_after_a_function_of_the_chain_has_forked(seed, tmp_path, monkeypatch):
    chain = Chain(f"own fork {seed}", tmp_path, {name: STEPS[name] for name in STEPS if name not in THREADS})
    expected = expected_of(chain)
    for at in Random(seed).choices(range(1, 120), k=tries(6)):
        iterator = chain.iterator(chain.dataset())
        children: list[int] = []
        countdown = itertools.count(at, -1)

        def fork_at(children: list[int] = children, countdown: Iterator[int] = countdown) -> None:
            if next(countdown) == 0:
                children.append(os.fork())
                if children == [0]:
                    signal.alarm(30)  # kills a child that hangs

        monkeypatch.setattr(this_module, "called", fork_at)
        seen = go_on(iterator, [])
        if children == [0]:
            os._exit(0 if seen == expected else 1)
        assert seen == expected, (chain.names, at)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children), (chain.names, at)


def check_in_child(check: Callable[[], bool]) -> None:
    """End a forked process, with status 0 if the check holds."""
    signal.alarm(30)  # kills a child that hangs
    try:
        os._exit(0 if check() else 1)
    finally:
        os._exit(2)
