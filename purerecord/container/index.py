"""Index files: where each record of a file is, for random access.

Our own format includes the size and a fingerprint of the data, and is refused for any other data. This module
also reads and writes the text of DALI and ``tfrecord`` ("<offset> <size>" a line), and reads the binary
``.idx`` of tfr-reader. The content of an index file tells its format, never its name. Damaged or truncated
data is never indexed as if it were whole. This module does not read payloads.

Our format, little-endian; never change:

    8s magic · u32 version · u32 blocked · u64 data size · u64 fingerprint · u64 entries
    entries × u64 frame size            or, for blocked GZIP, entries × (u64 member size, u64 records)
    u32 CRC-32C of all before
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import public
from ..errors import ChecksumError, CompressionError, CorruptionError, StaleIndexError
from ..printable import printable
from ..storage.file_handles import OpenFile, open_file
from ..storage.inflate import BLOCK_HEADER_SIZE, BlockHeader, decode_block_header
from ..storage.remote_file import RemoteFile, SeenTwice, until_seen_twice
from ..storage.stores import exists
from ..storage.url import Url, local_path, stored
from ..storage.whole_file import write_whole
from . import frames
from .checksum import crc32c
from .frame_chain import split
from .frames import HEADER, OVERHEAD
from .looks_like import HINT_SIZE, detect, head_of, wrong_file_hint

Offsets = npt.NDArray[np.int64]

_MAGIC = b"\x89PRIDX\r\n"
_HEAD = struct.Struct("<8sIIQQQ")
_VERSION = 1
# Bytes at the beginning and at the end that a fingerprint covers.
_FINGERPRINTED = 1 << 16
# Deflate makes no more bytes than this of one. It limits how many records a block can hold.
_LARGEST_RATIO = 1032
# The first bytes of a GZIP member that is not one of our blocks: without a file name, and with one.
_ORDINARY_GZIP = (b"\x1f\x8b\x08\x00", b"\x1f\x8b\x08\x08")
# Bytes per read of small frames.
_READ_SIZE = 1 << 20
# Frames of this mean size are skipped header by header; smaller ones are read, many at once.
_HOP_MEAN = 1 << 13


@public
class Index:
    """Where the records of one file are.

    Frame i has ``sizes[i]`` bytes at ``offsets[i]``. For blocked GZIP these arrays describe the members, and
    ``first_records[i]`` is the number of the first record in member i. For a plain file ``first_records`` is
    None. ``path`` is the index file that this was loaded from, or None.
    """

    __slots__ = ("data_size", "fingerprint", "first_records", "offsets", "path", "records", "sizes")

    def __init__(
        self,
        offsets: Offsets,
        sizes: Offsets,
        *,
        data_size: int | None = None,
        fingerprint: int | None = None,
        first_records: Offsets | None = None,
        records: int | None = None,
    ) -> None:
        self.offsets = offsets
        self.sizes = sizes
        self.data_size = data_size
        self.fingerprint = fingerprint
        self.first_records = first_records
        self.records = len(offsets) if records is None else records
        self.path: str | None = None

    def __len__(self) -> int:
        return self.records

    def __repr__(self) -> str:
        blocks = "" if self.first_records is None else f" in {len(self.offsets)} blocks"
        return f"<Index: {self.records} records{blocks}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Index):
            return NotImplemented
        return self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]

    def _facts(self) -> tuple[Any, ...]:
        firsts = None if self.first_records is None else self.first_records.tobytes()
        return self.records, self.offsets.tobytes(), self.sizes.tobytes(), firsts

    def save(
        self,
        path: Any,
        *,
        format: str = "purerecord",  # noqa: A002 - the word users know
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        """Write the index to ``path``, as "purerecord" (the default) or as DALI's "text"."""
        if format == "purerecord":
            data = self._encoded()
        elif format == "text":
            data = self._text()
        else:
            raise ValueError(f'format must be "purerecord" or "text", not {format!r}')
        write_whole(local_path(stored(path, storage_options, filesystem)), data)

    def _encoded(self) -> bytes:
        if self.data_size is None or self.fingerprint is None:
            raise ValueError("an index that came from another format does not know its data; build it anew")
        blocked = self.first_records is not None
        entries = self.sizes.astype("<u8")
        if self.first_records is not None:
            entries = np.stack([entries, self._counts().astype("<u8")], axis=1)
        head = _HEAD.pack(_MAGIC, _VERSION, blocked, self.data_size, self.fingerprint, len(self.sizes))
        body = head + entries.tobytes()
        return body + crc32c(body).to_bytes(4, "little")

    def _text(self) -> bytes:
        if self.first_records is not None:
            raise ValueError("the text format cannot say where the records of a compressed file are")
        pairs = zip(self.offsets.tolist(), self.sizes.tolist(), strict=True)
        return "".join(f"{offset} {size}\n" for offset, size in pairs).encode()

    def check(self, path: Any) -> None:
        """Raise StaleIndexError unless this is an index of the file at ``path`` as it is now."""
        name = local_path(path)
        with closing(open_file(name)) as file:
            until_seen_twice(file, lambda: self._check(file, name))

    def _check(self, file: OpenFile | RemoteFile, name: str) -> None:
        size = file.size()
        covered = int(self.offsets[-1] + self.sizes[-1]) if len(self.offsets) else 0
        expected = covered if self.data_size is None else self.data_size
        if size != expected:
            raise StaleIndexError(f"{name} has {size} bytes, {self.name} is for {expected}; build it anew")
        if self.fingerprint is not None and _fingerprint(file, size) != self.fingerprint:
            raise StaleIndexError(f"{name} has changed since {self.name} was made; build it anew")
        if self.first_records is not None:
            self._check_blocks(file, name)

    def _check_blocks(self, file: OpenFile | RemoteFile, path: str) -> None:
        """Raise StaleIndexError unless the headers of the blocks say what this index says.

        Reading a block finds a wrong number of records too, but no one reads a block that has none.
        """
        blocks = zip(self.offsets.tolist(), self.sizes.tolist(), self._counts().tolist(), strict=True)
        for number, (offset, size, records) in enumerate(blocks):
            block = decode_block_header(file.read_at(offset, BLOCK_HEADER_SIZE))
            if block is None and records:
                continue  # damage: only reading this block is an error
            if block is None or _impossible(block) or (block.size, block.records) != (size, records):
                raise self.contradicted(path, f"block {number}, at byte {offset}")

    def contradicted(self, path: str, place: str) -> StaleIndexError:
        """The error about ``place`` in the file ``path``, which is not as this index says."""
        return StaleIndexError(f"{path} is not what {self.name} says of {place}; build it anew")

    @property
    def name(self) -> str:
        """What messages call this index."""
        return "its index" if self.path is None else f"its index {self.path}"

    def _counts(self) -> Offsets:
        """The number of records of each block."""
        assert self.first_records is not None
        return np.diff(np.append(self.first_records, self.records))


def index_path(path: str) -> str:
    """The path of the index beside the file ``path``."""
    return path.beside(".index") if isinstance(path, Url) else path + ".index"


def has_index(path: str) -> bool:
    """Whether there is an index beside the file ``path``."""
    beside = index_path(path)
    return exists(beside) if isinstance(beside, Url) else os.path.exists(beside)


@public
def load_index(
    path: Any, *, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
) -> Index:
    """The index in the file ``path``, in any of the known formats."""
    name = local_path(stored(path, storage_options, filesystem))
    with closing(open_file(name)) as file:
        return until_seen_twice(file, lambda: _decoded(file.read_at(0, file.size()), name))


def _decoded(data: bytes, name: str) -> Index:
    try:
        if data.startswith(_MAGIC):
            index = _decode(data)
        elif (found := _decode_tfr_reader(data)) is not None:
            index = found
        else:
            index = _decode_text(data)
    except CorruptionError as error:
        error.path = name
        raise
    index.path = name
    return index


def _decode(data: bytes) -> Index:
    if len(data) < _HEAD.size + 4 or crc32c(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise CorruptionError("the index is damaged; build it anew")
    _, version, blocked, data_size, fingerprint, count = _HEAD.unpack_from(data)
    if version != _VERSION or blocked > 1:
        raise CorruptionError(f"an index of version {version} is not known here; build it anew")
    columns = 2 if blocked else 1
    if count * columns * 8 != len(data) - _HEAD.size - 4:
        raise CorruptionError("the index does not have as many entries as it says; build it anew")
    entries = np.frombuffer(data, "<u8", count * columns, _HEAD.size).reshape(count, columns)
    sizes = _trusted(entries[:, 0], data_size)
    if int(sizes.sum()) != data_size:
        raise CorruptionError("the index does not cover its data; build it anew")
    firsts = records = None
    if blocked:
        counts = _trusted(entries[:, 1], _LARGEST_RATIO * data_size // OVERHEAD)
        firsts, records = np.cumsum(counts) - counts, int(counts.sum())
    offsets = np.cumsum(sizes) - sizes
    return Index(
        offsets, sizes, data_size=data_size, fingerprint=fingerprint, first_records=firsts, records=records
    )


def _trusted(numbers: npt.NDArray[np.uint64], total: int) -> Offsets:
    """``numbers`` as int64, whose sum is checked not to overflow."""
    if float(numbers.sum(dtype=np.float64)) > min(total * 1.001 + 1, 2.0**62):
        raise CorruptionError("the index holds impossible numbers; build it anew")
    return numbers.astype(np.int64)


def _decode_tfr_reader(data: bytes) -> Index | None:
    """tfr-reader: a count, then (begin, end, payload length) for each record."""
    count = int.from_bytes(data[:8], "little")
    if len(data) < 8 or count * 24 + 8 != len(data):
        return None
    rows = np.frombuffer(data, "<u8", count * 3, 8).reshape(count, 3)
    begins, ends, lengths = (_trusted(rows[:, i], 1 << 62) for i in range(3))
    if not np.array_equal(ends - begins, lengths + OVERHEAD):
        return None
    return _contiguous(begins, ends - begins)


def _decode_text(data: bytes) -> Index:
    lines = [line.split() for line in data.splitlines() if line.strip()]
    # An offset in a file has at most 19 digits.
    if data.translate(None, b"0123456789 \t\r\n") or any(
        len(line) != 2 or max(map(len, line)) > 19 for line in lines
    ):
        raise CorruptionError("this is no index: neither ours, nor DALI's text, nor tfr-reader's")
    rows = np.array(lines, "S19").astype(np.uint64).reshape(-1, 2)
    return _contiguous(_trusted(rows[:, 0], 1 << 62), _trusted(rows[:, 1], 1 << 62))


def _contiguous(offsets: Offsets, sizes: Offsets) -> Index:
    ends = offsets + sizes
    if len(offsets) and (offsets[0] != 0 or (offsets[1:] != ends[:-1]).any() or (sizes < OVERHEAD).any()):
        raise CorruptionError("the index has gaps or overlaps: it was made from damaged data; build it anew")
    return Index(offsets, sizes)


@public
def build_index(
    path: Any, *, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
) -> Index:
    """The index of the file at ``path``, built from the headers; checks the CRC of every length.

    The file must be uncompressed, or GZIP written with a ``block_size``.
    """
    name = local_path(stored(path, storage_options, filesystem))
    with closing(open_file(name, ahead=True)) as file, _located(file, name):
        return until_seen_twice(file, lambda: _built(file, name))


def _built(file: OpenFile | RemoteFile, name: str) -> Index:
    size = file.size()
    head = head_of(file)
    if decode_block_header(head) is not None:
        offsets, sizes, counts = _blocks(file, size, name)
        firsts, records = np.cumsum(counts) - counts, int(counts.sum())
    elif detect(head):
        raise io.UnsupportedOperation(not_seekable(name))
    else:
        sizes = np.concatenate([np.empty(0, np.int64), *_frame_sizes(file, size)])
        offsets, firsts, records = np.cumsum(sizes) - sizes, None, len(sizes)
    fingerprint = _fingerprint(file, size)
    return Index(
        offsets, sizes, data_size=size, fingerprint=fingerprint, first_records=firsts, records=records
    )


def count_frames(path: str) -> Iterator[tuple[int, int]]:
    """Yield (records, bytes) for each run of frames of an uncompressed file, from the headers alone.

    Like ``build_index`` it checks the CRC of every length, but it keeps nothing.
    """
    with closing(open_file(path, ahead=True)) as file, _located(file, path):
        for sizes in _frame_sizes(file, file.size()):
            yield len(sizes), int(sizes.sum())


@contextmanager
def _located(file: OpenFile | RemoteFile, name: str) -> Iterator[None]:
    """Says in a ``CorruptionError`` which file it is about, and what that may be if it is no TFRecord."""
    try:
        yield
    except CorruptionError as error:
        error.path = name
        if error.offset == 0 and isinstance(error, ChecksumError):
            error.reason += wrong_file_hint(file.read_at(0, HINT_SIZE))
        raise


def not_seekable(name: str) -> str:
    """The error message for a compressed file that cannot seek."""
    return (
        f"{printable(name)} is one compressed stream, in which one cannot seek; rewrite it, uncompressed or "
        f'with TFRecordOptions("GZIP", block_size=1 << 20), to read records at random'
    )


def _frame_sizes(file: OpenFile | RemoteFile, size: int) -> Iterator[Offsets]:
    """The sizes of all frames of a plain file, in runs."""
    position = records = 0
    twice = SeenTwice()
    while position < size:
        if position < records * _HOP_MEAN or not records:
            buffer = file.read_at(position, _READ_SIZE)
            loaded = split(buffer)
            if len(loaded.begins):
                yield loaded.ends - loaded.begins + OVERHEAD
                records += len(loaded.begins)
                position += loaded.stop
                continue
        else:
            buffer = file.read_at(position, HEADER)
        try:
            # If less than a header could be read, the file has become shorter meanwhile.
            whole = frames.whole_size(buffer, size - position if len(buffer) >= HEADER else len(buffer))
        except CorruptionError as error:
            error.offset, error.record = position, records
            if twice.seen(position, error) or not file.read_again():
                raise
            continue
        yield np.array([whole])
        records += 1
        position += whole


def _blocks(file: OpenFile | RemoteFile, size: int, name: str) -> tuple[Offsets, Offsets, Offsets]:
    """The offsets, sizes and record counts of all members of a blocked GZIP file."""
    rows: list[tuple[int, int, int]] = []
    position = 0
    while position < size:
        head = file.read_at(position, BLOCK_HEADER_SIZE)
        block = decode_block_header(head)
        if block is None:
            if head[:4] in _ORDINARY_GZIP:
                raise io.UnsupportedOperation(not_seekable(name))
            raise CompressionError(f"no GZIP block begins at byte {position}, where one should")
        if block.size > size - position or _impossible(block):
            raise CompressionError(f"the GZIP block at byte {position} is cut or damaged")
        rows.append((position, block.size, block.records))
        position += block.size
    offsets, sizes, counts = np.array(rows, np.int64).reshape(-1, 3).T
    return offsets, sizes, counts


def _impossible(block: BlockHeader) -> bool:
    """Whether a header states a number of records that its bytes cannot hold: too many, or none."""
    return block.records * OVERHEAD > block.data_size or (block.data_size > 0 and not block.records)


def _fingerprint(file: OpenFile | RemoteFile, size: int) -> int:
    """A number that distinguishes data of the same size: the CRCs of its beginning and its end."""
    begin = crc32c(file.read_at(0, _FINGERPRINTED))
    return begin << 32 | crc32c(file.read_at(max(0, size - _FINGERPRINTED), _FINGERPRINTED))
