"""JAX: device arrays, several devices, several processes, exact states, and no thread left behind."""

from __future__ import annotations

import gc
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.interop import interop, run_page
from tests.support.places import ROOT

jax = interop("jax")
import purerecord.jax as prj  # noqa: E402 - only where jax is

SPEC = {
    "id": pr.FixedLenFeature([], np.int64),
    "x": pr.FixedLenFeature([3], np.float32),
    "tags": pr.RaggedFeature(np.int64),
    "name": pr.FixedLenFeature([], bytes),
}
NUMBERS = {"id": SPEC["id"], "x": SPEC["x"]}


def write_examples(folder: Path, count: int = 30, shards: int = 3) -> str:
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


def chain(pattern: str, *, drop_remainder: bool = False) -> Dataset:
    return TFRecordDataset(pattern).shuffle(12, seed=4).batch(4, drop_remainder).parse(NUMBERS)


def ids(batches) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


def threads() -> list[str]:
    """The threads of ours that are still there, a little after nobody needs them."""
    gc.collect()
    own = [thread for thread in threading.enumerate() if thread.name.startswith("purerecord.jax")]
    for thread in own:
        thread.join(10)
    return [thread.name for thread in own if thread.is_alive()]


# What comes out


@pytest.mark.parametrize("prefetch", [0, 1, 2, 100])
def test_batches_are_those_of_the_dataset_as_device_arrays(prefetch, tmp_path):
    dataset = chain(write_examples(tmp_path))
    expected = list(dataset.iterator(epoch=3))
    got = list(prj.batches(dataset, prefetch=prefetch, epoch=3))
    assert len(got) == len(expected) == 8
    for batch, other in zip(got, expected, strict=True):
        assert all(isinstance(column, jax.Array) for column in batch.values())
        assert np.array_equal(batch["id"], other["id"])
        assert np.array_equal(batch["x"], other["x"])
    assert threads() == []


def test_every_loop_is_the_next_epoch(tmp_path):
    dataset = chain(write_examples(tmp_path))
    loops = [ids(prj.batches(dataset)) for _ in range(3)]
    assert loops == [ids(dataset.iterator(epoch)) for epoch in range(3)]
    assert loops[0] != loops[1] != loops[2]


def test_ragged_is_filled_up_and_bytes_stay_on_the_host(tmp_path):
    dataset = TFRecordDataset(write_examples(tmp_path, 4, 1)).batch(4).parse(SPEC)
    batch = next(prj.batches(dataset, padding_value=-1))
    assert list(batch) == list(SPEC)
    assert batch["tags"].tolist() == [[-1, -1, -1], [0, -1, -1], [1, 2, -1], [3, 4, 5]]
    assert isinstance(batch["name"], np.ndarray)
    assert batch["name"].tolist() == [b"n0\0", b"n1\0", b"n2\0", b"n3\0"]
    for ragged_to in (5, {"tags": 5}):
        batch = next(prj.batches(dataset, ragged_to=ragged_to))
        assert batch["tags"].tolist() == [[0] * 5, [0] * 5, [1, 2, 0, 0, 0], [3, 4, 5, 0, 0]]
    assert next(prj.batches(dataset, ragged_to={"other": 5}))["tags"].shape == (4, 3)
    with pytest.raises(ValueError, match=r"'tags' has a row of length 3, which does not fit into 2"):
        next(prj.batches(dataset, ragged_to=2))


def test_ragged_of_ragged_is_filled_up_to_a_length():
    deep = pr.Ragged(pr.Ragged(np.arange(3), [0, 1, 3]), [0, 2])
    dataset = Dataset.from_generator(lambda: [{"deep": deep}])
    batch = next(prj.batches(dataset, ragged_to=3))
    assert batch["deep"].tolist() == [[[0, 0], [1, 2], [0, 0]]]


def test_what_no_device_can_hold_is_an_error_that_says_what_to_do(tmp_path):
    pattern = write_examples(tmp_path)
    with pytest.raises(TypeError, match="parse"):
        next(prj.batches(TFRecordDataset(pattern).batch(4)))
    with pytest.raises(TypeError, match="parse"):
        next(prj.batches(TFRecordDataset(pattern)))
    sparse = TFRecordDataset(pattern).batch(4).parse({"tags": pr.VarLenFeature(np.int64)})
    with pytest.raises(TypeError, match="'tags' is sparse; use a RaggedFeature"):
        next(prj.batches(sparse))


@pytest.fixture
def wide():
    """Sets JAX to 64 bits when it is called, until the test ends."""
    yield lambda: jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**62])
def test_integers_are_never_cut_off_in_silence(value, wide):
    dataset = Dataset.from_tensor_slices({"id": np.array([1, value])}).batch(2)
    with pytest.raises(ValueError, match=r"'id' holds integers that need 64 bits.*jax_enable_x64"):
        next(prj.batches(dataset))
    wide()
    assert next(prj.batches(dataset))["id"].tolist() == [1, value]


def test_tuples_and_single_numbers_become_arrays_too():
    dataset = Dataset.zip(Dataset.range(3), Dataset.from_tensor_slices(np.ones((3, 2)))).batch(2)
    numbers, ones = next(prj.batches(dataset))
    assert numbers.tolist() == [0, 1]
    assert ones.dtype == np.float32
    assert [int(number) for number in prj.batches(Dataset.range(3))] == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"prefetch": -1}, ValueError, "prefetch"),
        ({"even": "odd"}, ValueError, "even"),
        ({"sharding": "data"}, TypeError, r"jax\.sharding\.Sharding"),
    ],
)
def test_wrong_options_are_refused_at_once(options, error, words):
    with pytest.raises(error, match=words):
        prj.batches(Dataset.range(3), **options)


# States


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_state_counts_what_was_handed_out_and_not_what_is_ahead(prefetch, tmp_path):
    pattern = write_examples(tmp_path)
    whole = ids(chain(pattern).iterator(epoch=2))
    for stop in range(len(whole) + 1):
        first = prj.batches(chain(pattern), prefetch=prefetch, epoch=2)
        begin = ids(itertools.islice(first, stop))
        state = json.loads(json.dumps(first.state_dict()))
        assert state["position"] == stop
        assert begin + ids(first) == whole
        second = prj.batches(chain(pattern), prefetch=prefetch)
        second.load_state_dict(state)
        assert second.epoch == 2
        assert begin + ids(second) == whole
        assert begin + ids(resumed(chain(pattern), state)) == whole


def resumed(dataset: Dataset, state):
    """The same without JAX: the states are the same."""
    iterator = iter(dataset)
    iterator.load_state_dict(state)
    return iterator


def test_state_can_be_loaded_in_the_middle_of_another_run(tmp_path):
    dataset = chain(write_examples(tmp_path))
    batches = prj.batches(dataset, epoch=0)
    begin = ids(itertools.islice(batches, 3))
    state = batches.state_dict()
    rest = ids(batches)
    assert next(batches, None) is None
    batches.load_state_dict(state)
    assert ids(batches) == rest
    batches.load_state_dict({"epoch": 0, "position": 0})
    assert ids(batches) == begin + rest


def test_state_goes_through_prefetch_and_map_in_the_chain(tmp_path):
    def more():
        return chain(pattern).map(lambda batch: {**batch, "y": batch["id"] + 1}, 2).prefetch(2)

    pattern = write_examples(tmp_path)
    whole = ids(more().iterator(epoch=1))
    for stop in (0, 3, 8):
        first = prj.batches(more(), epoch=1)
        begin = ids(itertools.islice(first, stop))
        second = prj.batches(more())
        second.load_state_dict(first.state_dict())
        assert begin + ids(second) == whole
        first.close()


# Errors and ends


def broken_after(count: int):
    yield from (np.full(2, number, np.int32) for number in range(count))
    raise OSError("the disk is gone")


@pytest.mark.parametrize("prefetch", [0, 2, 10])
def test_error_comes_behind_the_batches_before_it_and_stays(prefetch):
    batches = prj.batches(Dataset.from_generator(broken_after, args=(3,)), prefetch=prefetch)
    assert [int(batch[0]) for batch in itertools.islice(batches, 3)] == [0, 1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)
    assert batches.state_dict()["position"] == 3
    if prefetch:
        with pytest.raises(OSError, match="the disk is gone"):
            next(batches)
    batches.close()
    with pytest.raises(pr.ClosedError):
        next(batches)
    assert threads() == []


def test_damage_is_counted(tmp_path):
    path = tmp_path / "file"
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples({"id": np.arange(10)}))
    data = bytearray(path.read_bytes())
    data[15] ^= 1
    path.write_bytes(data)
    dataset = TFRecordDataset(path, on_error="skip").batch(4).parse({"id": SPEC["id"]})
    batches = prj.batches(dataset)
    assert ids(batches) == [[1, 2, 3, 4], [5, 6, 7, 8], [9]]
    assert batches.skipped == 1
    assert isinstance(batches.last_error, pr.ChecksumError)


def test_batches_that_nobody_wants_any_more_leave_no_thread(tmp_path):
    dataset = chain(write_examples(tmp_path)).repeat()
    for _ in range(5):
        batches = prj.batches(dataset, prefetch=3)
        next(batches)
        del batches
    assert threads() == []
    for batch in prj.batches(dataset):
        assert batch["id"].shape == (4,)
        break
    assert threads() == []


# Several devices, and several processes: in processes of their own, as that is said before JAX starts.


def child(function: str, *args: object, devices: int = 4) -> subprocess.Popen:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    program += (
        f"import json; from tests.interop import test_jax as test; test.{function}(*json.loads(sys.argv[1]))"
    )
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, json.dumps(args)],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*processes: subprocess.Popen) -> list:
    """What each printed last."""
    try:
        outputs = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    return [json.loads(output.splitlines()[-1]) for output, _ in outputs]


def test_batches_are_laid_out_over_devices(tmp_path):
    assert finish(child("over_devices", write_examples(tmp_path))) == ["done"]


def over_devices(pattern: str) -> None:
    named, spec = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
    assert jax.device_count() == 4
    line, square = jax.make_mesh((4,), ("data",)), jax.make_mesh((2, 2), ("data", "model"))
    dataset = chain(pattern, drop_remainder=True)
    expected = list(dataset.iterator(epoch=0))
    shardings = {
        (1, 3): named(line, spec("data")),
        (2, 3): named(square, spec("data")),
        (4, 3): named(square, spec()),
    }
    for shape, sharding in shardings.items():
        for batch, other in zip(prj.batches(dataset, sharding=sharding, epoch=0), expected, strict=True):
            assert batch["x"].sharding == sharding
            assert {shard.data.shape for shard in batch["x"].addressable_shards} == {shape}
            assert np.array_equal(batch["x"], other["x"])
            assert np.array_equal(batch["id"], other["id"])
    # A last batch of two rows for four devices.
    batches = prj.batches(chain(pattern), sharding=shardings[1, 3])
    with pytest.raises(ValueError, match=r"'id' has 2 rows.*4 equal parts.*drop_remainder=True"):
        list(batches)
    assert batches.state_dict()["position"] == 7
    with pytest.raises(ValueError, match="no rows"):
        next(prj.batches(Dataset.range(3), sharding=shardings[1, 3]))
    # One device that is not the default one.
    other = jax.sharding.SingleDeviceSharding(jax.devices()[2])
    assert next(prj.batches(dataset, sharding=other))["id"].devices() == {jax.devices()[2]}
    with jax.default_device(jax.devices()[3]):
        assert next(prj.batches(dataset))["id"].devices() == {jax.devices()[3]}
    print(json.dumps("done"))


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def test_processes_share_an_epoch_and_make_global_arrays(tmp_path):
    pattern = write_examples(tmp_path, 37)  # 9 whole batches for two processes
    port = free_port()
    first, second = finish(*(child("as_process", pattern, port, rank, devices=2) for rank in range(2)))
    whole = ids(chain(pattern, drop_remainder=True).iterator(epoch=0))
    both = [a + b for a, b in zip(whole[0:8:2], whole[1:8:2], strict=True)]
    # Each process had its own batches, and both saw the global array of them.
    assert first["data"]["local"] == whole[0:8:2]
    assert second["data"]["local"] == whole[1:8:2]
    assert first["data"]["sums"] == second["data"]["sums"] == [sum(rows) for rows in both]
    assert first["data"]["shape"] == [8, 3]
    # Devices of both processes hold the same rows: both have all batches.
    for layout in ("replicated", "across"):
        assert first[layout]["sums"] == second[layout]["sums"] == [sum(rows) for rows in whole]
        assert first[layout]["shape"] == [4, 3]
    # Without a sharding, or with one of local devices, each has its share for itself.
    for layout in ("none", "own"):
        assert first[layout]["local"] + second[layout]["local"] == whole[0:8:2] + whole[1:8:2]
        assert first[layout]["shape"] == [4, 3]
    # The state of one is that of all, and one process goes on for both.
    assert first["state"]["position"] == second["state"]["position"] == 4
    assert ids(resumed(chain(pattern, drop_remainder=True), first["state"])) == whole[4:]


def as_process(pattern: str, port: int, rank: int) -> None:
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
    named, spec = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
    devices = np.array(jax.devices())  # two of each process
    line = jax.sharding.Mesh(devices, ("data",))
    across = jax.sharding.Mesh(devices.reshape(2, 2).T, ("data", "model"))
    shardings = {
        "data": named(line, spec("data")),
        "replicated": named(line, spec()),
        "across": named(across, spec("data")),
        "own": named(jax.sharding.Mesh(np.array(jax.local_devices()), ("data",)), spec("data")),
        "none": None,
    }
    dataset = chain(pattern, drop_remainder=True)

    def total(column) -> int:
        everywhere = named(column.sharding.mesh, spec())
        return int(jax.jit(lambda column: column.sum(), out_shardings=everywhere)(column))

    result: dict = {}
    for layout, sharding in shardings.items():
        local, sums = [], []
        for batch in prj.batches(dataset, sharding=sharding, epoch=0):
            parts = {str(shard.index): shard.data.tolist() for shard in batch["id"].addressable_shards}
            local.append([number for key in sorted(parts) for number in parts[key]])
            if layout not in ("own", "none"):
                sums.append(total(batch["id"]))
        result[layout] = {"local": local, "sums": sums, "shape": batch["x"].shape}
    batches = prj.batches(dataset, sharding=shardings["data"], epoch=0)
    for _ in range(2):
        total(next(batches)["id"])
    result["state"] = batches.state_dict()
    check_refusals(pattern, shardings["data"])
    jax.distributed.shutdown()
    print(json.dumps(result))


def check_refusals(pattern: str, sharding) -> None:
    """What would leave one process waiting for the other is refused in both."""
    with pytest.raises(ValueError, match=r"drop_remainder=True"):
        prj.batches(chain(pattern), sharding=sharding)
    with pytest.raises(ValueError, match=r"even"):
        prj.batches(chain(pattern, drop_remainder=True), sharding=sharding, even="uneven")
    padded = TFRecordDataset(pattern).parse(NUMBERS).padded_batch(4, drop_remainder=True)
    with pytest.raises(ValueError, match=r"padded_shapes"):
        prj.batches(Dataset.zip(padded, padded), sharding=sharding)
    ragged = TFRecordDataset(pattern).batch(4, drop_remainder=True).parse(SPEC)
    with pytest.raises(ValueError, match=r"'tags' is ragged.*ragged_to"):
        next(prj.batches(ragged, sharding=sharding))
    batch = next(prj.batches(ragged, sharding=sharding, ragged_to=3, epoch=0))
    assert batch["tags"].shape == (8, 3)
    assert len(batch["name"]) == 4  # bytes: those of this process


class Device(NamedTuple):
    number: int
    process_index: int


class Rows:
    """A sharding over devices of several processes, as far as a layout asks: who has which rows."""

    def __init__(self, *rows: tuple[int, int]) -> None:
        self._indices = {
            Device(number, process): (slice(row, row + 1),) for number, (process, row) in enumerate(rows)
        }
        self.device_set = set(self._indices)

    def devices_indices_map(self, shape):
        assert shape == (len(self.device_set),)
        return self._indices


@pytest.mark.parametrize(
    ("rows", "rank", "world_size"),
    [
        ([(0, 0), (1, 1)], 0, 2),
        ([(1, 0), (0, 1)], 1, 2),
        ([(0, 0), (0, 1), (1, 2), (1, 3)], 0, 2),
        ([(0, 1), (0, 3), (1, 0), (1, 2)], 1, 2),
        ([(0, 0), (0, 1), (1, 0), (1, 1)], 0, 1),
        ([(0, 1), (1, 1), (2, 0), (3, 0)], 1, 2),
        ([(0, 0), (0, 1), (1, 1), (1, 2)], None, None),
        ([(0, 0), (1, 1), (1, 2)], None, None),
        ([(1, 0), (2, 1)], None, None),
    ],
)
def test_processes_with_the_same_rows_have_the_same_rank(rows, rank, world_size):
    layout = prj._DeviceLayout(None)
    layout.is_global = True
    if rank is None:
        with pytest.raises(ValueError, match=r"in common|no device"):
            layout._find_rows(Rows(*rows))
    else:
        layout._find_rows(Rows(*rows))
        assert (layout.rank, layout.world_size) == (rank, world_size)


# The documentation


def test_code_for_jax_on_the_page_about_loaders_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("loaders.md", "jax") == 3
