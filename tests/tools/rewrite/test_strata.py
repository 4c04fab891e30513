"""Classes, and the keys at which they are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.processes.pool import no_progress
from purerecord.tools.rewrite import strata
from purerecord.tools.rewrite.inputs import find_inputs
from purerecord.tools.rewrite.record_keys import payload_digests
from purerecord.tools.rewrite.strata import NoteClasses, cuts_of
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.rewriting import PAYLOADS, write_inputs

LENGTHS = np.array([len(payload) for payload in PAYLOADS], np.uint64)


class ByLength:
    def classes(self, records):
        return records.lengths.astype(np.uint64)

    def keys(self, records):
        return payload_digests(records)[:, 0]


def test_classes_and_keys_are_noted_in_sorted_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(strata, "_RECORDS_AT_ONCE", 50)
    (source,) = find_inputs(write_inputs(tmp_path / "in", files=1), "auto", "raise")
    monkeypatch.setattr(type(source), "batches", lambda self: Batches())
    folder = WorkFolder(str(tmp_path))
    task = NoteClasses(source, ByLength())
    task.run(folder, no_progress)
    runs = [np.stack(list(run)) for run in task.runs(folder, folder.done(task.name))]
    assert [run.shape for run in runs] == [(2, 60), (2, 60), (2, 60), (2, 20)]
    for run in runs:
        assert run.T.tolist() == sorted(run.T.tolist())
    assert sorted(np.concatenate(runs, axis=1)[0].tolist()) == sorted(LENGTHS.tolist())


class Batches:
    def __init__(self):
        from purerecord import Records  # noqa: PLC0415

        self.left = [Records.of(PAYLOADS[n : n + 20]) for n in range(0, 200, 20)]
        self.records = 200

    def __iter__(self):
        return iter(self.left)

    def close(self):
        pass


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=20), max_size=3))
def test_below_its_cut_a_class_has_its_share(runs):
    arrays = [np.array(sorted(run), np.uint64).reshape(-1, 2).T for run in runs]
    classes, cuts = cuts_of(arrays, [0.3, 0.8])
    assert classes.tolist() == sorted({number for run in runs for number, _ in run})
    for number, row in zip(classes.tolist(), cuts.tolist(), strict=True):
        keys = [key for run in runs for found, key in run if found == number]
        if len(set(keys)) == len(keys):
            for cut, share in zip(row, [0.3, 0.8], strict=True):
                below = sum(key < cut for key in keys)
                assert abs(below - share * len(keys)) < 1 or cut == 2**64 - 1


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=20), max_size=3),
    st.integers(1, 9),
)
def test_cuts_are_the_same_whatever_is_in_memory_at_once(runs, most):
    arrays = [np.array(sorted(run), np.uint64).reshape(-1, 2).T for run in runs]
    (classes, cuts), (again, others) = cuts_of(arrays, [0.3, 0.8]), cuts_with(most, arrays)
    assert again.tolist() == classes.tolist()
    for number, row, other in zip(classes.tolist(), cuts.tolist(), others.tolist(), strict=True):
        keys = [key for run in runs for found, key in run if found == number]
        for one, two in zip(row, other, strict=True):
            assert [key < one for key in keys] == [key < two for key in keys]


def cuts_with(most, arrays):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strata, "_RECORDS_AT_ONCE", most)
        return cuts_of(arrays, [0.3, 0.8])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_classes_of_few_records_have_their_shares_together(size):
    rng = np.random.default_rng(size)
    numbers = np.repeat(np.arange(1000, dtype=np.uint64), size)
    keys = rng.integers(0, 2**64, len(numbers), np.uint64)
    rows = np.stack([numbers, keys])[:, np.lexsort((keys, numbers))]
    _, cuts = cuts_of([rows], [0.8, 0.9])
    below = (rows[1] < cuts[rows[0].astype(int)].T).sum(axis=1)
    assert abs(below - np.array([0.8, 0.9]) * len(numbers)).max() < 10


def test_too_many_classes_are_an_error(monkeypatch):
    monkeypatch.setattr(strata, "MOST_CLASSES", 3)
    with pytest.raises(ValueError, match="there are more than 3 classes"):
        cuts_of([np.array([[1, 2, 3, 4], [0, 0, 0, 0]], np.uint64)], [0.5])
