"""Remote files: the right bytes or one clear error, whatever the store does; what is read ahead, and how."""

from __future__ import annotations

import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.storage import remote_file
from purerecord.storage.file_handles import open_file
from purerecord.storage.remote_file import NoRangesError, RemoteFile
from purerecord.storage.stores import ChangedError, Status
from tests.support.damage import frames
from tests.support.faulty_store import URL, FaultyObject, plan, stored_as
from tests.support.settings import tries

DATA = bytes(i * 7 % 251 for i in range(1234))


# The right bytes


@given(
    spans=st.lists(st.tuples(st.integers(0, 1300), st.integers(0, 400)), max_size=12),
    ahead=st.booleans(),
    data=st.sampled_from([b"", b"x", DATA[:100], DATA]),
)
def test_reads_give_the_same_bytes_as_a_local_file(spans, ahead, data):
    with stored_as(FaultyObject(data)):
        file = RemoteFile(URL, ahead=ahead)
        for offset, size in spans:
            expected = data[offset : offset + size]
            assert file.read_at(offset, size) == expected
            view = memoryview(bytearray(size))
            assert file.read_into(offset, view) == len(expected)
            assert view[: len(expected)] == expected
        ascending = sorted(spans)
        assert file.read_many(ascending) == [data[offset : offset + size] for offset, size in ascending]


@pytest.mark.parametrize("seed", range(tries(30)))
def test_a_store_that_fails_again_and_again_loses_and_doubles_nothing(seed):
    faults = plan(seed, ("reset", "busy", "short", "empty", "too much"))
    with stored_as(FaultyObject(DATA, faults), ATTEMPTS=20):
        file = RemoteFile(URL, ahead=seed % 2 == 0)
        got = b"".join(file.read_at(at, 77) for at in range(0, len(DATA), 77))
        assert got == DATA
        assert file.read_many([(3, 20), (500, 40), (1230, 4)]) == [DATA[3:23], DATA[500:540], DATA[1230:]]


def test_a_request_without_an_answer_is_made_again_beside_the_first_one():
    with stored_as(FaultyObject(DATA, iter(["stall"])), PATIENCE=0.05) as store:
        assert RemoteFile(URL).read_at(0, 50) == DATA[:50]
        assert store.requests == [(0, 50), (0, 50)]


def test_a_broken_off_range_goes_on_at_the_byte_where_it_broke_off():
    with stored_as(FaultyObject(DATA, iter(["short", "reset"]))) as store:
        assert RemoteFile(URL).read_at(100, 80) == DATA[100:180]
        assert store.requests == [(100, 180), (140, 180), (140, 180)]


# One clear error


@pytest.mark.parametrize(
    ("faults", "error", "match", "requests"),
    [
        (["reset"] * 99, OSError, "given up after 8 attempts: the connection was reset", 8),
        (["too much"] * 99, OSError, "the server sent 51 bytes for a range of 50", 8),
        (["empty"] * 99, OSError, "the server sent nothing for the 50 bytes at 0", 8),
        (["forbidden"], PermissionError, "the store refuses access", 1),
        (["gone"], FileNotFoundError, "No such file or directory", 1),
    ],
)
def test_a_fault_that_stays_is_one_error_that_names_the_file(faults, error, match, requests):
    with stored_as(FaultyObject(DATA, iter(faults))) as store:
        with pytest.raises(error, match=match) as caught:
            RemoteFile(URL).read_at(0, 50)
        assert caught.value.filename == URL
        assert len(store.requests) == requests


def test_a_large_request_is_made_in_pieces():
    with stored_as(FaultyObject(DATA), _LARGEST_JOINED=500) as file:
        assert RemoteFile(URL).read_at(0, len(DATA)) == DATA
    assert file.requests == [(0, 500), (500, 1000), (1000, 1234)]


def test_a_store_that_never_answers_is_an_error():
    faulty = FaultyObject(DATA, iter(["stall"] * 99))
    with stored_as(faulty, PATIENCE=0.01, ATTEMPTS=3), pytest.raises(TimeoutError, match="does not answer"):
        RemoteFile(URL).read_at(0, 50)


@pytest.mark.parametrize("change", ["version", "size"])
def test_a_file_that_is_replaced_while_it_is_read_is_an_error(change):
    with stored_as(FaultyObject(DATA)) as store:
        file = RemoteFile(URL, ahead=True)
        assert file.read_at(0, 50) == DATA[:50]
        if change == "version":
            store.version = "2"
        else:
            store.data = DATA[:600]
        with pytest.raises(ChangedError, match="replaced while it was read"):
            list(map(file.read_at, range(0, len(DATA), 50), [50] * 99))


def test_a_server_without_ranges_is_told_apart():
    store = FaultyObject(DATA)
    store.status = lambda: Status(None, "")  # type: ignore[method-assign]
    with stored_as(store), pytest.raises(NoRangesError):
        RemoteFile(URL)


# Reading ahead


def test_reading_forward_keeps_a_bounded_number_of_ranges_under_way():
    data = bytes(100 * 100)
    with stored_as(FaultyObject(data, delay=0.002), AHEAD=4) as store:
        file = RemoteFile(URL, ahead=True)
        for at in range(0, len(data), 50):
            file.read_at(at, 50)
            assert len(file._ranges) <= 4 + 2
        assert 1 < store.most_at_once <= 5
        assert sorted(store.requests) == [(at, at + 100) for at in range(0, len(data), 100)]


def test_a_short_look_at_the_beginning_reads_one_range():
    with stored_as(FaultyObject(bytes(10_000))) as store:
        RemoteFile(URL, ahead=True).read_at(0, 12)
        time.sleep(0.01)
        assert store.requests == [(0, 100)]


def test_reading_at_random_asks_for_what_is_wanted_only():
    with stored_as(FaultyObject(DATA)) as store:
        file = RemoteFile(URL)
        file.read_at(1000, 10)
        file.read_at(17, 3)
        assert store.requests == [(1000, 1010), (17, 20)]


def test_close_spans_become_one_request_and_large_gaps_stay():
    with stored_as(FaultyObject(DATA), _GAP=10, _LARGEST_JOINED=60) as store:
        spans = [(0, 10), (15, 10), (30, 5), (100, 5), (104, 3), (150, 55), (206, 20)]
        assert RemoteFile(URL).read_many(spans) == [DATA[at : at + size] for at, size in spans]
        assert sorted(store.requests) == [(0, 35), (100, 107), (150, 205), (206, 226)]


# Records


RECORDS = [b"record %d " % i * (i % 9) for i in range(60)]


@pytest.mark.parametrize("seed", range(tries(12)))
def test_records_come_exactly_once_from_a_store_that_fails(seed):
    faults = plan(seed, ("reset", "busy", "short", "empty", "too much"))
    with stored_as(FaultyObject(frames(RECORDS), faults), ATTEMPTS=20):
        assert list(pr.read_records(URL)) == RECORDS
        assert list(pr.TFRecordDataset(URL)) == RECORDS
        assert pr.validate(URL).records == len(RECORDS)


class Flipping(FaultyObject):
    """Gives a wrong byte in the answer to one of the requests, as a broken network card would."""

    flips = 1

    def _answer(self, fault: str, begin: int, end: int) -> bytes:
        data = bytearray(super()._answer(fault, begin, end))
        if begin == 200 and self.flips:
            self.flips -= 1
            data[50] ^= 1
        return bytes(data)


READERS = {
    "read_records": lambda: list(pr.read_records(URL)),
    "read_batches": lambda: [r for batch in pr.read_batches(URL, batch_size=7) for r in batch],
    "TFRecordDataset": lambda: list(pr.TFRecordDataset(URL)),
    "skip": lambda: list(pr.read_records(URL, on_error="skip")),
}


@pytest.mark.parametrize("reader", READERS)
def test_damage_on_the_way_is_gone_when_it_is_read_again(reader):
    with stored_as(Flipping(frames(RECORDS))):
        assert READERS[reader]() == RECORDS


def test_damage_on_the_way_is_no_damage_to_the_file():
    with stored_as(Flipping(frames(RECORDS))):
        assert pr.validate(URL).ok


@pytest.mark.parametrize("reader", READERS)
def test_damage_in_the_store_is_damage(reader):
    data = bytearray(frames(RECORDS))
    data[250] ^= 1
    with stored_as(FaultyObject(bytes(data))):
        if reader == "skip":
            assert len(READERS[reader]()) == len(RECORDS) - 1
        else:
            with pytest.raises(pr.CorruptionError):
                READERS[reader]()


def test_damage_in_a_file_that_was_replaced_is_named_as_that():
    records = [bytes(100_000)] * 60
    with stored_as(FaultyObject(frames(records)), RANGE=1 << 20, AHEAD=2) as store:
        reader = pr.read_records(URL)
        assert next(reader) == records[0]
        store.data, store.version = bytes(len(store.data)), "2"
        with pytest.raises(ChangedError):
            list(reader)


# Processes and threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_reads_on_with_connections_of_its_own():
    with stored_as(FaultyObject(DATA)):
        file = RemoteFile(URL, ahead=True)
        file.read_at(0, 150)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                whole = b"".join(file.read_at(at, 60) for at in range(0, len(DATA), 60))
                code = 0 if whole == DATA else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert file.read_at(0, 2000) == DATA


def test_threads_share_a_file():
    wrong = []
    with stored_as(FaultyObject(DATA, delay=0.0005)):
        file = RemoteFile(URL, ahead=True)

        def read(begin: int) -> None:
            for at in range(begin, len(DATA), 90):
                if file.read_at(at, 90) != DATA[at : at + 90]:
                    wrong.append(at)

        threads = [threading.Thread(target=read, args=(begin,)) for begin in (0, 300, 700)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_no_thread_is_left_when_a_file_has_been_read():
    with stored_as(FaultyObject(DATA)):
        before = threading.active_count()
        assert open_file(URL, ahead=True).read_at(0, len(DATA)) == DATA
        deadline = time.monotonic() + 10
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.001)
        assert threading.active_count() <= before


def test_a_forked_process_compares_versions_only_with_those_of_its_own_library():
    class Reworded(FaultyObject):
        def status(self) -> Status:
            return Status(len(self.data), "in other words: " + self.version)

    first, second = FaultyObject(DATA), Reworded(DATA)
    with stored_as(first), pytest.MonkeyPatch.context() as patch:
        file = RemoteFile(URL)
        patch.setattr(remote_file, "open_object", lambda url: second)
        patch.setattr(file, "_pid", -1)  # as after a fork
        assert file.read_at(0, len(DATA)) == DATA
        second.version = "2"
        with pytest.raises(ChangedError):
            file.read_at(0, len(DATA))


def test_what_is_found_twice_in_a_row_counts_and_there_is_an_end_to_it() -> None:
    found = iter([1, 2, 3, 3, 4])
    assert remote_file.found_twice(lambda: next(found), "file") == 3
    numbers = iter(range(100))
    with pytest.raises(OSError, match="other ones each time they are read"):
        remote_file.found_twice(lambda: next(numbers), "file")
    assert next(numbers) == remote_file.ATTEMPTS + 1
