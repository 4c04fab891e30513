"""One file to one, record by record, or to several parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purerecord import TFRecordOptions
from purerecord.tools.rewrite.inputs import find_inputs
from purerecord.tools.rewrite.mapping import MapInput
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.rewriting import PAYLOADS, write_inputs


@dataclass(frozen=True)
class ByNumber:
    """Divides the records by the remainder of their number."""

    parts: int

    def begin(self, source, folder):
        return Dividing(self.parts, {"file": source.number, "folder": folder.path})


@dataclass
class Dividing:
    parts: int
    facts: dict

    def apply(self, records, first):
        left = (np.arange(len(records)) + first) % self.parts
        return [records.take(left == part) for part in range(self.parts)]


def test_each_part_takes_its_records_in_order(tmp_path):
    (source,) = find_inputs(write_inputs(tmp_path / "in", files=1), "auto", "raise")
    folder, told = WorkFolder(str(tmp_path)), []
    task = MapInput(source, ByNumber(3), TFRecordOptions())
    task.run(folder, lambda *done: told.append(done))
    result = folder.done(task.name)
    assert (result["records"], result["skipped"]) == (200, 0)
    assert result["facts"] == {"file": 0, "folder": str(tmp_path)}
    for part in range(3):
        kept = task.source_of(part, result, folder)
        assert [record for batch in kept.batches(2) for record in batch] == PAYLOADS[part::3][2:]
    assert sum(records for _, records in told) == 200
