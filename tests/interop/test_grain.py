"""grain: RecordFile as its source, our chains inside its own, workers and checkpoints."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import elements, plain
from tests.support.interop import interop, run_page

grain = interop("grain")
flags = pytest.importorskip("absl.flags")
import purerecord.grain as prg  # noqa: E402 - only where grain is

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*use of fork.*", "ignore::DeprecationWarning:grain", "ignore::ResourceWarning"
)
FEATURES = {"id": pr.FixedLenFeature([], np.int64), "x": pr.FixedLenFeature([2], np.float32)}
COUNT = 40


@pytest.fixture(autouse=True)
def _parsed_flags():
    flags.FLAGS.mark_as_parsed()  # as absl.app.run does; grain's workers ask for them


def write_examples(folder: Path, options: Any = None) -> str:
    columns = {"id": np.arange(COUNT), "x": np.ones((COUNT, 2), np.float32)}
    pattern = str(folder / "examples@3.tfrecord")
    with pr.ShardedWriter(pattern, options=options) as writer:
        writer.write_many(pr.encode_examples(columns))
    return pattern


def parse(record: bytes) -> dict:
    return pr.parse_single_example(record, FEATURES)


def workers(count: int):
    return grain.MultiprocessingOptions(num_workers=count)


def ids(batches) -> list[list[int]]:
    return [np.asarray(batch["id"]).tolist() for batch in batches]


# RecordFile as a source


@pytest.mark.parametrize(
    "options", [None, pr.TFRecordOptions("GZIP", block_size=200)], ids=["plain", "blocked"]
)
def test_record_file_is_a_source(options, tmp_path):
    records = pr.RecordFile(write_examples(tmp_path, options))
    assert isinstance(records, grain.sources.RandomAccessDataSource)
    dataset = grain.MapDataset.source(records).shuffle(seed=3).map(parse).batch(6)
    assert len(dataset) == 7
    seen = ids(dataset)
    assert sorted(itertools.chain(*seen)) == list(range(COUNT))
    assert seen != sorted(seen)
    assert ids(dataset) == seen
    assert ids(dataset[[5, 0]] if hasattr(dataset, "__getitems__") else [dataset[5], dataset[0]]) == [
        seen[5],
        seen[0],
    ]


def test_many_records_are_read_at_once_where_grain_asks_for_them(tmp_path, monkeypatch):
    asked = []
    read = pr.RecordFile.__getitems__

    def watched(self, indices):
        asked.append(list(indices))
        return read(self, indices)

    monkeypatch.setattr(pr.RecordFile, "_getitems", watched)
    source = grain.MapDataset.source(pr.RecordFile(write_examples(tmp_path)))
    assert source._getitems([3, 1, 2]) == [pr.RecordFile(write_examples(tmp_path))[i] for i in (3, 1, 2)]
    assert asked == [[3, 1, 2]]


def test_workers_and_checkpoints(tmp_path):
    records = pr.RecordFile(write_examples(tmp_path))
    chain = grain.MapDataset.source(records).shuffle(seed=3).map(parse).batch(6).to_iter_dataset()
    whole = ids(chain)
    dataset = chain.mp_prefetch(workers(2))
    first = iter(dataset)
    begin = ids(itertools.islice(first, 4))
    state = json.loads(json.dumps(first.get_state()))
    assert begin + ids(first) == whole
    second = iter(dataset)
    second.set_state(state)
    assert begin + ids(second) == whole


def test_data_loader_with_a_sampler_goes_on_from_its_state(tmp_path):
    """The older way: its states hold the repr of the source, which must be that of the other process."""
    pattern = write_examples(tmp_path)

    def loader():
        sampler = grain.samplers.IndexSampler(COUNT, grain.sharding.NoSharding(), True, 2, 5)
        return grain.DataLoader(
            data_source=pickle.loads(pickle.dumps(pr.RecordFile(pattern))), sampler=sampler
        )

    first = iter(loader())
    begin = list(itertools.islice(first, 55))
    state = first.get_state()
    assert b"RecordFile" in state
    rest = list(first)
    second = iter(loader())
    second.set_state(state)
    assert list(second) == rest
    assert sorted(begin[:COUNT]) == sorted(pr.RecordFile(pattern))
    assert len(begin + rest) == 2 * COUNT


# A source that parses

KINDS = {
    "fixed": FEATURES,
    "ragged": {"id": FEATURES["id"], "x": pr.RaggedFeature(np.float32)},
    "in rows only": {
        "id": FEATURES["id"],
        "x": pr.FixedLenSequenceFeature([], np.float32, allow_missing=True),
    },
}


def listed(element: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(value, "to_list", np.asarray(value).tolist)() for name, value in element.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [None, pr.TFRecordOptions("GZIP", block_size=200)], ids=["plain", "blocked"]
)
def test_source_parses_records_one_by_one_and_together(kind, options, tmp_path):
    pattern = write_examples(tmp_path, options)
    source = prg.Source(pattern, KINDS[kind])
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    records = pr.RecordFile(pattern)
    expected = [listed(pr.parse_single_example(record, KINDS[kind])) for record in records]
    assert len(source) == COUNT
    assert [listed(source[number]) for number in range(COUNT)] == expected
    assert [listed(row) for row in source._getitems([7, 0, -1, 7])] == [expected[n] for n in (7, 0, -1, 7)]
    assert [listed(row) for row in pickle.loads(pickle.dumps(source)).__getitems__([3])] == [expected[3]]
    assert source.paths == records.paths
    assert repr(source) == f"Source({records!r}, ['id', 'x'])"
    for wrong in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError):
            source[wrong]
        with pytest.raises(IndexError):
            source.__getitems__([0, wrong])


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_batches_are_those_of_grain(drop_remainder, tmp_path, monkeypatch):
    pattern = write_examples(tmp_path)
    theirs = grain.MapDataset.source(pr.RecordFile(pattern)).map(parse)
    ours = grain.MapDataset.source(prg.Source(pattern, FEATURES))
    chains = {
        "in order": lambda dataset: dataset,
        "shuffled": lambda dataset: dataset.shuffle(seed=3),
        "a part": lambda dataset: dataset[5:29:3].shuffle(seed=3),
        "repeated": lambda dataset: dataset.shuffle(seed=3).repeat(3),
        "mapped": lambda dataset: dataset.map(lambda row: {**row, "y": row["id"] + 1}),
    }
    for name, chain in chains.items():
        expected = chain(theirs).batch(6, drop_remainder=drop_remainder)
        batches = prg.batch(chain(ours), 6, drop_remainder=drop_remainder)
        assert len(batches) == len(expected), name
        numbers = [*range(len(expected)), -1, 2 * len(expected) + 1]
        for number in numbers if name != "repeated" else range(len(expected)):
            assert listed(batches[number]) == listed(expected[number]), name
        assert [listed(batch) for batch in batches[1:3]] == [listed(batch) for batch in expected[1:3]]
    monkeypatch.setattr(prg.Source, "__getitem__", None)  # whole batches ask for no single record
    assert len(ids(prg.batch(ours.shuffle(seed=3), 6))) == COUNT // 6 + 1


def test_batches_of_bytes_and_ragged_columns_are_those_of_parse_example(tmp_path):
    path = tmp_path / "some.tfrecord"
    with pr.TFRecordWriter(path) as writer:
        for number in range(5):
            writer.write(pr.encode_example({"name": b"n\0" * number, "tags": list(range(number))}))
    features = {"name": pr.FixedLenFeature([], bytes, default_value=b""), "tags": pr.RaggedFeature(np.int64)}
    batch = prg.batch(grain.MapDataset.source(prg.Source(path, features)), 5)[0]
    assert batch["name"].tolist() == [b"n\0" * number for number in range(5)]
    assert batch["tags"].to_list() == [list(range(number)) for number in range(5)]


def test_batches_of_a_source_go_through_workers_and_on_from_checkpoints(tmp_path):
    source = grain.MapDataset.source(prg.Source(write_examples(tmp_path), FEATURES))
    chain = prg.batch(source.shuffle(seed=3), 6).to_iter_dataset()
    whole = ids(chain)
    assert sorted(itertools.chain(*whole)) == list(range(COUNT))
    for dataset in (chain, chain.mp_prefetch(workers(2))):
        first = iter(dataset)
        begin = ids(itertools.islice(first, 4))
        state = json.loads(json.dumps(first.get_state()))
        assert begin + ids(first) == whole
        second = iter(dataset)
        second.set_state(state)
        assert begin + ids(second) == whole


def test_damaged_record_of_a_source_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "bad.tfrecord"
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example({"id": 1, "x": [1.0, 2.0]}), b"\xff\xff"])
    source = prg.Source(path, FEATURES)
    with pytest.raises(pr.DecodeError, match="record 1"):
        prg.batch(grain.MapDataset.source(source), 2)[0]


# Our chains


def test_iterators_have_the_methods_of_grain(tmp_path):
    dataset = TFRecordDataset(write_examples(tmp_path)).shuffle(9).batch(4).parse(FEATURES)
    first = iter(dataset)
    next(first)
    state = first.get_state()
    rest = elements(first)
    second = iter(dataset)
    second.set_state(state)
    assert elements(second) == rest


@pytest.mark.parametrize("count", [0, 3])
def test_chain_inside_a_chain_of_grain(count, tmp_path):
    ours = TFRecordDataset(write_examples(tmp_path)).shuffle(9, seed=1).repeat(2).batch(7).parse(FEATURES)
    dataset = prg.IterDataset(ours).map(lambda batch: {**batch, "y": batch["id"] + 1})
    if count:
        dataset = dataset.mp_prefetch(workers(count))
    whole = ids(ours.iterator(epoch=0))
    first = iter(dataset)
    begin = ids(itertools.islice(first, 5))
    state = json.loads(json.dumps(first.get_state()))
    assert begin + ids(first) == whole
    second = iter(dataset)
    second.set_state(state)
    assert (
        begin + ids(second) == whole
    )  # which is the same epoch, and the same order for any number of workers
    # Another number of workers goes on.
    other = prg.IterDataset(ours, state=prg.merge_states(state)).mp_prefetch(workers(2))
    assert begin + ids(other) == whole


def test_checkpoint_handler_of_grain_saves_and_restores(tmp_path):
    epath = pytest.importorskip("etils.epath")
    ours = TFRecordDataset(write_examples(tmp_path)).shuffle(9).batch(4).parse(FEATURES)
    handler = grain.checkpoint.CheckpointHandler()
    first = iter(prg.IterDataset(ours, epoch=2))
    next(first)
    handler.save(epath.Path(tmp_path), first)
    rest = ids(first)
    second = handler.restore(epath.Path(tmp_path), iter(prg.IterDataset(ours, epoch=2)))
    assert ids(second) == rest


def test_ranks_share_and_even_is_kept():
    dataset = Dataset.range(7)
    shares = [list(prg.IterDataset(dataset, rank=rank, world_size=2)) for rank in range(2)]
    assert shares == [[0, 2, 4, 6], [1, 3, 5]]
    drop = [list(prg.IterDataset(dataset, rank=rank, world_size=2, even="drop")) for rank in range(2)]
    assert drop == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(ValueError, match="even"):
        prg.IterDataset(dataset, even="odd")
    with pytest.raises(ValueError, match="in turn"):
        prg.IterDataset(dataset).set_slice(slice(0, None, 2), sequential_slice=True)


def test_it_can_be_pickled_and_closed():
    dataset = prg.IterDataset(Dataset.range(7).shuffle(3))
    copy = pickle.loads(pickle.dumps(dataset))
    assert list(copy) == list(dataset)
    assert str(copy) == str(dataset) == "IterDataset(<range(0, 7).shuffle(3)>)"
    iterator = iter(dataset)
    assert plain(next(iterator)) in range(7)
    iterator.close()
    with pytest.raises(pr.ClosedError):
        next(iterator)


# The documentation


def test_code_for_grain_on_the_page_about_loaders_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("loaders.md", "grain") == 3
