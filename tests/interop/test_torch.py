"""PyTorch: real DataLoader workers, ranks, samplers, StatefulDataLoader and DistributedDataParallel."""

from __future__ import annotations

import gc
import itertools
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import numbered, write_files
from tests.support.doc_pages import run_blocks
from tests.support.interop import interop, run_page
from tests.support.pictures import drawn, saved
from tests.support.places import ROOT
from tests.support.settings import CAMPAIGN

torch = interop("torch")
data = pytest.importorskip("torch.utils.data")
import purerecord.torch as prt  # noqa: E402 - only where torch is

pytestmark = pytest.mark.filterwarnings(
    "ignore:This DataLoader will create",  # the machine may have few CPUs
    "ignore:.*set_vital.*",
    "ignore:.*use of fork.*",
    "ignore:.*multi-threaded, use of fork",
)

SPEC = {
    "id": pr.FixedLenFeature([], np.int64),
    "x": pr.FixedLenFeature([3], np.float32),
    "tags": pr.RaggedFeature(np.int64),
    "name": pr.FixedLenFeature([], bytes),
}


def examples(folder: Path, count: int = 30, shards: int = 3) -> str:
    lengths = np.arange(count) % 4
    columns = {
        "id": np.arange(count),
        "x": np.arange(3 * count, dtype=np.float32).reshape(count, 3),
        "tags": pr.Ragged(np.arange(lengths.sum()), np.append(0, np.cumsum(lengths))),
        "name": np.array([b"n%d\0" % n for n in range(count)], object),
    }
    pattern = str(folder / f"examples@{shards}.tfrecord")
    with pr.ShardedWriter(pattern) as writer:
        writer.write_many(pr.encode_examples(columns))
    return pattern


def loader(dataset, workers=0, **options):
    return data.DataLoader(dataset, batch_size=None, num_workers=workers, **options)


def ids(batches) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


def settle() -> None:
    """Wait for the threads of torch's queues, which end a little after their loader."""
    gc.collect()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(10)
    gc.collect()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0


# Exactly once: files x workers x ranks x compression x shuffle, thinned out so that each pair occurs.

AXES = [(1, 3, 10), (0, 1, 2, 4), (1, 2, 3), ("", "GZIP"), ("none", "window", "records")]


def covering(axes: list[tuple]) -> list[tuple]:
    """Combinations in which every pair of values of two axes occurs."""

    def pairs(point):
        return {(a, b, point[a], point[b]) for a, b in itertools.combinations(range(len(axes)), 2)}

    left = set().union(*(pairs(point) for point in itertools.product(*axes)))
    chosen = []
    while left:
        best = max(itertools.product(*axes), key=lambda point: len(pairs(point) & left))
        chosen.append(best)
        left -= pairs(best)
    return chosen


GRID = covering(AXES) if CAMPAIGN == 1 else list(itertools.product(*AXES))


@pytest.mark.parametrize(("files", "workers", "ranks", "compression", "shuffle"), GRID, ids=str)
def test_every_record_comes_exactly_once(  # noqa: PLR0917 - the axes of the grid
    files, workers, ranks, compression, shuffle, tmp_path
):
    counts = [(7 * place) % 13 for place in range(1, files + 1)]
    paths = write_files(tmp_path, counts, compression)
    before = descriptors(), threading.active_count()
    dataset = TFRecordDataset(paths)
    chain = {
        "none": lambda: dataset.batch(3),
        "window": lambda: dataset.shuffle(8, seed=1).batch(3).prefetch(2),
        "records": lambda: dataset.shuffle(8, seed=1),
    }[shuffle]()
    got: list[bytes] = []
    for rank in range(ranks):
        shared = prt.IterableDataset(chain, rank=rank, world_size=ranks)
        if shuffle == "records":
            loaded = data.DataLoader(shared, batch_size=4, num_workers=workers, collate_fn=list)
        else:
            loaded = loader(shared, workers)
        got += [record for batch in loaded for record in batch]
        del loaded, shared
    assert Counter(got) == Counter(numbered(sum(counts)))
    assert not multiprocessing.active_children()
    settle()
    assert (descriptors(), threading.active_count()) == before


@pytest.mark.parametrize("even", ["drop", "pad"])
def test_even_gives_every_rank_as_many_steps(even, tmp_path):
    chain = TFRecordDataset(write_files(tmp_path, [10, 1])).batch(2)  # 6 batches for 4 ranks
    for workers in (0, 2):
        shares = [prt.IterableDataset(chain, rank=rank, world_size=4, even=even) for rank in range(4)]
        steps = [list(loader(share, workers)) for share in shares]
        assert (
            [len(share) for share in shares]
            == [len(step) for step in steps]
            == [1 if even == "drop" else 2] * 4
        )
        records = {record for step in steps for batch in step for record in batch}
        assert records == set(numbered(8 if even == "drop" else 11))


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_with_files_of_their_own_go_on_after_any_step(workers, tmp_path):
    stateful = interop("torchdata.stateful_dataloader")
    chain = TFRecordDataset(write_files(tmp_path, [7, 4, 1, 5, 3], "GZIP")).shuffle(3, seed=1).batch(2)

    def make():
        shares = prt.IterableDataset(chain, rank=1, world_size=2, share="files")
        return stateful.StatefulDataLoader(shares, batch_size=None, num_workers=workers)

    whole = list(make())
    records = [record for batch in whole for record in batch]
    assert Counter(records) == Counter(numbered(20)[7:11] + numbered(20)[12:17])
    first = make()
    begin = list(itertools.islice(first, 3))
    second = make()
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert begin + list(second) == whole
    with pytest.raises(TypeError, match="depends on the files"):
        len(prt.IterableDataset(chain, share="files"))
    with pytest.raises(ValueError, match="share must be"):
        prt.IterableDataset(chain, share="file")


def test_a_rank_gets_the_same_order_from_any_number_of_workers(tmp_path):
    chain = TFRecordDataset(examples(tmp_path)).shuffle(10, seed=2).batch(4).parse(SPEC).prefetch(2)
    for rank in range(2):
        shared = prt.IterableDataset(chain, rank=rank, world_size=2)
        orders = []
        for workers in (0, 1, 3):
            shared.set_epoch(5)
            orders.append(ids(loader(shared, workers)))
        assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_every_start_method_gives_the_same(method, tmp_path):
    shared = prt.IterableDataset(TFRecordDataset(examples(tmp_path)).shuffle(9).batch(4).parse(SPEC))
    alone = ids(loader(shared))
    shared.set_epoch(0)
    assert ids(loader(shared, 2, multiprocessing_context=method)) == alone


def test_persistent_workers_reshuffle_each_epoch_and_follow_set_epoch(tmp_path):
    shared = prt.IterableDataset(TFRecordDataset(examples(tmp_path)).shuffle(20, seed=1).batch(4).parse(SPEC))
    alone = [ids(loader(shared)) for _ in range(3)]
    assert alone[0] != alone[1] != alone[2]
    shared.set_epoch(0)
    living = loader(shared, 2, persistent_workers=True)
    assert [ids(living), ids(living)] == alone[:2]
    shared.set_epoch(0)
    assert ids(living) == alone[0]
    shared.set_epoch(2)
    assert ids(living) == alone[2]


# Tensors


def test_columns_become_tensors_and_bytes_stay_bytes(tmp_path):
    chain = TFRecordDataset(examples(tmp_path, 4, 1)).batch(4).parse(SPEC)
    batch = next(iter(loader(prt.IterableDataset(chain))))
    assert batch["id"].dtype == torch.int64
    assert batch["x"].dtype == torch.float32
    assert batch["x"].shape == (4, 3)
    assert batch["name"] == [b"n0\0", b"n1\0", b"n2\0", b"n3\0"]
    assert batch["tags"].tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 0], [3, 4, 5]]


def test_ragged_becomes_padded_a_list_or_nested(tmp_path):
    column = pr.Ragged(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    assert prt.to_tensors(column, padding_value=-1).tolist() == [[1, 2], [-1, -1], [3, -1]]
    assert [row.tolist() for row in prt.to_tensors(column, ragged="list")] == [[1, 2], [], [3]]
    nested = prt.to_tensors(column, ragged="nested")
    assert [row.tolist() for row in nested.unbind()] == [[1, 2], [], [3]]
    deep = pr.Ragged(pr.Ragged(np.arange(3), [0, 1, 3]), [0, 2])
    assert [[row.tolist() for row in rows] for rows in prt.to_tensors(deep, ragged="list")] == [[[0], [1, 2]]]
    assert prt.to_tensors(deep).tolist() == [[[0, 0], [1, 2]]]
    with pytest.raises(ValueError, match="one ragged dimension"):
        prt.to_tensors(deep, ragged="nested")
    words = pr.Ragged.from_rows([[b"a"], [b"b", b"c"]])
    assert prt.to_tensors(words) == [[b"a"], [b"b", b"c"]]
    with pytest.raises(ValueError, match="ragged must be"):
        prt.IterableDataset(Dataset.range(3), ragged="dense")


def test_tensors_share_memory_where_torch_may_write():
    array = np.arange(5)
    assert prt.to_tensors(array).data_ptr() == array.ctypes.data
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prt.to_tensors(array).data_ptr() != array.ctypes.data


def test_arrays_that_torch_does_not_know_become_what_it_knows():
    flipped = prt.to_tensors(np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1])
    assert flipped.tolist() == [[2, 1, 0], [5, 4, 3]]
    assert prt.to_tensors(np.array([1, 2], ">i4")).tolist() == [1, 2]
    assert prt.to_tensors(np.array([b"ab", b"c"])) == [b"ab", b"c"]
    assert prt.to_tensors(np.array([["ab"], ["c"]])) == [["ab"], ["c"]]
    one = prt.to_tensors(np.array([b"ab"])[0])
    assert (type(one), one) == (bytes, b"ab")


def test_sparse_becomes_a_sparse_tensor():
    column = pr.Sparse([[0, 1], [2, 0]], np.array([5, 6]), (3, 2))
    assert prt.to_tensors(column).to_dense().tolist() == [[0, 5], [0, 0], [6, 0]]


def lengths(value: bytes) -> np.ndarray:
    return np.array([len(value), value[1]], np.uint8)


def test_bytes_columns_become_tensors_in_their_memory():
    records = pr.encode_examples({"x": [b"one", b"", b"three"], "y": [[b"a"], [], [b"b", b"c"]]})
    batch = pr.decode_examples(records, bytes_columns=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensors = prt.to_tensors(batch)
    assert [bytes(tensor.numpy()) for tensor in tensors["x"]] == [b"one", b"", b"three"]
    assert all(tensor.dtype == torch.uint8 for tensor in tensors["x"])
    rows = [[bytes(tensor.numpy()) for tensor in row] for row in tensors["y"]]
    assert rows == [[b"a"], [], [b"b", b"c"]]
    memory = np.frombuffer(bytearray(b"-one-two-"), np.uint8)
    column = pr.BytesColumn(memory.data.toreadonly(), [1, 5], [4, 8])
    first, second = prt.to_tensors(column)
    assert first.data_ptr() == memory.ctypes.data + 1
    del column, memory
    gc.collect()
    assert bytes(second.numpy()) == b"two"  # the tensors keep the memory
    immutable = pr.BytesColumn(b"one", [0], [3])
    prt.to_tensors(immutable)[0][:] = 0
    assert immutable == [b"one"]
    assert prt.to_tensors(pr.BytesColumn.of([])) == []


def test_decode_functions_get_views_of_bytes_columns(tmp_path):
    dataset = TFRecordDataset(examples(tmp_path)).batch(10).parse(SPEC, bytes_columns=["name"])
    kinds = []

    def decode(name):
        kinds.append(type(name))
        return np.frombuffer(name, np.uint8)[:1]

    batch = next(iter(prt.IterableDataset(dataset, decode={"name": decode})))
    assert (batch["name"] == ord("n")).all()
    assert set(kinds) == {memoryview}


@pytest.mark.parametrize("size", [None, (4, 6)])
def test_images_are_decoded_to_tensors(size, tmp_path):
    interop("PIL.Image")
    files = [saved(drawn(5 + number % 2, 7, number), "PNG") for number in range(8)]
    path = str(tmp_path / "images")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples({"image": files, "id": np.arange(8)}))
    spec = {"image": "string", "id": "int64"}
    form = "rgb" if size is None else ("rgb", size)
    (expected,) = TFRecordDataset(path).batch(8).parse(spec, decode={"image": form})
    chain = TFRecordDataset(path).batch(4)
    decoded = data.DataLoader(
        prt.IterableDataset(chain.parse(spec, decode={"image": form})), batch_size=None, num_workers=1
    )
    later = prt.IterableDataset(chain.parse(spec), decode={"image": form})
    records = prt.MapDataset(path, spec, decode={"image": form})
    found = [[image for batch in batches for image in batch["image"]] for batches in (decoded, later)]
    found.append([element["image"] for element in records.__getitems__(range(8))])
    for images in found:
        assert all(map(np.array_equal, images, expected["image"]))
        assert all(image.dtype == torch.uint8 for image in images)
    with pytest.raises(ValueError, match="must be"):
        prt.IterableDataset(chain.parse(spec), decode={"image": "yuv"})


def test_an_image_that_cannot_be_decoded_is_named(tmp_path):
    interop("PIL.Image")
    path = str(tmp_path / "images")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples({"image": [saved(drawn(5, 7), "PNG"), b"none"]}))
    chain = TFRecordDataset(path).batch(2).parse({"image": "string"})
    dataset = prt.IterableDataset(chain, decode={"image": "rgb"})
    with pytest.raises(ValueError, match="it is no JPEG") as caught:
        list(dataset)
    assert caught.value.__notes__ == [f"decode of 'image': {path}: record 1"]


def test_the_images_of_a_ragged_feature_are_left_to_parse(tmp_path):
    path = tmp_path / "several"
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_example({"image": [saved(drawn(5, 7), "PNG")] * n}) for n in (2, 1))
    chain = TFRecordDataset(path).batch(2)
    features = {"image": pr.RaggedFeature("string")}
    with pytest.raises(TypeError, match="give decode to parse"):
        next(iter(prt.IterableDataset(chain.parse(features), decode={"image": "rgb"})))
    parsed = chain.parse(features, decode={"image": "rgb"})
    (batch,) = prt.IterableDataset(parsed, ragged="list")
    assert [len(row) for row in batch["image"]] == [2, 1]


def test_decode_is_called_on_the_bytes_of_its_features(tmp_path):
    pattern = examples(tmp_path, 4, 1)
    shared = prt.IterableDataset(TFRecordDataset(pattern).batch(4).parse(SPEC), decode={"name": lengths})
    batch = next(iter(loader(shared)))
    assert batch["name"].tolist() == [[3, 48], [3, 49], [3, 50], [3, 51]]
    assert list(batch) == list(SPEC)
    one = prt.MapDataset(pattern, SPEC, decode={"name": lengths})[2]
    assert one["name"].tolist() == [3, 50]


def no_seventeen(name: bytes) -> int:
    if name.startswith(b"n17"):
        raise OSError("cannot identify image file")
    return len(name)


def place_of_seventeen(folder: Path) -> str:
    places = [
        f"{path}: record {number}"
        for path in sorted(folder.iterdir())
        for number, record in enumerate(pr.read_records(path))
        if b"n17" in record
    ]
    return "; ".join(places)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batched", [True, False])
def test_an_error_of_decode_names_file_record_and_feature(workers, batched, tmp_path):
    pattern = examples(tmp_path)
    chain = TFRecordDataset(pattern).shuffle(20, seed=1)
    chain = (chain.batch(4) if batched else chain).parse(SPEC)
    with pytest.raises(OSError, match="cannot identify image file") as caught:
        list(loader(prt.IterableDataset(chain, decode={"name": no_seventeen}), workers))
    shown = str(caught.value) if workers else "\n".join(caught.value.__notes__)
    assert f"decode of 'name': {place_of_seventeen(tmp_path)}" in shown


@pytest.mark.parametrize("kind", [pr.RaggedFeature, pr.VarLenFeature])
def test_an_error_of_decode_in_a_map_dataset_names_file_and_record(kind, tmp_path):
    spec = {**SPEC, "tags": kind(np.int64)}
    records = prt.MapDataset(examples(tmp_path), spec, decode={"name": no_seventeen})
    (place,) = [n for n, record in enumerate(pr.RecordFile(sorted(tmp_path.iterdir()))) if b"n17" in record]
    with pytest.raises(OSError, match="cannot identify") as caught:
        records.__getitems__([2, place, 3])
    assert caught.value.__notes__ == [f"decode of 'name': {place_of_seventeen(tmp_path)}"]


def test_decode_of_a_feature_that_is_not_there_is_an_error(tmp_path):
    chain = TFRecordDataset(examples(tmp_path)).batch(4).parse(SPEC)
    with pytest.raises(KeyError, match="image"):
        next(iter(prt.IterableDataset(chain, decode={"image": lengths})))


# Random access


@pytest.mark.parametrize("workers", [0, 2])
def test_map_dataset_works_with_samplers(workers, tmp_path):
    dataset = prt.MapDataset(examples(tmp_path), SPEC)
    assert len(dataset) == 30
    seen = [
        int(n)
        for batch in data.DataLoader(
            dataset, 4, shuffle=True, num_workers=workers, collate_fn=lambda rows: rows
        )
        for n in (row["id"] for row in batch)
    ]
    assert sorted(seen) == list(range(30))
    parts = []
    for rank in range(3):
        sampler = data.distributed.DistributedSampler(dataset, num_replicas=3, rank=rank, seed=1)
        rows = data.DataLoader(dataset, 5, sampler=sampler, num_workers=workers, collate_fn=list)
        parts += [int(row["id"]) for batch in rows for row in batch]
    assert sorted(parts) == list(range(30))


def test_map_dataset_counts_from_the_end_too_and_refuses_what_is_not_there(tmp_path):
    records = prt.MapDataset(write_files(tmp_path, [3, 0, 4]))
    assert records.__getitems__([-1, 2, -7, np.int64(-5)]) == [b"6", b"2", b"0", b"2"]
    assert (records[-1], records[torch.tensor(3)]) == (b"6", b"3")
    for index in (7, -8):
        with pytest.raises(IndexError):
            records[index]
        with pytest.raises(IndexError):
            records.__getitems__([0, index])
    with pytest.raises(TypeError):
        records[0:2]


def test_map_dataset_gives_the_same_one_by_one_and_together(tmp_path):
    pattern = examples(tmp_path)
    sequence = {"tags": pr.FixedLenSequenceFeature([], np.int64, allow_missing=True)}
    for spec in (SPEC, sequence):
        dataset = pickle.loads(pickle.dumps(prt.MapDataset(pattern, spec)))
        together = dataset.__getitems__([5, 0, 29, 5])
        alone = [dataset[5], dataset[0], dataset[-1], dataset[5]]
        for some, other in zip(together, alone, strict=True):
            assert {k: getattr(v, "tolist", lambda v=v: v)() for k, v in some.items()} == {
                k: getattr(v, "tolist", lambda v=v: v)() for k, v in other.items()
            }
    raw = prt.MapDataset(pattern)
    assert raw[3] == pr.RecordFile(pattern)[3]
    with pytest.raises(IndexError):
        raw[30]


def same(one, other) -> bool:
    """Whether two batches are equal, in the types of their parts too."""
    if isinstance(one, torch.Tensor):
        return type(one) is type(other) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def two_bytes(value: bytes) -> np.ndarray:
    return np.frombuffer(value[:2], np.uint8)


FIXED = {
    "id": pr.FixedLenFeature([], np.int64),
    "x": pr.FixedLenFeature([3], np.float32),
    "name": pr.FixedLenFeature([], bytes),
    "none": pr.FixedLenFeature([2], bytes, default_value=[b"a", b"b"]),
}


@pytest.mark.parametrize("workers", [0, 2])
def test_default_collate_takes_a_batch_whole_and_gives_what_it_gives_for_rows(workers, tmp_path):
    pattern = examples(tmp_path)
    for features, decode in [(FIXED, {}), (FIXED, {"name": two_bytes}), (None, {})]:
        dataset = prt.MapDataset(pattern, features, decode=decode)
        order = [int(number) for number in np.random.default_rng(1).permutation(30)]
        expected = [data.default_collate([dataset[n] for n in order[at : at + 7]]) for at in range(0, 30, 7)]
        got = list(data.DataLoader(dataset, 7, sampler=order, num_workers=workers))
        assert same(got, expected)
        part = data.Subset(dataset, order)
        assert same(list(data.DataLoader(part, 7, num_workers=workers)), expected)
        assert same(list(data.DataLoader(data.ConcatDataset([part]), 7, num_workers=workers)), expected)
        stateful = interop("torchdata.stateful_dataloader")
        assert same(list(stateful.StatefulDataLoader(part, 7, num_workers=workers)), expected)


def test_a_parsed_batch_is_a_sequence_of_dicts_to_any_other_collate_fn(tmp_path):
    dataset = prt.MapDataset(examples(tmp_path), SPEC)
    rows = dataset.__getitems__([5, 0, -1])
    alone = [dataset[5], dataset[0], dataset[29]]
    assert all(type(row) is dict for row in alone)
    assert same([dict(row) for row in rows], alone)
    assert same([dict(rows[-1]), dict(rows[0])], [alone[2], alone[0]])
    assert same([dict(row) for row in rows[1:]], alone[1:])
    assert same(data.default_collate(rows[:1]), data.default_collate(alone[:1]))
    with pytest.raises(IndexError):
        rows[3]
    copy = pickle.loads(pickle.dumps(rows))
    assert same(copy, alone)
    assert [type(copy), type(copy[0]), type(pickle.loads(pickle.dumps(rows[0])))] == [list, dict, dict]
    for collate_fn in (list, lambda rows: rows):
        (batch,) = data.DataLoader(dataset, 3, sampler=[5, 0, 29], num_workers=1, collate_fn=collate_fn)
        assert same(batch, alone)
    for some in ([0, 4, 8], [0, 1]):  # ragged rows make a tensor if they have the same length, whole or not
        outcomes = []
        for batch in (dataset.__getitems__(some), [dataset[number] for number in some]):
            try:
                outcomes.append(data.default_collate(batch))
            except RuntimeError as error:
                outcomes.append(str(error))
        assert same(*outcomes)


# Resuming


def test_resume_in_a_new_process_with_other_workers_and_ranks(tmp_path):
    """Stopped after every k-th step by one set of processes, taken up by another."""
    pattern = examples(tmp_path, 50)
    whole = ids(loader(make(pattern)))
    for stop, (before, after) in enumerate(itertools.product([(1, 0), (2, 2)], [(1, 2), (3, 1)]), 1):
        done, state = run(pattern, before, steps=stop, state=None)
        rest, _ = run(pattern, after, steps=None, state=state)
        assert merged(done) + merged(rest) == whole
    assert len(whole) == 13


def make(pattern, rank=0, world_size=1):
    chain = TFRecordDataset(pattern).shuffle(12, seed=4).batch(4).parse(SPEC)
    return prt.IterableDataset(chain, rank=rank, world_size=world_size)


def merged(ranks):
    """The steps of all ranks in the one order."""
    rounds = itertools.zip_longest(*ranks)
    return [step for steps in rounds for step in steps if step is not None]


SCRIPT = """
import json, sys
sys.path.insert(0, {root!r})
from tests.interop.test_torch import child
child(json.loads(sys.argv[1]))
"""


def run(pattern, shape, steps, state):
    """The steps of each rank of a run in a new process, and the state to go on from."""
    job = {"pattern": pattern, "shape": shape, "steps": steps, "state": state}
    script = SCRIPT.format(root=str(ROOT))
    command = [sys.executable, "-W", "ignore", "-c", script, json.dumps(job)]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    done, states = json.loads(out.stdout.splitlines()[-1])
    return done, prt.merge_states(states) if steps else None


def child(job) -> None:
    stateful = pytest.importorskip("torchdata.stateful_dataloader")
    ranks, workers = job["shape"]
    done, states = [], []
    for rank in range(ranks):
        shared = make(job["pattern"], rank, ranks)
        if job["state"]:
            shared.resume(job["state"])
        loaded = stateful.StatefulDataLoader(shared, batch_size=None, num_workers=workers)
        done.append(ids(itertools.islice(loaded, job["steps"])))
        states.append(loaded.state_dict())
    print(json.dumps([done, states]))


@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_data_loader_goes_on_after_any_step(workers, tmp_path):
    stateful = interop("torchdata.stateful_dataloader")
    pattern = examples(tmp_path)
    whole = ids(loader(make(pattern)))
    for stop in range(0, len(whole) + 1, 3):
        first = stateful.StatefulDataLoader(make(pattern), batch_size=None, num_workers=workers)
        begin = ids(itertools.islice(first, stop))
        state = json.loads(json.dumps(first.state_dict()))
        second = stateful.StatefulDataLoader(make(pattern), batch_size=None, num_workers=workers)
        second.load_state_dict(state)
        assert begin + ids(second) == whole
        del first, second
    settle()  # errors of other tests may hold their workers in a cycle
    assert not multiprocessing.active_children()


def test_resume_takes_an_epoch_and_a_position(tmp_path):
    pattern = examples(tmp_path)
    shared = make(pattern)
    shared.set_epoch(3)
    whole = ids(loader(shared))
    other = make(pattern)
    other.resume({"epoch": 3, "position": 2})
    assert ids(loader(other, 2)) == whole[2:]
    other.set_epoch(4)
    shared.set_epoch(4)
    assert ids(loader(other, 2)) == ids(loader(shared))


def test_ranks_resume_by_the_steps_of_each_with_any_number_of_ranks(tmp_path):
    pattern = examples(tmp_path)

    def remaining(state: dict[str, int], world_size: int) -> list[list[int]]:
        """The batches that the ranks get in turn after they have resumed."""
        shares = []
        for rank in range(world_size):
            resumed = make(pattern, rank=rank, world_size=world_size)
            resumed.resume(state)
            shares.append(ids(loader(resumed, 2)))
        rounds = itertools.zip_longest(*shares)
        return [batch for each in rounds for batch in each if batch is not None]

    first = make(pattern)
    first.set_epoch(1)
    whole = ids(loader(first))
    for steps in (0, 1, 2):
        for world_size in (1, 2, 3):
            assert remaining({"epoch": 1, "steps": steps}, world_size) == whole[steps * world_size :]
            state = {"epoch": 1, "steps": steps, "world_size": 3}
            assert remaining(state, world_size) == whole[steps * 3 :]


# Distributed


DDP = """
import os, sys
sys.path.insert(0, {root!r})
from tests.interop.test_torch import train
train({pattern!r}, int(sys.argv[1]), {store!r})
"""


def train(pattern: str, rank: int, store: str) -> None:
    distributed = torch.distributed
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    chain = TFRecordDataset(pattern).shuffle(10, seed=1).batch(4).parse(SPEC)
    shared = prt.IterableDataset(chain, even="pad")  # the rank comes from torch.distributed
    seen = []
    for epoch in range(2):
        shared.set_epoch(epoch)
        for batch in loader(shared, 1, multiprocessing_context="spawn" if epoch else "fork"):
            seen += batch["id"].tolist()
            loss = ((model(batch["x"])[:, 0] - batch["id"]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    weights = [parameter.detach().flatten().tolist() for parameter in model.parameters()]
    distributed.destroy_process_group()
    print(json.dumps({"seen": seen, "weights": weights}))


def test_distributed_data_parallel_over_gloo(tmp_path):
    pattern = examples(tmp_path, 33)  # 9 batches: one more than two ranks can share
    store = tmp_path / "store"
    script = tmp_path / "ddp.py"
    script.write_text(
        "if __name__ == '__main__':\n"
        + "\n".join(
            "    " + line
            for line in DDP.format(root=str(ROOT), pattern=pattern, store=str(store)).strip().splitlines()
        )
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script), str(rank)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    results = [json.loads(output.splitlines()[-1]) for output, _ in outputs]
    assert results[0]["weights"] == results[1]["weights"]
    count = Counter(results[0]["seen"] + results[1]["seen"])
    assert set(count) == set(range(33))
    assert sum(count.values()) == 2 * (33 + 4)  # "pad" gave one batch of four twice in each epoch


def test_rank_and_world_size_belong_together():
    with pytest.raises(ValueError, match="together"):
        prt.IterableDataset(Dataset.range(3), rank=1)
    with pytest.raises(ValueError, match="even"):
        prt.IterableDataset(Dataset.range(3), even="odd")


def test_rank_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert list(prt.IterableDataset(Dataset.range(10))) == [1, 4, 7]


# The documentation


@pytest.mark.parametrize(("page", "blocks"), [("loaders.md", 5), ("migrating.md", 1)])
def test_code_in_the_docs_runs(page, blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page(page, "torch") == blocks


def test_code_for_torch_in_the_readme_runs_and_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_blocks("README.md", r"(?: torch)?") > 8
