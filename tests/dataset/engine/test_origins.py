"""An error in a user's function names the file and the record of its element, after every transform."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.origins import Origin, origins_text
from tests.support.damage import flip_byte
from tests.support.dataset_properties import CHAINS, saved, write_files
from tests.support.settings import sampled

COUNTS = [13, 0, 21, 13]
CONSUMERS = [{}, {"rank": 1, "world_size": 2}, {"rank": 0, "world_size": 2, "worker": 1, "workers": 2}]
# They read other datasets than one over files, or read them elsewhere: the note says the position.
UNKNOWN = {"parallel", "parallel, shuffled before and behind", "interleave", "pack"}


class BrokenImageError(Exception):
    pass


def notes(error: BaseException) -> str:
    return "\n".join(error.__notes__)


def records_in(element: Any) -> Iterator[bytes]:
    if isinstance(element, bytes):
        yield element
    elif isinstance(element, (tuple, list, pr.Records, np.ndarray)):
        for part in element:
            yield from records_in(part)


def origin(paths: list[str], number: int) -> Origin:
    for path, count in zip(paths, COUNTS, strict=True):
        if number < count:
            return Origin(path, number)
        number -= count
    raise AssertionError


class FailAt:
    """Fails at its ``n``-th call, and keeps the element."""

    def __init__(self, n: int) -> None:
        self.left = n
        self.element: Any = None

    def __call__(self, *element: Any) -> Any:
        if not self.left:
            self.element = element
            raise BrokenImageError("cannot identify image file")
        self.left -= 1
        return 0


@pytest.mark.light(12)
@pytest.mark.parametrize("name", CHAINS)
def test_the_error_of_a_function_names_the_records_of_its_element(name, tmp_path):
    doubled = name == "map" or ("threads" in name and "seed" not in name)
    paths = write_files(tmp_path, COUNTS)
    for consumer in sampled(CONSUMERS, 2):
        dataset = CHAINS[name](TFRecordDataset(paths))
        start = dataset.iterator(1, **consumer)
        next(start)
        for state in (None, saved(start)):
            for calls in (0, 1):
                function = FailAt(calls)
                iterator = dataset.map(function).iterator(1, **consumer)
                if state is not None:
                    iterator.load_state_dict({**state, "chain": dataset.map(function)._node.outline()})
                try:
                    assert len(list(iterator)) <= calls
                    continue
                except BrokenImageError as error:
                    note = notes(error)
                assert note.startswith("map(FailAt): ")
                if name in UNKNOWN:
                    assert note.endswith("of epoch 1")
                else:
                    records = records_in(function.element)
                    numbers = [int(record[: len(record) // 2] if doubled else record) for record in records]
                    expected = [origin(paths, number) for number in numbers]
                    assert note == f"map(FailAt): {origins_text(expected)}"


def broken(record: bytes) -> Any:
    if record == b"17":
        raise BrokenImageError("cannot identify image file")
    return record


FORMS = {
    "map": lambda ds: ds.map(broken),
    "map in threads": lambda ds: ds.map(broken, 2),
    "map in processes": lambda ds: ds.map(broken, 2, processes=True),
    "map in parallel": lambda ds: ds.map(broken).parallel(2),
    "filter": lambda ds: ds.filter(broken),
    "map after filter": lambda ds: ds.filter(lambda record: len(record) > 1).map(broken),
    "map after shuffle": lambda ds: ds.shuffle(10, seed=4).map(broken).batch(3),
    "map before shuffle": lambda ds: ds.map(broken).shuffle(10, seed=4).batch(3),
    "map after global_shuffle": lambda ds: ds.global_shuffle(seed=4).map(broken).batch(3),
    "map before global_shuffle": lambda ds: ds.map(broken).take(40).skip(2).global_shuffle(seed=4),
    "map after prefetch": lambda ds: ds.prefetch(2).map(broken).prefetch(2),
    "concatenated tables": lambda ds: ds.take(20).concatenate(ds.take(3)).map(broken).global_shuffle(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_file_and_record_stand_in_the_traceback(form, compression, tmp_path):
    if compression and "global" in form + "global" * ("tables" in form):
        pytest.skip("a GZIP stream has no random access")
    paths = write_files(tmp_path, COUNTS, compression)
    dataset = FORMS[form](TFRecordDataset(paths))
    consumers = (
        [{}] if form == "map in parallel" else [{}, {"worker": 0, "workers": 2}, {"worker": 1, "workers": 2}]
    )
    found = 0
    for consumer in consumers:
        try:
            list(dataset.iterator(0, **consumer))
        except BrokenImageError as error:
            found += 1
            text = "".join(traceback.format_exception(error))
            assert f"{paths[2]}: record 4\n" in text
    assert found >= 1 + (len(consumers) > 1)


def test_large_records_are_found_without_reading_them(tmp_path):
    paths = write_files(tmp_path, COUNTS, size=1 << 15)

    def fails(record):
        if record.startswith(b"17"):
            raise BrokenImageError

    with pytest.raises(BrokenImageError) as caught:
        list(TFRecordDataset(paths).shuffle(30, seed=1).map(fails))
    assert notes(caught.value) == f"map({fails.__qualname__}): {paths[2]}: record 4"


def test_record_numbers_count_damaged_records_too(tmp_path):
    (path,) = write_files(tmp_path, [20])
    Path(path).write_bytes(flip_byte(Path(path).read_bytes(), 31))
    with pytest.raises(BrokenImageError) as caught:
        list(TFRecordDataset(path, on_error="skip").shuffle(5).map(broken))
    (record,) = [n for n, record in enumerate(pr.read_records(path, on_error="skip")) if record == b"17"]
    assert record == 16
    assert notes(caught.value) == f"map(broken): {path}: record 17"


UNKNOWN_SOURCES = {
    "range": lambda fails: Dataset.range(30).map(fails),
    "rows": lambda fails: Dataset.from_tensor_slices(list(range(30))).map(fails),
    "generator": lambda fails: Dataset.from_generator(lambda: range(30)).map(fails),
    "a table": lambda fails: Dataset.range(30).map(fails).global_shuffle(),
}


@pytest.mark.parametrize("source", UNKNOWN_SOURCES)
def test_elements_of_no_file_are_named_by_their_position(source):
    def fails(number):
        if number == 17:
            raise BrokenImageError

    with pytest.raises(BrokenImageError) as caught:
        list(UNKNOWN_SOURCES[source](fails))
    assert "element 17" in notes(caught.value)


def test_rows_of_a_batch_whose_number_a_function_changed_are_not_named_wrongly(tmp_path):
    paths = write_files(tmp_path, COUNTS)
    halves = TFRecordDataset(paths).batch(4).map(lambda batch: batch[1:]).unbatch()
    with pytest.raises(BrokenImageError) as caught:
        list(halves.map(broken))
    assert notes(caught.value) == "map(broken): element 12 of epoch 0"


def test_a_user_keeps_the_type_and_the_cause_of_the_error(tmp_path):
    (path,) = write_files(tmp_path, [3])

    def fails(record):
        try:
            raise KeyError("a")
        except KeyError as error:
            raise BrokenImageError("broken") from error

    with pytest.raises(BrokenImageError) as caught:
        list(TFRecordDataset(path).map(fails))
    assert str(caught.value) == "broken"
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("spec", [pr.FixedLenFeature([], "int64"), pr.VarLenFeature("int64")])
def test_parse_after_shuffle_names_file_and_record(spec, batched, workers, tmp_path):
    paths = [str(tmp_path / f"{number}.tfrecord") for number in range(3)]
    for number, path in enumerate(paths):
        with pr.TFRecordWriter(path) as writer:
            values = [{"x": 1.5} if (number, row) == (1, 6) else {"x": row} for row in range(10)]
            writer.write_many(map(pr.encode_example, values))
    records = TFRecordDataset(paths).shuffle(12, seed=3)
    dataset = (records.batch(4) if batched else records).parse({"x": spec})
    errors = []
    for worker in range(workers):
        try:
            list(dataset.iterator(0, worker=worker, workers=workers))
        except pr.SchemaError as error:
            errors.append((error.path, error.record))
    assert errors == [(paths[1], 6)]


def test_a_payload_that_is_no_example_is_named_after_shuffle(tmp_path):
    paths = write_files(tmp_path, [5, 5])
    with pr.TFRecordWriter(paths[0]) as writer:
        writer.write_many([pr.encode_example({"x": row}) for row in range(5)])
    with pr.TFRecordWriter(paths[1]) as writer:
        writer.write_many([*[pr.encode_example({"x": row}) for row in range(4)], b"\xff\xff"])
    with pytest.raises(pr.DecodeError) as caught:
        list(TFRecordDataset(paths).shuffle(6, seed=3).batch(3).parse({"x": pr.FixedLenFeature([], "int64")}))
    assert (caught.value.path, caught.value.record) == (paths[1], 4)


def test_rows_of_parsed_batches_are_found_behind_a_batch_that_failed_too(tmp_path):
    path = str(tmp_path / "a")
    records = [pr.encode_example({"n": [number]}) for number in range(30)]
    records[10] = pr.encode_example({"n": [1, 2]})
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(records)

    def fail_at_25(row: dict[str, Any]) -> None:
        if row["n"] == 25:
            raise BrokenImageError

    iterator = iter(TFRecordDataset(path).batch(4).parse({"n": "int64"}).unbatch().map(fail_at_25))
    with pytest.raises(pr.SchemaError):
        list(iterator)
    with pytest.raises(BrokenImageError) as caught:
        list(iterator)
    assert notes(caught.value).endswith(f"{path}: record 25")
