"""Files as a source: their order, their number, damage in them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.dataset import TFRecordDataset
from tests.support.damage import flip_byte
from tests.support.dataset_properties import (
    check,
    elements,
    numbered,
    saved,
    write_files,
)

TOTAL = 47


@pytest.fixture(params=["", "GZIP"])
def files(request, tmp_path):
    return write_files(tmp_path, [5, 0, 12, 30], request.param)


def test_records_come_in_the_order_of_the_files(files):
    assert list(TFRecordDataset(files)) == numbered(TOTAL)
    assert len(TFRecordDataset(files)) == TOTAL


def with_paths(files: list[str]) -> list[tuple[str, bytes]]:
    numbers = iter(numbered(TOTAL))
    return [
        (path, next(numbers)) for path, count in zip(files, [5, 0, 12, 30], strict=True) for _ in range(count)
    ]


def test_each_record_comes_with_its_path(files):
    dataset = TFRecordDataset(files, with_path=True)
    assert list(dataset) == with_paths(files)
    assert sorted(dataset.shuffle(9)) == sorted(with_paths(files))
    assert list(dataset.map(lambda path, record: (record, path))) == [(r, p) for p, r in with_paths(files)]
    paths, records = next(iter(dataset.batch(TOTAL)))
    assert list(zip(paths, records, strict=True)) == with_paths(files)
    assert len(dataset) == TOTAL
    assert "with_path=True" in repr(dataset)
    assert sorted(e for w in (0, 1) for e in dataset.iterator(share="files", worker=w, workers=2)) == sorted(
        with_paths(files)
    )


def test_random_access_gives_the_path_too(tmp_path):
    for options in ("", pr.TFRecordOptions("GZIP", block_size=50)):
        files = write_files(tmp_path, [5, 0, 12, 30], options)
        shuffled = list(TFRecordDataset(files, with_path=True).global_shuffle(3))
        assert shuffled != with_paths(files)
        assert sorted(shuffled) == sorted(with_paths(files))


def test_large_records_that_wait_unread_in_a_window_come_with_their_path(tmp_path):
    files = write_files(tmp_path, [3, 9], size=40_000)
    expected = [(files[number >= 3], b"%d" % number + bytes(40_000)) for number in range(12)]
    dataset = TFRecordDataset(files, with_path=True).shuffle(5)
    assert sorted(dataset) == sorted(expected)
    check(dataset.map(lambda path, record: (path, record.rstrip(b"\0"))), every=5)


def test_damaged_files_come_with_their_paths(damaged):
    dataset = TFRecordDataset(damaged, on_error="skip", with_path=True)
    assert [path for path, _ in dataset] == [damaged[0]] * 9 + [damaged[1]] * 14 + [damaged[2]] * 5


@pytest.fixture
def damaged(tmp_path):
    """Three files; records 3 and 20 have a flipped bit."""
    paths = write_files(tmp_path, [10, 15, 5], size=20)
    for place, number in [(0, 3), (1, 10)]:
        offset = int(pr.build_index(paths[place]).offsets[number])
        Path(paths[place]).write_bytes(flip_byte(Path(paths[place]).read_bytes(), offset + 14))
    return paths


def test_damaged_records_are_skipped_counted_and_reported(damaged):
    dataset = TFRecordDataset(damaged, on_error="skip")
    iterator = iter(dataset)
    assert len(list(iterator)) == 28
    assert iterator.skipped == 2
    assert isinstance(iterator.last_error, pr.ChecksumError)
    assert iterator.last_error.path == damaged[1]
    check(dataset.shuffle(6).batch(3))


def test_damage_is_counted_over_a_resume(damaged):
    dataset = TFRecordDataset(damaged, on_error="skip").shuffle(3)
    iterator = iter(dataset)
    begin = elements(iterator, 18)
    other = iter(dataset)
    other.load_state_dict(saved(iterator))
    assert len(begin + elements(other)) == 28
    assert other.skipped == 2


def test_stop_ends_everything_at_the_first_damage(damaged):
    dataset = TFRecordDataset(damaged, on_error="stop")
    assert len(list(dataset)) == 3
    check(dataset)


def test_raise_names_the_record_and_only_who_takes_it_sees_the_damage(damaged):
    with pytest.raises(pr.ChecksumError) as caught:
        list(TFRecordDataset(damaged))
    assert (caught.value.path, caught.value.record) == (damaged[0], 3)
    for ranks in (1, 2):
        iterator = TFRecordDataset(damaged).iterator(0, rank=ranks - 1, world_size=ranks)
        good = []
        with pytest.raises(pr.ChecksumError):  # noqa: PT012 - a loop that ends by the error
            for record in iterator:
                good.append(record)
        assert [int(record.rstrip(b"\0")) for record in good] == [0, 1, 2][ranks - 1 :: ranks]
        going_on = TFRecordDataset(damaged, on_error="skip").iterator(0, rank=ranks - 1, world_size=ranks)
        going_on.load_state_dict(saved(iterator))
        assert len(list(going_on)) == len(range(3, 28, ranks))
    shares = [TFRecordDataset(damaged).batch(5).iterator(rank=rank, world_size=3) for rank in range(3)]
    assert len(list(shares[2])) == 2
    for rank in (0, 1):
        with pytest.raises(pr.ChecksumError):
            list(shares[rank])


def test_missing_file_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        TFRecordDataset(str(tmp_path / "none"))


# Pipes: without a size, they are read forward.


def fifo(folder, data: bytes) -> str:
    """A named pipe that a thread fills once."""
    path = str(folder / "pipe")
    os.mkfifo(path)
    threading.Thread(target=Path(path).write_bytes, args=(data,), daemon=True).start()
    return path


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_pipe_gives_its_records_as_a_file_does(compression, tmp_path):
    (path,) = write_files(tmp_path, [500], compression)
    pipe = fifo(tmp_path, Path(path).read_bytes())
    assert list(TFRecordDataset(pipe)) == numbered(500)


def test_pipe_that_is_cut_is_an_error(tmp_path):
    (path,) = write_files(tmp_path, [500])
    pipe = fifo(tmp_path, Path(path).read_bytes()[:-3])
    iterator = iter(TFRecordDataset(pipe))
    assert [next(iterator) for _ in range(499)] == numbered(499)
    with pytest.raises(pr.TruncatedError):
        next(iterator)


def test_pipe_has_no_length_and_no_random_access(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    dataset = TFRecordDataset(tmp_path / "pipe")
    with pytest.raises(TypeError):
        len(dataset)
    with pytest.raises(ValueError, match="global_shuffle"):
        next(iter(dataset.global_shuffle(1)))
    with pytest.raises(ValueError, match="needs a regular file"):
        pr.RecordFile(tmp_path / "pipe")


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_tail_ends_a_cut_file_quietly_for_every_consumer_and_raises_at_other_damage(compression, tmp_path):
    path = str(tmp_path / "cut")
    with pr.TFRecordWriter(path, compression) as writer:
        writer.write_many(numbered(500))
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[:-3])
    expected = list(pr.read_records(path, on_error="stop"))
    dataset = TFRecordDataset([path, path], on_error="tail")
    iterator = iter(dataset)
    assert list(iterator) == expected * 2
    assert iterator.last_error is not None
    shares = [list(dataset.iterator(0, rank=rank, world_size=2)) for rank in range(2)]
    assert sorted(shares[0] + shares[1]) == sorted(expected * 2)
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    Path(path).write_bytes(damaged)
    with pytest.raises(pr.CorruptionError):
        list(dataset)


SECOND_EPOCH = """
    import sys, purerecord as pr
    from purerecord.dataset import TFRecordDataset
    dataset = eval(sys.argv[1])
    count = 0
    try:
        for epoch in range(2):
            for _ in dataset:
                count += 1
    except pr.ClosedError as error:
        print(count, error)
"""


@pytest.mark.parametrize("chain", ["", ".repeat(2)", ".map(len).batch(7).unbatch()", ".shuffle(10, seed=1)"])
def test_a_second_epoch_over_stdin_refuses_instead_of_being_empty(chain, tmp_path):
    (path,) = write_files(tmp_path, [500])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SECOND_EPOCH), f"TFRecordDataset('/dev/stdin'){chain}"],
        input=Path(path).read_bytes(),
        env={**os.environ, "PYTHONPATH": str(Path(pr.__file__).parents[1])},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert done.stdout.decode() == (
        "500 /dev/stdin is no regular file and gives its data only once, and this dataset has read it; "
        "keep the elements with cache(), or read a file\n"
    )


def test_a_cached_pipe_gives_every_epoch(tmp_path):
    (path,) = write_files(tmp_path, [500])
    dataset = TFRecordDataset(fifo(tmp_path, Path(path).read_bytes())).cache()
    assert [list(dataset), list(dataset)] == [numbered(500)] * 2


TWO_READERS = """
    import sys, purerecord as pr
    from purerecord import TFRecordDataset, read_records
    first, second = eval(sys.argv[1])
    try:
        print(sum(1 for _ in first()))
        print(sum(1 for _ in second()))
    except pr.ClosedError as error:
        print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the system does not tell which pipe it is")
@pytest.mark.parametrize("first", ["TFRecordDataset", "read_records"])
@pytest.mark.parametrize("second", ["TFRecordDataset", "read_records"])
def test_a_second_reader_of_stdin_refuses_instead_of_being_empty(first, second, tmp_path):
    (path,) = write_files(tmp_path, [500])
    readers = f"[lambda: {first}('/dev/stdin'), lambda: {second}('/dev/stdin')]"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TWO_READERS), readers],
        input=Path(path).read_bytes(),
        env={**os.environ, "PYTHONPATH": str(Path(pr.__file__).parents[1])},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert done.stdout.decode() == (
        "500\n/dev/stdin is a pipe, which gives its data only once, and this process has opened it before; "
        "keep the first reader or dataset, or read a file\n"
    )


@pytest.mark.parametrize("consumer", [{"rank": 1, "world_size": 2}, {"worker": 0, "workers": 3}])
@pytest.mark.parametrize("chain", [lambda ds: ds, lambda ds: ds.shuffle(10, seed=1), lambda ds: ds.batch(3)])
def test_pipe_is_refused_by_several_workers_or_ranks(chain, consumer, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # which nobody fills: opening it would wait for ever
    dataset = chain(TFRecordDataset(tmp_path / "pipe"))
    with pytest.raises(ValueError, match="read it with one worker and one rank"):
        next(dataset.iterator(0, **consumer))


def test_parallel_refuses_one_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="1 files are not enough for 2 consumers"):
        next(iter(TFRecordDataset(tmp_path / "pipe").batch(3).parallel(2)))


def test_named_pipe_can_be_filled_and_read_again(tmp_path):
    (path,) = write_files(tmp_path, [500])
    pipe = fifo(tmp_path, Path(path).read_bytes())
    assert list(TFRecordDataset(pipe)) == numbered(500)
    writing = threading.Thread(target=Path(pipe).write_bytes, args=(Path(path).read_bytes(),), daemon=True)
    writing.start()
    assert list(TFRecordDataset(pipe)) == numbered(500)
