"""``split``: each record in exactly one split, and always in the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import SchemaError, decode_example, encode_example
from purerecord.tools import split
from tests.support.rewriting import PAYLOADS, records, write_inputs
from tests.support.settings import tries

SPLITS = {"train": 0.7, "val": 0.2, "test": 0.1}


def by_split(done, splits=SPLITS):
    """The records of each split."""
    return {
        name: records([path for path in done.paths if Path(path).name.startswith(f"{name}-")])
        for name in splits
    }


def test_each_record_is_in_one_split_in_its_order(tmp_path):
    done = split(write_inputs(tmp_path / "in"), tmp_path / "{split}@2", SPLITS, manifest=True)
    found = by_split(done)
    assert sorted(record for some in found.values() for record in some) == sorted(PAYLOADS)
    for some in found.values():
        places = [PAYLOADS.index(record) for record in some]
        assert places == sorted(places)
    assert 110 < len(found["train"]) < 170
    assert 20 < len(found["val"]) < 65
    assert done.facts == {name: len(some) for name, some in found.items()}
    assert [Path(path).name for path in done.manifests] == [f"{name}.manifest.json" for name in SPLITS]


@settings(max_examples=tries(20))
@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 4), st.integers(0, 5))
def test_a_record_stays_in_its_split_whatever_else_there_is(tmp_path_factory, numbers, files, seed):
    folder = tmp_path_factory.mktemp("split")
    some, all_of_them = (
        [encode_example({"x": n, "g": n % 7}) for n in found]
        for found in (numbers, numbers[::-1] + list(range(60)))
    )
    found = {}
    for by in (None, "g"):
        for name, payloads in (("some", some), ("all", all_of_them)):
            source = write_inputs(folder / f"{name}{by}", payloads, files)
            out = folder / "out" / f"{name}{by}" / "{split}@*"
            found[name] = by_split(split(source, out, SPLITS, seed=seed, by=by))
        for part in SPLITS:
            assert set(found["some"][part]) <= set(found["all"][part])
    groups = defaultdict(set)
    for part, payloads in found["all"].items():
        for payload in payloads:
            groups[decode_example(payload)["g"].item()].add(part)
    assert all(len(parts) == 1 for parts in groups.values())


def test_another_seed_is_another_split(tmp_path):
    source = write_inputs(tmp_path / "in")
    first, second = (by_split(split(source, tmp_path / "{split}@1", SPLITS, seed=seed)) for seed in (1, 2))
    assert first != second


def test_shares_of_each_class_are_exact_to_within_one(tmp_path):
    classes = [0] * 500 + [1] * 77 + [2] * 3 + [3]
    payloads = [encode_example({"label": label, "id": n}) for n, label in enumerate(classes)]
    payloads += [encode_example({"id": n}) for n in range(100)]  # a class of its own
    source = write_inputs(tmp_path / "in", payloads[::-1], files=4)
    found = by_split(split(source, tmp_path / "{split}@2", SPLITS, stratify="label"))
    assert sorted(one for some in found.values() for one in some) == sorted(payloads)
    sizes = Counter([*classes, *([None] * 100)])
    for name, share in SPLITS.items():
        labels = [decode_example(one).get("label") for one in found[name]]
        counts = Counter(None if label is None else label.item() for label in labels)
        for label, size in sizes.items():
            assert abs(counts[label] - share * size) <= 1, (name, label)


def test_a_class_is_any_value_also_a_string(tmp_path):
    payloads = [encode_example({"label": label, "id": n}) for n in range(50) for label in ("cat", "dog")]
    found = by_split(
        split(write_inputs(tmp_path / "in", payloads), tmp_path / "{split}@1", SPLITS, stratify="label")
    )
    counts = {name: Counter(decode_example(one)["label"][0] for one in some) for name, some in found.items()}
    assert counts == {
        "train": {b"cat": 35, b"dog": 35},
        "val": {b"cat": 10, b"dog": 10},
        "test": {b"cat": 5, b"dog": 5},
    }


def test_a_folder_for_each_split_has_files_of_the_same_names(tmp_path):
    done = split(write_inputs(tmp_path / "in"), f"{tmp_path}/{{split}}/", {"a": 0.5, "b": 0.5})
    names = [Path(path).relative_to(tmp_path).as_posix() for path in done.paths]
    assert names == [f"{name}/in-{n}.tfrecord" for name in "ab" for n in range(3)]


@pytest.mark.parametrize(
    ("out", "splits", "reason"),
    [
        ("out", SPLITS, "the output must say where the name of the split goes"),
        ("{split}", {"train": 0.8, "val": 0.1}, "the shares must add up to 1, not to 0.9"),
        ("{split}", {"train": 1.5, "val": -0.5}, "the share of train must be"),
        ("{split}", {"../train": 1}, "cannot be the name of a split"),
    ],
)
def test_splits_that_cannot_be_are_an_error(tmp_path, out, splits, reason):
    with pytest.raises(ValueError, match=reason):
        split(write_inputs(tmp_path / "in"), tmp_path / out, splits)


def test_a_record_that_does_not_say_where_it_goes_is_an_error(tmp_path):
    source = write_inputs(tmp_path / "in", [encode_example({"x": 1}), encode_example({})], files=1)
    with pytest.raises(SchemaError, match=r"in-0.tfrecord: feature 'x': record 1: it has no value"):
        split(source, tmp_path / "{split}", SPLITS, by="x")


def test_a_group_is_never_divided_for_the_sake_of_exact_shares(tmp_path):
    source = write_inputs(tmp_path / "in")
    with pytest.raises(ValueError, match="by and stratify exclude each other"):
        split(source, tmp_path / "{split}", SPLITS, by="name", stratify="label")
