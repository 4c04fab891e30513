"""Batches of DataLoader workers travel in lent memory: what arrives, and that nothing is left behind."""

from __future__ import annotations

import errno
import itertools
import multiprocessing
import os
import signal
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.processes import lent_memory
from tests.interop.test_torch import SPEC, descriptors, examples, loader, settle
from tests.support.interop import interop
from tests.support.settings import LONG

torch = interop("torch")
data = pytest.importorskip("torch.utils.data")
import purerecord.torch as prt  # noqa: E402 - only where torch is
from purerecord import torch_workers  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:This DataLoader will create",  # the machine may have few CPUs
    "ignore:.*set_vital.*",
    "ignore:.*use of fork.*",
    "ignore:.*multi-threaded, use of fork",
    "ignore:.*pin_memory.*",  # there is no accelerator
    "ignore:.*nested tensors.*",
    "ignore:Sparse invariant checks",
)
FIXED = {name: spec for name, spec in SPEC.items() if isinstance(spec, pr.FixedLenFeature)}
METHODS = ["fork", "forkserver", "spawn"]


@pytest.fixture(autouse=True)
def _lent_at_once(monkeypatch):
    """As after the first batches: the workers know that this process can open their memory."""
    settle()
    monkeypatch.setattr(lent_memory, "_opened", [None])


def mapped() -> int:
    """How many buffers of workers this process has mapped."""
    with open("/proc/self/maps") as maps:
        return sum("memfd:purerecord" in line for line in maps)


def plain(element: Any) -> Any:
    """An element as something that can be compared, with the types of its parts."""
    if isinstance(element, torch.Tensor):
        if element.is_nested:
            return [plain(part) for part in element.unbind()]
        dense = element.to_dense()
        return type(element), element.layout, element.dtype, tuple(element.shape), dense.tolist()
    if isinstance(element, dict):
        return type(element), {name: plain(part) for name, part in element.items()}
    if isinstance(element, (list, tuple)):
        return type(element), [plain(part) for part in element]
    return type(element), element


class Pair(NamedTuple):
    left: Any
    right: Any


def long_strings(number: int, count: int = 4) -> np.ndarray:
    strings = np.empty(count, object)
    strings[:] = [bytes([number + row]) * (row * 3000) for row in range(count)]
    return strings


def everything(number: int) -> dict[str, Any]:
    values = np.arange(number, number + 3)
    return {
        "int": np.full((50, 3), number),
        "float": np.full((40,), number, np.float32),
        "bool": values > number,
        "scalar": np.array(number, np.int16),
        "number": number,
        "empty": np.empty((0, 4), np.float64),
        "long": long_strings(number),
        "short": np.array([b"a\0", b"", b"%d" % number], object),
        "text": np.array(["ä", "b"], object),
        "raw": pr.Records.of([b"x" * 1000, b"y" * number]),
        "one": b"z" * 5000,
        "ragged": pr.Ragged(np.arange(5), np.array([0, 2, 2, 5])),
        "words": pr.Ragged.from_rows([[b"a"], [b"b" * 2000, b"c"]]),
        "sparse": pr.Sparse([[0, 1], [2, 0]], np.array([5, number]), (3, 2)),
        "deep": {"x": values, "pair": Pair(values, (values * 2, b"w"))},
        "none": None,
    }


def pair(number: int) -> tuple[Any, ...]:
    return np.full(100, number), Pair(np.full((2, 2), number / 2), long_strings(number))


CHAINS = {
    "dicts": lambda: Dataset.range(12).map(everything),
    "tuples": lambda: Dataset.range(12).map(pair),
    "numbers": lambda: Dataset.range(12),
    "batches of numbers": lambda: Dataset.range(12).batch(5),
}


# What arrives


@pytest.mark.parametrize(
    ("method", "ragged"),
    [("fork", "padded"), ("fork", "list"), ("fork", "nested"), ("forkserver", "padded"), ("spawn", "list")],
)
def test_everything_arrives_as_it_does_without_workers(method, ragged):
    for name, chain in CHAINS.items():
        shared = prt.IterableDataset(chain(), ragged=ragged)
        alone = [plain(element) for element in loader(shared)]
        shared.set_epoch(0)
        options = {"multiprocessing_context": method, "pin_memory": ragged == "padded"}
        workers = 2 if method == "fork" else 1  # others start slowly
        assert [plain(element) for element in loader(shared, workers, **options)] == alone, name
        if method != "fork":
            break


def columns_of_one_batch(batch: dict[str, Any]) -> set[int]:
    """The buffers in which the tensors of a batch lie, as the addresses where these begin."""
    with open("/proc/self/maps") as maps:
        ranges = [
            tuple(int(end, 16) for end in line.split()[0].split("-"))
            for line in maps
            if "memfd:purerecord" in line
        ]
    tensors = [part for part in batch.values() if isinstance(part, torch.Tensor)]
    return {next((low for low, high in ranges if low <= tensor.data_ptr() < high), -1) for tensor in tensors}


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_lies_in_one_buffer_and_its_tensors_are_plain(method, tmp_path):
    pattern = examples(tmp_path, 60)
    chain = TFRecordDataset(pattern).batch(10).parse(SPEC)
    kinds = {
        "iterable": loader(prt.IterableDataset(chain), 1, multiprocessing_context=method),
        "map": data.DataLoader(
            prt.MapDataset(pattern, FIXED), 10, num_workers=1, multiprocessing_context=method
        ),
    }
    if method == "spawn":
        del kinds["map"]
    for kind, loaded in kinds.items():
        batches = list(itertools.islice(loaded, 6))
        found = [columns_of_one_batch(batch) for batch in batches]
        # The first message finds out how large a buffer must be. Those of spawned workers offer memory first.
        assert any(len(some) == 1 and some != {-1} for some in found), kind
        assert all(type(part) in (torch.Tensor, list) for batch in batches for part in batch.values())
        assert all(type(name) is bytes for batch in batches for name in batch["name"])


def test_batches_are_the_callers_own(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(3).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain))]
    kept = list(loader(prt.IterableDataset(chain), 2))
    assert [plain(batch) for batch in kept] == alone
    for batch in loader(prt.IterableDataset(chain), 2):  # writing into one changes no other
        batch["x"].zero_()
        batch["id"] += 1
    assert [plain(batch) for batch in kept] == alone
    views = [batch["x"].numpy()[1:, ::2] for batch in loader(prt.IterableDataset(chain), 2)]
    assert [view.tolist() for view in views] == [batch["x"][1:, ::2].tolist() for batch in kept]


def twice(batch: dict[str, Any]) -> list[Any]:
    x = batch["x"]
    return [x, x[1:, :2], x.view(-1), x.expand(2, *x.shape), [batch["name"], torch.stack([x, x])]]


def test_collate_fn_of_the_user_gets_and_gives_what_it_likes(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(4).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain), collate_fn=twice)]
    for x, part, flat, *_ in loader(prt.IterableDataset(chain), 2, collate_fn=twice):
        x[1, 0] = 77  # views of one tensor stay views of one
        assert part[0, 0] == flat[3] == 77
    assert [plain(batch) for batch in loader(prt.IterableDataset(chain), 2, collate_fn=twice)] == alone


@pytest.mark.parametrize("persistent", [False, True])
def test_stateful_loader_and_options_of_torch_change_nothing(persistent, tmp_path):
    stateful = interop("torchdata.stateful_dataloader")
    chain = TFRecordDataset(examples(tmp_path, 60)).shuffle(20, seed=1).batch(4).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain))]
    for kind in (data.DataLoader, stateful.StatefulDataLoader):
        for prefetch in (1, 30):
            shared = prt.IterableDataset(chain)
            loaded = kind(
                shared, None, num_workers=2, prefetch_factor=prefetch, persistent_workers=persistent
            )
            for _ in range(2):
                shared.set_epoch(0)
                assert [plain(batch) for batch in loaded] == alone
            del loaded


# Nothing is left behind


class Resources:
    """What this process has open, mapped and running; compares it with what it had."""

    def __init__(self) -> None:
        settle()
        self._before = self._now()

    def _now(self) -> tuple[Any, ...]:
        return descriptors(), mapped(), len(lent_memory._received)

    def check(self) -> None:
        settle()
        assert not multiprocessing.active_children()
        assert self._now() == self._before


def test_loop_that_is_left_early_leaves_nothing_behind(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(2).parse(SPEC)
    resources = Resources()
    for steps in (0, 1, 5):
        loaded = loader(prt.IterableDataset(chain), 2)
        kept = list(itertools.islice(loaded, steps))
        del loaded
        assert [len(batch["id"]) for batch in kept] == [2] * steps
        del kept
        resources.check()


def test_loop_that_is_left_early_can_be_begun_again_with_the_same_workers(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(2).parse(SPEC)
    shared = prt.IterableDataset(chain)
    alone = [plain(batch) for batch in loader(shared)]
    resources = Resources()
    loaded = loader(shared, 2, persistent_workers=True)
    for steps in (3, 0, 7, None):
        shared.set_epoch(0)
        assert [plain(batch) for batch in itertools.islice(loaded, steps)] == alone[:steps]
    del loaded
    resources.check()


@pytest.mark.parametrize("kept", [0, 3])
def test_killed_worker_is_an_error_and_leaves_nothing_behind(kept, tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).repeat(100).batch(2).parse(SPEC)
    resources = Resources()

    def run() -> list[Any]:
        batches = iter(loader(prt.IterableDataset(chain), 2))
        first = list(itertools.islice(batches, kept))
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="DataLoader worker"):
            for _ in batches:
                pass
        return [plain(batch) for batch in first]

    before = [plain(batch) for batch in itertools.islice(prt.IterableDataset(chain), kept)]
    assert run() == before
    resources.check()


def fail_at_seven(number: int) -> np.ndarray:
    if number == 7:
        raise ValueError("seven")
    return np.arange(1000)


def test_error_in_a_worker_arrives_and_leaves_nothing_behind():
    resources = Resources()

    def run() -> list[int]:
        got: list[int] = []
        shared = prt.IterableDataset(Dataset.range(20).map(fail_at_seven))
        with pytest.raises(ValueError, match="seven"):
            got.extend(len(batch) for batch in loader(shared, 1))  # torch waits 5 seconds for each
        return got

    assert run() == [1000] * 7
    resources.check()


def test_without_memory_torch_sends_the_batches_and_it_is_said_once(tmp_path, monkeypatch):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(4).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain))]

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fail)  # in the workers, which are forked
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        batches = list(loader(prt.IterableDataset(chain), 2, multiprocessing_context="fork"))
    assert [plain(batch) for batch in batches] == alone
    said = [str(warning.message) for warning in caught if "memory" in str(warning.message)]
    assert len(said) == 1
    assert "No space left" in said[0]


def test_where_memory_cannot_be_opened_torch_sends_the_batches(tmp_path, monkeypatch):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(4).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain))]
    monkeypatch.setattr(lent_memory, "_opened", [])

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(lent_memory, "_map", refuse)
    assert [plain(batch) for batch in loader(prt.IterableDataset(chain), 2)] == alone
    assert not lent_memory._opened
    monkeypatch.undo()
    monkeypatch.setattr(lent_memory, "_opened", [])
    assert [plain(batch) for batch in loader(prt.IterableDataset(chain), 2)] == alone
    assert lent_memory._opened  # the first batches have brought an offer


def test_second_loader_that_forks_while_batches_are_held_spoils_none(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 60)).batch(2).parse(SPEC)
    alone = [plain(batch) for batch in loader(prt.IterableDataset(chain))]
    held, seen = [], []
    for batch in loader(prt.IterableDataset(chain), 2, multiprocessing_context="fork"):
        held = [*held[-2:], batch]
        inner = next(iter(loader(prt.IterableDataset(chain), 1, multiprocessing_context="fork")))
        assert plain(inner) == alone[0]
        seen.append([plain(part) for part in held])
        if len(seen) == 6:
            break
    assert seen == [alone[max(0, end - 3) : end] for end in range(1, 7)]


def test_process_that_a_worker_forks_lends_nothing():
    torch_workers._lenders.append(lent_memory.Lender())
    child = os.fork()
    if not child:
        os._exit(len(torch_workers._lenders))
    torch_workers._lenders.clear()
    assert os.waitpid(child, 0)[1] == 0


def resident() -> int:
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_epoch_after_epoch_memory_and_descriptors_stay_flat(tmp_path):
    """With workers that start anew and with persistent ones: 200 epochs in the long form."""
    spec = {**SPEC, "image": pr.FixedLenFeature([], bytes, default_value=b"")}
    rng = np.random.default_rng(1)
    path = tmp_path / "images.tfrecord"
    with pr.TFRecordWriter(path) as writer:
        for number in range(64):
            image = rng.bytes(int(rng.integers(5_000, 40_000)))
            writer.write(
                pr.encode_example({"id": number, "x": [1.0, 2.0, 3.0], "name": b"n", "image": image})
            )
    chain = TFRecordDataset(path).shuffle(16, seed=1).batch(4).parse(spec)
    for persistent in (False, True):
        resources = Resources()
        shared = prt.IterableDataset(chain)
        loaded = loader(shared, 2, persistent_workers=persistent)
        sizes = []
        for epoch in range(100 if LONG else 6):
            shared.set_epoch(epoch)
            seen = [number for batch in loaded for number in batch["id"].tolist()]
            assert sorted(seen) == list(range(64))
            sizes.append((resident(), descriptors(), mapped()))
        settled = sizes[2:]
        assert max(size for size, *_ in settled) - settled[0][0] < 32 << 20
        assert max(mapped for *_, mapped in settled) <= 2 * lent_memory._MOST_LENT
        assert len({count for _, count, _ in settled[::3]}) <= 3
        del loaded, shared
        resources.check()
