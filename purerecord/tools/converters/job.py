"""``Job``: one conversion, as the module of a format gets it.

This module must not know the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...container.reader import RecordReader
from ...payload.specs import FeatureSpec
from ...records import Records
from .report import ConvertReport

# Records and bytes of TFRecords that are read at once.
_BATCH_RECORDS, _BATCH_BYTES = 1 << 13, 1 << 23


@dataclass
class Job:
    """What to convert, and how.

    ``sources`` are paths, URLs and open binary files, with patterns resolved; ``out`` is one of these.
    ``written`` has the options and the limits of TFRecords that are written, None for those not given.
    ``progress`` is called with the bytes and the records that were done since the last call.
    """

    sources: list[Any]
    out: Any
    report: ConvertReport
    options: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, FeatureSpec] | None = None
    style: str | None = None
    floats: str = "round"
    compression: Any = "auto"  # of TFRecords that are read
    on_error: str = "raise"
    written: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    progress: Callable[[int, int], None] = lambda size, records: None
    at_end: list[Callable[[list[str]], None]] = field(default_factory=list)

    def batches(self, *, counted: bool = True) -> Iterator[Records]:
        """The records of the sources, if these are TFRecords; with ``counted`` they go into the report."""
        with RecordReader(self.sources, compression=self.compression, on_error=self.on_error) as reader:
            while (records := reader.next_item(_BATCH_RECORDS, _BATCH_BYTES)) is not None:
                if counted:
                    self.report.records += len(records)
                    self.progress(records.nbytes, len(records))
                yield records
            if counted and reader.last_error is not None:
                self.report.skip("damaged ranges", str(reader.last_error), max(1, reader.skipped))

    @property
    def read_again(self) -> bool:
        """Whether the sources can be read twice, as files can and pipes cannot."""
        return all(isinstance(source, str) for source in self.sources)
