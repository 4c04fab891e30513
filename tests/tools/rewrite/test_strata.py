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
    runs = list(task.runs(folder, folder.done(task.name)))
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
                assert below == int(share * len(keys) + 0.5) or cut == 2**64 - 1


def test_too_many_classes_are_an_error(monkeypatch):
    monkeypatch.setattr(strata, "MOST_CLASSES", 3)
    with pytest.raises(ValueError, match="there are more than 3 classes"):
        cuts_of([np.array([[1, 2, 3, 4], [0, 0, 0, 0]], np.uint64)], [0.5])
