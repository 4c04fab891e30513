"""The datasets of files: ``TFRecordDataset``, ``TextLineDataset``, ``FixedLengthRecordDataset``.

They are thin: ``sources`` reads the files. This module does not know what the records hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import public
from .._values.tensor import EagerTensor
from ..errors import invalid
from ..io.record_files import compression_of
from . import sources
from .dataset import Dataset


class _FileDataset(Dataset):
    """A dataset of scalar strings that are read from files."""

    def __init__(
        self,
        kind: str,
        filenames: Any,
        read_file: Callable[[str], Iterator[EagerTensor]],
        parallel_reads: Any,
    ) -> None:
        super().__init__(*sources.file_elements(filenames, read_file, parallel_reads, kind))

    def __repr__(self) -> str:
        return f"<{self._kind}DatasetV2 element_spec={self.element_spec!r}>"


@public
class TFRecordDataset(_FileDataset):
    """The records of TFRecord files, as scalar strings.

    With ``num_parallel_reads`` the records of the files are interleaved one by one, in TensorFlow's order. A
    damaged file raises a ``DataLossError``. After the error the iterator goes on with the next file.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        if buffer_size is not None and int(buffer_size) < -1:
            raise invalid("`buffer_size` must be >= 0 (0 == no buffering)")
        super().__init__(
            "TFRecord", filenames, lambda path: sources.records(path, compression), num_parallel_reads
        )
        self._reads_records = True


@public
class TextLineDataset(_FileDataset):
    """The lines of text files, as scalar strings without line ends."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        super().__init__(
            "TextLine", filenames, lambda path: sources.lines(path, compression), num_parallel_reads
        )


@public
class FixedLengthRecordDataset(_FileDataset):
    """The records of ``record_bytes`` bytes between the headers and footers of files, as scalar strings."""

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        sizes = [int(size or 0) for size in (record_bytes, header_bytes, footer_bytes)]
        if sizes[0] < 1:
            raise invalid("`record_bytes` must be > 0")
        super().__init__(
            "FixedLengthRecord",
            filenames,
            lambda path: sources.fixed_length_records(path, compression, *sizes),
            num_parallel_reads,
        )
