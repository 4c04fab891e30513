"""Shared memory: elements come out as they went in, and arrays are not copied."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import shutil
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.processes import shared_memory
from purerecord.processes.shared_memory import (
    SharedBuffer,
    buffer_size_for,
    copy_into,
    pack,
    pack_whole,
    unpack,
)
from tests.support.other_systems import share_memory_as_windows

GRID = np.arange(12, dtype=np.float32).reshape(3, 4)
SHORT = [b"", b"a", b"bc" * 30, b"\0\0", b"a"]
LARGE = [bytes([n]) * (n * 10_000) for n in range(1, 9)]


def strings(values: list[Any], shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


ELEMENTS = {
    "nothing": None,
    "a number": 7,
    "bytes": b"abc",
    "an array": np.arange(5),
    "no values": np.empty((0, 3), np.float32),
    "a scalar array": np.array(3.5),
    "columns first": np.asfortranarray(GRID),
    "every other": GRID[::2, ::2],
    "backwards": np.arange(5)[::-1],
    "other byte order": np.arange(5, dtype=">i4"),
    "short strings": strings(SHORT),
    "large strings": strings(LARGE),
    "strings in rows": strings(LARGE, (2, 4)),
    "strings in columns": strings(SHORT[:4], (2, 2)).T,
    "large among short": strings([b"x"] * 100 + LARGE),
    "no strings": strings([]),
    "text": strings(["a", "ü"]),
    "strings and others": strings([b"a", None, 3, bytearray(b"x")]),
    "a sequence": [GRID, (b"x", [np.arange(2)])],
    "a Ragged": pr.Ragged(np.arange(6), [0, 2, 2, 6]),
    "a Ragged of strings": pr.Ragged(strings(SHORT), [0, 2, 5]),
    "a Sparse": pr.Sparse(np.array([[0, 1], [1, 0]]), np.array([5, 6]), (2, 2)),
    "records": pr.Records.of([b"one", b"", b"three"]),
    "columns": {"id": np.arange(3), "x": GRID, "name": strings([b"a", b"b", b"c"])},
}


def plain(element: Any) -> Any:
    """All there is to an element, in lists."""
    if isinstance(element, np.ndarray):
        return [
            element.dtype.str,
            element.shape,
            [(type(value), value) for value in element.ravel().tolist()],
        ]
    if isinstance(element, dict):
        return [type(element), [[key, plain(value)] for key, value in element.items()]]
    if isinstance(element, (list, tuple)):
        return [type(element), list(map(plain, element))]
    if isinstance(element, (pr.Ragged, pr.Sparse)):
        return [type(element), plain(vars_of(element))]
    return [type(element), element]


def vars_of(element: pr.Ragged | pr.Sparse) -> dict[str, Any]:
    names = (
        ["values", "row_splits"] if isinstance(element, pr.Ragged) else ["indices", "values", "dense_shape"]
    )
    return {name: getattr(element, name) for name in names}


def sent(element: Any, buffer: np.ndarray | None = None) -> Any:
    pickled, parts = pack(element)
    sizes = [part.nbytes for part in parts]
    if buffer is None:
        buffer = np.empty(buffer_size_for(sizes), np.uint8)
    copy_into(parts, buffer)
    return unpack(pickled, sizes, buffer)


@pytest.mark.parametrize("name", ELEMENTS)
def test_element_comes_out_as_it_went_in(name):
    assert plain(sent(ELEMENTS[name])) == plain(ELEMENTS[name])


@pytest.mark.parametrize("name", ELEMENTS)
def test_so_does_one_that_is_packed_whole(name):
    assert plain(pickle.loads(pack_whole(ELEMENTS[name]))) == plain(ELEMENTS[name])


def test_arrays_are_in_the_shared_buffer_and_can_be_written_to():
    buffer = np.empty(1000, np.uint8)
    out = sent({"x": GRID, "n": np.arange(3)}, buffer)
    assert np.shares_memory(out["x"], buffer)
    assert np.shares_memory(out["n"], buffer)
    assert out["n"].ctypes.data % 8 == 0
    out["n"] += 1
    assert out["n"].tolist() == [1, 2, 3]


def test_array_that_must_not_be_written_to_stays_so():
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert not sent(frozen).flags.writeable


def test_strings_are_not_in_the_shared_buffer():
    buffer = np.empty(buffer_size_for([10, 1 << 19]), np.uint8)
    for values in (SHORT, LARGE):
        out = sent(strings(values), buffer)
        buffer[:] = 0xFF
        assert out.tolist() == values


def test_content_is_not_in_the_pickle():
    for name in ("large strings", "short strings"):
        pickled, _ = pack(ELEMENTS[name])
        assert len(pickled) < 400
    assert len(pack(np.zeros(100_000))[0]) < 400


def see(path: str, size: int, pipe: Any) -> None:
    buffer = SharedBuffer(path, size).array
    pipe.send(bytes(buffer[:5]))
    buffer[:5] = np.frombuffer(b"there", np.uint8)
    pipe.send("written")


def test_shared_buffer_is_seen_by_another_process():
    buffer = SharedBuffer.make(10_000)
    assert buffer is not None
    buffer.array[:5] = np.frombuffer(b"here!", np.uint8)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=see, args=(buffer.name, buffer.size, theirs))
    process.start()
    assert ours.recv() == b"here!"
    assert ours.recv() == "written"
    process.join()
    assert bytes(buffer.array[:5]) == b"there"
    shared_memory.unlink(buffer.name)
    assert not os.path.exists(buffer.name)
    shared_memory.unlink(buffer.name)  # once more does no harm
    assert bytes(buffer.array[:5]) == b"there"


def test_shared_buffer_whose_making_is_interrupted_leaves_nothing_behind(monkeypatch):
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    place = Path(shared_memory._FOLDER if os.path.isdir(shared_memory._FOLDER) else tempfile.gettempdir())
    before = set(place.glob("*.purerecord"))
    monkeypatch.setattr(SharedBuffer, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SharedBuffer.make(100)
    assert set(place.glob("*.purerecord")) == before


def test_without_a_place_for_shared_buffers_there_are_none(monkeypatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    assert SharedBuffer.make(100) is None


@pytest.mark.parametrize("folder", [True, False], ids=["in memory", "in the folder for temporary files"])
def test_shared_buffer_that_cannot_be_had_leaves_nothing_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if not folder:
        monkeypatch.setattr(shared_memory, "_FOLDER", "/no/such/folder")
    place = Path(shared_memory._FOLDER if os.path.isdir(shared_memory._FOLDER) else tmp_path)
    before = set(place.glob("*.purerecord"))
    assert SharedBuffer.make(1 << 60) is None
    assert set(place.glob("*.purerecord")) == before
    buffer = SharedBuffer.make(100)
    assert buffer is not None
    assert Path(buffer.name).parent == place
    shared_memory.unlink(buffer.name)


# Windows and macOS


def test_memory_is_shared_without_files_on_windows(tmp_path, monkeypatch):
    share_memory_as_windows(monkeypatch, tmp_path)
    buffer = SharedBuffer.make(10_000)
    assert buffer is not None
    buffer.array[:5] = np.frombuffer(b"here!", np.uint8)
    assert bytes(SharedBuffer(buffer.name, buffer.size).array[:5]) == b"here!"
    shared_memory.unlink(buffer.name)
    assert os.listdir(tmp_path) == [buffer.name]  # what has no file is not removed


def test_windows_that_has_no_memory_left_has_no_shared_buffer(monkeypatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOMEM, "The paging file is too small for this operation to complete")

    monkeypatch.setattr(shared_memory, "_WITHOUT_FILES", True)
    monkeypatch.setattr(shared_memory, "mmap", types.SimpleNamespace(mmap=refuse))
    assert SharedBuffer.make(100) is None


@pytest.fixture
def macos(tmp_path, monkeypatch):
    """The folder for temporary files of a system without /dev/shm and posix_fallocate."""
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(shared_memory, "_FOLDER", "/no/such/folder")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("size", [1, 100, (1 << 20) + 1])
def test_all_pages_are_allocated_on_macos(macos, size):
    buffer = SharedBuffer.make(size)
    assert buffer is not None
    assert os.stat(buffer.name).st_size == size
    assert os.stat(buffer.name).st_blocks * 512 >= size
    assert Path(buffer.name).parent == macos
    assert not buffer.array.any()
    shared_memory.unlink(buffer.name)
    assert os.listdir(macos) == []


@pytest.mark.parametrize("known", [True, False], ids=["known before", "noticed while writing"])
def test_full_disk_is_no_shared_buffer_on_macos_and_no_sigbus(macos, known, monkeypatch):
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    if known:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: types.SimpleNamespace(free=99))
    else:
        monkeypatch.setattr(os, "write", full)
    assert SharedBuffer.make(100) is None
    assert os.listdir(macos) == []
