"""``tf.data`` without TensorFlow; ``tests/interop`` compares all of it with the real one."""

from __future__ import annotations

import contextlib
import gc
import gzip
import tempfile
import threading
import zlib
from collections import OrderedDict, namedtuple
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf
from purerecord.container import frames
from purerecord.tf.data.iterators import AutotunedMap, Interleave, ParallelMap, Shuffle

Dataset = tf.data.Dataset
Point = namedtuple("Point", ["x", "y"])


def values(dataset: Any) -> list[Any]:
    return [np.asarray(element).tolist() for element in dataset]


# --- Elements ---------------------------------------------------------------------------------------


def test_elements_are_eager_tensors() -> None:
    for element in Dataset.from_tensor_slices([1, 2]):
        assert isinstance(element, type(tf.constant(0)))
        assert element.dtype is tf.int32


def test_named_tuples_and_ordered_dictionaries_keep_their_kind() -> None:
    (point,) = Dataset.from_tensor_slices(Point([1, 2], ["x", "y"])).batch(2)
    assert isinstance(point, Point)
    assert point.y.numpy().tolist() == [b"x", b"y"]
    (ordered,) = Dataset.from_tensor_slices(OrderedDict(b=[1, 2], a=[3, 4])).batch(2)
    assert type(ordered) is OrderedDict
    assert list(ordered) == ["b", "a"]


def test_named_tuple_is_one_argument_and_a_tuple_is_several() -> None:
    points = Dataset.from_tensor_slices(Point([1, 2], [3, 4]))
    assert values(points.map(lambda point: point.x + point.y)) == [4, 6]
    pairs = Dataset.from_tensor_slices(([1, 2], [3, 4]))
    assert values(pairs.map(lambda x, y: x + y)) == [4, 6]


def test_python_runs_inside_of_functions() -> None:
    """Nothing is traced: values can be looked at, and ``if`` is ``if``."""
    dataset = Dataset.range(4).map(lambda x: x * 10 if x.numpy() % 2 else x)
    assert values(dataset) == [0, 10, 2, 30]


def test_strings_keep_trailing_zero_bytes_all_the_way() -> None:
    strings = [b"a\0", b"", b"\0\0"]
    dataset = Dataset.from_tensor_slices(strings).shuffle(1).cache().batch(2).unbatch().map(lambda s: s)
    assert [element.numpy() for element in dataset] == strings


def test_element_spec_is_known_without_running_anything() -> None:
    def generator() -> Any:
        raise AssertionError("nobody asked for elements")

    dataset = Dataset.from_generator(generator, output_signature=tf.TensorSpec([None], tf.int64))
    assert dataset.take(3).padded_batch(2, [None]).element_spec == tf.TensorSpec([None, None], tf.int64)


def test_element_spec_after_a_function_is_seen_from_the_first_elements() -> None:
    assert Dataset.range(3).map(lambda x: tf.zeros([2, 3])).element_spec == tf.TensorSpec([2, 3])
    lengths = Dataset.range(9).map(lambda x: tf.fill([x], 1))
    assert lengths.element_spec == tf.TensorSpec([None], tf.int32)
    assert Dataset.range(9).batch(3).map(lambda x: x * 2).element_spec == tf.TensorSpec([None], tf.int64)
    with pytest.raises(ValueError, match="has no elements"):
        Dataset.range(0).map(lambda x: x).element_spec  # noqa: B018 - asking is the test


def test_looking_at_the_spec_does_not_change_what_comes() -> None:
    def order(look: bool) -> list[Any]:
        dataset = Dataset.range(20).shuffle(20, seed=5)
        mapped = dataset.map(lambda x: x)
        if look:
            assert mapped.element_spec == tf.TensorSpec([], tf.int64)
        return values(mapped)

    assert order(look=True) == order(look=False)


def test_attribute_error_in_a_function_is_not_taken_for_a_missing_method() -> None:
    with pytest.raises(TypeError, match=r"an element could not be made.*nothing_here"):
        Dataset.range(3).map(lambda x: x.nothing_here).element_spec  # noqa: B018 - asking is the test


def test_method_that_is_not_there_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"tf\.data\.Dataset\.snapshot is not in purerecord\.tf"):
        Dataset.range(3).snapshot(2)


# --- Order ------------------------------------------------------------------------------------------


@given(st.integers(0, 40), st.integers(1, 50), st.integers(0, 2**32))
def test_shuffle_is_a_permutation_that_looks_no_further_than_its_buffer(
    size: int, buffer: int, seed: int
) -> None:
    order = list(Shuffle(lambda _: iter(range(size)), buffer, str(seed), False)(False))
    assert sorted(order) == list(range(size))
    assert all(value < position + buffer for position, value in enumerate(order))


def test_seeded_shuffle_can_be_repeated_and_another_seed_differs() -> None:
    def order(seed: int) -> list[Any]:
        return values(Dataset.range(50).shuffle(50, seed=seed))

    first = order(7)
    assert order(7) == first
    assert order(8) != first
    try:
        tf.random.set_seed(1)
        assert order(7) == order(7) != first
    finally:
        tf.random.set_seed(None)


def test_global_seed_makes_unseeded_shuffles_repeatable() -> None:
    def orders() -> list[Any]:
        tf.random.set_seed(3)
        return [values(Dataset.range(30).shuffle(30)) for _ in range(2)]

    try:
        first = orders()
        assert orders() == first
        assert first[0] != first[1]
    finally:
        tf.random.set_seed(None)


def test_every_iteration_is_shuffled_anew_unless_told_not_to() -> None:
    dataset = Dataset.range(30).shuffle(30, seed=1)
    assert values(dataset) != values(dataset)
    fixed = Dataset.range(30).shuffle(30, seed=1, reshuffle_each_iteration=False)
    assert values(fixed) == values(fixed)
    twice = values(fixed.repeat(2))
    assert twice[:30] == twice[30:]


def reference(sources: list[list[Any]], cycle: int, block: int) -> list[Any]:
    """TensorFlow's rule, as plainly as it can be said: one position, one step at a time."""
    waiting, slots, out = list(sources), [None] * cycle, []
    position = taken = 0
    while waiting or any(slot is not None for slot in slots):
        if slots[position] is None and waiting:
            slots[position] = iter(waiting.pop(0))
        if slots[position] is not None:
            try:
                out.append(next(slots[position]))
                taken += 1
            except StopIteration:
                slots[position] = None
                taken = block
        if slots[position] is None or taken == block:
            position, taken = (position + 1) % cycle, 0
    return out


@given(st.lists(st.lists(st.integers(), max_size=6), max_size=6), st.integers(1, 5), st.integers(1, 4))
def test_interleaving_follows_the_rule(sources: list[list[Any]], cycle: int, block: int) -> None:
    assert list(Interleave(iter(sources), iter, cycle, block)) == reference(sources, cycle, block)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 7))
def test_batches_come_apart_again(numbers: list[int], size: int) -> None:
    dataset = Dataset.from_tensor_slices(np.array(numbers, np.int64))
    assert values(dataset.batch(size).unbatch()) == numbers
    whole = len(numbers) // size * size
    assert values(dataset.batch(size, drop_remainder=True).unbatch()) == numbers[:whole]
    assert len(dataset.batch(size)) == len(list(dataset.batch(size)))


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=8))
def test_padding_is_what_a_ragged_tensor_gives(rows: list[list[int]]) -> None:
    dataset = Dataset.from_generator(lambda: iter(rows), tf.int64, [None])
    (batch,) = dataset.padded_batch(len(rows), padding_values=np.int64(-1))
    assert batch.numpy().tolist() == pr.Ragged.from_rows(rows, np.int64).to_dense(-1).tolist()


# --- Threads ----------------------------------------------------------------------------------------


def test_threads_keep_the_order_and_pass_errors_on_in_their_place() -> None:
    def function(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    results = ParallelMap(function, iter(range(10)), 3)
    assert list(islice(results, 5)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert list(results) == [6, 7, 8, 9]


def test_an_error_below_comes_after_what_was_before_it() -> None:
    def broken() -> Any:
        yield from range(3)
        raise ValueError("below")

    results = ParallelMap(lambda number: number, broken(), 2)
    assert list(islice(results, 3)) == [0, 1, 2]
    with pytest.raises(ValueError, match="below"):
        next(results)


def test_quick_functions_stay_in_their_thread_and_slow_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purerecord.tf.data.iterators.os.cpu_count", lambda: 2)
    for worthwhile, elsewhere in ((float("inf"), False), (-1.0, True)):
        monkeypatch.setattr("purerecord.tf.data.iterators._SECONDS_WORTH_A_THREAD", worthwhile)
        threads = list(AutotunedMap(lambda _: threading.current_thread().name, iter(range(20))))
        assert ({*threads[4:]} != {threading.current_thread().name}) is elsewhere
        assert {*threads[:4]} == {threading.current_thread().name}


def test_prefetching_thread_ends_with_its_iterator() -> None:
    before = set(threading.enumerate())
    iterator = iter(Dataset.range(1000).prefetch(2))
    next(iterator)
    assert set(threading.enumerate()) - before
    del iterator
    gc.collect()
    assert not set(threading.enumerate()) - before


def test_prefetched_errors_come_in_their_place() -> None:
    dataset = Dataset.range(4).map(lambda x: 6 // (x - 2)).prefetch(2)
    iterator = iter(dataset)
    assert [int(next(iterator)), int(next(iterator))] == [-3, -6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        next(iterator)


# --- Caches -----------------------------------------------------------------------------------------


def counted(dataset: Any) -> tuple[Any, list[int]]:
    calls: list[int] = []
    return dataset.map(lambda x: calls.append(int(x)) or x), calls


def test_cache_is_filled_by_a_whole_iteration_only() -> None:
    dataset, calls = counted(Dataset.range(4))
    cached = dataset.cache()
    next(iter(cached))
    assert values(cached) == values(cached) == [0, 1, 2, 3]
    assert calls == [0, 0, 1, 2, 3]


def test_cache_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    dataset, calls = counted(Dataset.range(3))
    cached = dataset.map(lambda x: {"x": x, "s": "text"}).cache(str(tmp_path / "cache"))
    iterator = iter(cached)
    next(iterator)
    assert not list(tmp_path.glob("cache*"))
    del iterator
    first = [{key: element[key].numpy() for key in element} for element in cached]
    assert [path.name for path in tmp_path.iterdir()] == ["cache.tfrecord"]
    assert [{key: element[key].numpy() for key in element} for element in cached] == first
    assert calls == [0, 0, 1, 2]


def test_cache_keeps_nothing_that_is_not_whole(tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "cache")):
        failing = [True]

        def function(x: Any, failing: list[bool] = failing) -> Any:
            if failing[0] and x == 1:
                raise tf.errors.InvalidArgumentError(None, None, "once")
            return x

        cached = Dataset.range(3).map(function).cache(path)
        assert values(cached.ignore_errors()) == [0, 2]
        failing[0] = False
        assert values(cached) == [0, 1, 2]


# --- Several datasets -------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2), max_size=20), st.booleans())
def test_choices_are_followed(choices: list[int], stop: bool) -> None:
    parts = [Dataset.range(10 * part, 10 * part + 3) for part in range(3)]
    chosen = Dataset.from_tensor_slices(np.array(choices, np.int64))
    expected, position = [], [0, 0, 0]
    for choice in choices:
        if position[choice] < 3:
            expected.append(10 * choice + position[choice])
            position[choice] += 1
        elif stop:
            break
    assert values(Dataset.choose_from_datasets(parts, chosen, stop_on_empty_dataset=stop)) == expected


def test_samples_are_drawn_by_their_weights_and_repeatably() -> None:
    def drawn(seed: int) -> list[Any]:
        parts = [Dataset.range(1000), Dataset.range(1000, 2000)]
        return values(Dataset.sample_from_datasets(parts, [0.9, 0.1], seed=seed).take(1000))

    first = drawn(1)
    assert drawn(1) == first != drawn(2)
    assert 850 < sum(number < 1000 for number in first) < 950


# --- Files ------------------------------------------------------------------------------------------


def test_records_of_a_damaged_file_and_those_after_it(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with pr.TFRecordWriter(path) as writer:
            writer.write_many([path[-1] + "0", path[-1] + "1"])
    data = bytearray(Path(paths[0]).read_bytes())
    data[-6] ^= 1
    Path(paths[0]).write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=r"^corrupted record at 30$") as caught:
        list(tf.data.TFRecordDataset(paths))
    assert isinstance(caught.value, pr.ChecksumError)
    rest = tf.data.TFRecordDataset(paths).ignore_errors()
    assert [record.numpy() for record in rest] == [b"a0", b"b0", b"b1"]


@given(st.data())
def test_any_file_gives_records_or_tensorflows_errors(data: st.DataObject) -> None:
    whole = b"".join(piece for record in (b"hello", b"", b"x" * 40) for piece in frames.encode(record))
    compression = data.draw(st.sampled_from(["", "GZIP", "ZLIB"]))
    if compression:
        whole = zlib.compress(whole) if compression == "ZLIB" else gzip.compress(whole)
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))] + data.draw(st.binary(max_size=20)))
    if changed and data.draw(st.booleans()):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    with tempfile.NamedTemporaryFile() as file:
        file.write(changed)
        file.flush()
        dataset = tf.data.TFRecordDataset([file.name, file.name], compression)
        assert len(list(dataset.ignore_errors())) <= 20
        with contextlib.suppress(tf.errors.DataLossError):
            list(dataset)


def test_a_cut_header_is_the_end_as_in_tensorflow(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pr.TFRecordWriter(str(path)) as writer:
        writer.write(b"x")
    path.write_bytes(path.read_bytes() + b"12345678901")
    assert len(list(tf.data.TFRecordDataset(str(path)))) == 1
    with pytest.raises(pr.TruncatedError):
        list(pr.read_records(str(path)))


def test_unknown_compression_is_logged_and_read_as_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "file")
    with pr.TFRecordWriter(path) as writer:
        writer.write(b"x")
    assert len(list(tf.data.TFRecordDataset(path, "FOO"))) == 1
    assert "Unsupported compression_type: FOO" in caplog.text
    with pytest.raises(tf.errors.UnimplementedError):
        tf.data.TFRecordDataset(path, "SNAPPY")


def test_datasets_are_written_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    dataset = Dataset.range(3).map(tf.io.serialize_tensor)
    tf.data.experimental.TFRecordWriter(path, "GZIP").write(dataset)
    again = tf.data.TFRecordDataset(path, "GZIP").map(lambda record: tf.io.parse_tensor(record, tf.int64))
    assert values(again) == [0, 1, 2]


def test_a_pipeline_as_tutorials_have_it(tmp_path: Path) -> None:
    pattern = str(tmp_path / "train-{}.tfrecord")
    for shard in range(3):
        with tf.io.TFRecordWriter(pattern.format(shard)) as writer:
            for row in range(10):
                feature = {
                    "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[shard * 10 + row])),
                    "odd": tf.train.Feature(int64_list=tf.train.Int64List(value=[row % 2 == 1])),
                }
                message = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(message.SerializeToString())
    specs = {"id": tf.io.FixedLenFeature([], tf.int64), "odd": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        example = tf.io.parse_single_example(record, specs)
        return example["id"], tf.cast(example["odd"], tf.bool)

    dataset = (
        Dataset.list_files(pattern.format("*"))
        .interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
        .shuffle(100)
        .repeat(2)
        .batch(8, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    batches = list(dataset)
    assert len(batches) == 7
    ids = np.concatenate([ids.numpy() for ids, _ in batches])
    odds = np.concatenate([odd.numpy() for _, odd in batches])
    assert np.array_equal(ids % 10 % 2 == 1, odds)
    assert np.bincount(ids).max() == 2
