"""Records that a function parses one by one: the elements and errors are those of parsing each alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf
from purerecord.tf._values.rows import RecordTensor
from purerecord.tf.data import record_blocks as module
from purerecord.tf.data.record_blocks import RecordBlocks
from tests.support.exact import exact, outcome
from tests.support.settings import tries
from tests.support.strategies import mutate

SPECS = {
    "a": tf.io.FixedLenFeature([], tf.int64),
    "b": tf.io.FixedLenFeature([2], tf.float32, [1.0, 2.0]),
    "s": tf.io.FixedLenFeature([], tf.string),
    "v": tf.io.VarLenFeature(tf.int64),
    "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}


def payload(number: int) -> bytes:
    values = {"a": number, "b": [number, 0.5], "s": b"s%d" % number, "v": list(range(number % 3))}
    return pr.encode_example({**values, "q": [7] * (number // 30)})


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("records"), [payload(number) for number in range(70)])


def write(folder: Path, payloads: list[bytes]) -> str:
    name = str(folder / "records")
    with pr.TFRecordWriter(name) as writer:
        writer.write_many(payloads)
    return name


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_SIZE", 2)
    monkeypatch.setattr(module, "_LARGEST_SIZE", 8)


def parse(record: Any) -> Any:
    return tf.io.parse_single_example(record, SPECS)


def two(record: Any) -> Any:
    example = parse(record)
    return example["s"], tf.cast(example["a"], tf.int32)


def changed(record: Any) -> Any:
    example = parse(record)
    label = example.pop("a")
    return example, label


def more(record: Any) -> Any:
    example = parse(record)
    example["b"] = example["b"] + 1
    example["n"] = tf.constant(1)
    return example


def dense(record: Any) -> Any:
    example = parse(record)
    del example["v"], example["q"]
    return example


def fresh(record: Any) -> Any:
    specs = {"a": tf.io.FixedLenFeature([], tf.int64), "s": tf.io.FixedLenFeature((), tf.string, "")}
    return tf.io.parse_single_example(record, specs)


def nested(record: Any) -> Any:
    example = dense(record)
    return {"x": example, "y": (example["a"], example)}, [1, 2]


FUNCTIONS = (parse, two, changed, more, dense, fresh, nested)
CHAINS = {
    "batch": lambda ds, function: ds.map(function).batch(7),
    "alone": lambda ds, function: ds.map(function),
    "threads": lambda ds, function: ds.map(function, num_parallel_calls=3).batch(64),
    "autotune": lambda ds, function: ds.map(function, tf.data.AUTOTUNE).batch(10).prefetch(2),
    "shuffled before": lambda ds, function: ds.shuffle(50, seed=3).map(function).batch(16),
    "shuffled after": lambda ds, function: ds.map(function).shuffle(50, seed=3).batch(16),
    "cached": lambda ds, function: ds.map(function).cache().repeat(2).batch(32, drop_remainder=True),
    "selected": lambda ds, function: ds.skip(3).shard(2, 1).take(60).map(function).batch(8),
    "filtered": lambda ds, function: ds.filter(lambda r: parse(r)["a"] % 2 == 0).map(function).batch(8),
    "twice": lambda ds, function: ds.map(function).map(lambda *parts: parts).batch(8),
    "padded": lambda ds, function: ds.map(function).padded_batch(8),
    "unbatched": lambda ds, function: ds.map(function).batch(8).unbatch(),
    "repeated": lambda ds, function: ds.take(9).repeat(3).map(function).batch(4),
    "numpy": lambda ds, function: ds.map(function).batch(4).as_numpy_iterator(),
}


def alone(path: str, compression: str = "") -> Any:
    """The records as tensors that belong to no block."""
    return tf.data.TFRecordDataset(path, compression).map(lambda record: tf.constant(record.numpy()))


def collected(dataset: Any) -> list[Any]:
    """All elements of a dataset, and its errors in their places."""
    elements: Iterator[Any] = iter(dataset)
    found = []
    while True:
        result = outcome(lambda: next(elements))
        if result[:2] == ("error", "StopIteration"):
            return found
        found.append(result)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("chain", CHAINS)
def test_elements_are_those_of_records_parsed_alone(path: str, chain: str) -> None:
    for function in FUNCTIONS:
        together = collected(CHAINS[chain](tf.data.TFRecordDataset(path), function))
        assert together == collected(CHAINS[chain](alone(path), function)), function.__name__
        assert together


def test_blocks_of_the_usual_size_too(tmp_path: Path) -> None:
    path = write(tmp_path, [payload(number) for number in range(300)])
    for function in (parse, two):
        together = tf.data.TFRecordDataset(path).map(function).batch(64)
        assert collected(together) == collected(alone(path).map(function).batch(64))


@given(st.integers(0, 2**32))
@settings(max_examples=tries(40))
def test_bad_records_make_their_own_errors_and_no_others(tmp_path_factory: Any, seed: int) -> None:
    random = Random(seed)
    payloads = [payload(number) for number in range(40)]
    for _ in range(random.randrange(4)):
        place = random.randrange(40)
        payloads[place] = random.choice([mutate(payloads[place], random), b"", payloads[0]])
    path = write(tmp_path_factory.mktemp("bad"), payloads)
    if random.random() < 0.3:
        data = bytearray(Path(path).read_bytes())
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        Path(path).write_bytes(data)
    for chain in ("batch", "alone", "shuffled before"):
        together = collected(CHAINS[chain](tf.data.TFRecordDataset([path, path]), parse))
        records = tf.data.TFRecordDataset([path, path]).map(lambda record: tf.constant(record.numpy()))
        assert together == collected(CHAINS[chain](records, parse))


def test_an_iterator_parses_in_blocks_too(path: str) -> None:
    for record in tf.data.TFRecordDataset(path).take(40):
        example = parse(record)
        assert exact(example) == exact(parse(tf.constant(record.numpy())))


def test_users_get_plain_dictionaries(path: str) -> None:
    records = tf.data.TFRecordDataset(path)
    for dataset in (records.map(parse), records.map(changed), records.map(parse).batch(2)):
        element = next(iter(dataset))
        first = element[0] if isinstance(element, tuple) else element
        assert type(first) is dict
    assert type(records.map(parse).take(1).get_single_element()) is dict


def test_a_cached_element_is_not_changed_by_who_gets_it(path: str) -> None:
    cached = tf.data.TFRecordDataset(path).take(3).map(parse).cache()
    for _ in range(2):
        for number, element in enumerate(cached):
            assert element.pop("a").numpy() == number
            element.clear()


def test_records_are_read_ahead_only_where_nobody_can_tell(path: str) -> None:
    called: list[int] = []

    def counted(record: Any) -> Any:
        called.append(1)
        return record

    def generated() -> Iterator[bytes]:
        for number in range(30):
            called.append(1)
            yield payload(number)

    for dataset in (
        tf.data.TFRecordDataset(path).map(counted),
        tf.data.TFRecordDataset(path).filter(lambda r: counted(r) is not None),
        tf.data.Dataset.from_generator(generated, output_signature=tf.TensorSpec([], tf.string)),
    ):
        called.clear()
        elements = iter(dataset.map(parse))
        next(elements)
        assert len(called) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_records_of_a_pipe_come_when_they_are_written(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    received = threading.Semaphore(0)

    def produce() -> None:
        with open(pipe, "wb", buffering=0) as file, pr.TFRecordWriter(file) as writer:
            for number in range(3):
                writer.write(payload(number))
                writer.flush()
                assert received.acquire(timeout=60)

    producer = threading.Thread(target=produce, daemon=True)
    producer.start()
    for number, element in enumerate(tf.data.TFRecordDataset(pipe).map(parse)):
        assert element["a"].numpy() == number
        received.release()
    producer.join()


def test_blocks_are_small_and_given_up(path: str) -> None:
    def records(count: int, size: int) -> Iterator[RecordTensor]:
        return (RecordTensor(b"x" * size) for _ in range(count))

    sizes = []
    for count, size in ((2000, 10), (2000, 10_000), (20, 20_000)):
        blocks = RecordBlocks(records(count, size))
        places = [record._place for record in blocks]
        held = [len(place[0]._records) for place in places if place and place[0]._records is not None]
        sizes.append((sum(place is None for place in places) == count, max(held, default=0), len(set(held))))
    assert sizes[0] == (False, 256, 2)
    assert not sizes[1][0]
    assert sizes[1][1] <= (1 << 20) // 10_000 + 1
    assert sizes[2] == (True, 0, 0)
