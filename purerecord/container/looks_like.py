"""What a file is, judged by its first bytes: a compression, a TFRecord file, or a known file of another kind.

This module does not know where the bytes come from; ``storage`` reads them.
"""

from __future__ import annotations

import zlib
from typing import Any

from ..errors import ChecksumError
from ..storage.bz2_xz_zstd import sniff_member
from ..storage.file_handles import OpenFile
from ..storage.inflate import BLOCK_HEADER_SIZE, BLOCK_MAGIC, decode_block_header
from ..storage.opened import HEAD_SIZE, Opened
from ..storage.paths import Named
from ..storage.remote_file import ATTEMPTS, RemoteFile
from .frames import HEADER, decode_header, header_holds

# How much of a file's beginning ``wrong_file_hint`` looks at: a block of blocked GZIP may begin late.
HINT_SIZE = 1 << 20
DAMAGED_GZIP = 'GZIP data whose first bytes are damaged; open it with compression="GZIP"'


def open_source(file: Named, compression: Any = "auto", *, section: tuple[int, int] | None = None) -> Opened:
    """Opens ``file`` as a source of plain bytes; "auto" detects its compression from its first bytes."""
    return Opened(file, compression, detect=detect, is_certain=_begins_with_frame, section=section)


def head_of(file: OpenFile | RemoteFile) -> bytes:
    """The first bytes of ``file``, for ``detect``; none that were damaged on the way from a store."""
    for _ in range(ATTEMPTS):
        head = file.read_at(0, HEAD_SIZE)
        if _begins_with_frame(head) or file.is_confirmed(0, len(head)) or not file.read_again():
            break
    return head


def _begins_with_frame(head: bytes) -> bool:
    return len(head) >= HEADER and header_holds(head)


def detect(head: bytes) -> str:
    """The compression of a file that begins with ``head``; "" for none.

    A file is uncompressed exactly if the CRC of its first length holds. Any other file has the compression
    that its first bytes suggest.
    """
    if len(head) >= HEADER:
        try:
            decode_header(head)
            return ""
        except ChecksumError:
            pass
    return sniff(head)


def sniff(head: bytes) -> str:
    """The compression of a file that begins with ``head``, which is not a frame header; "" for none."""
    if head.startswith(b"\x1f\x8b"):
        return "GZIP"
    if len(head) >= 2 and head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0:
        try:
            # A damaged uncompressed file may begin like ZLIB too, but it does not inflate. Only the bytes
            # that are always there count: the result must not depend on the size of the first read.
            zlib.decompressobj().decompress(head[:HEADER])
            return "ZLIB"
        except zlib.error:
            pass
    return sniff_member(head)


def wrong_file_hint(head: bytes) -> str:
    """The end of an error message about a file that does not begin with a frame: what it may be instead."""
    what = looks_like(head[:256]) or (DAMAGED_GZIP if holds_gzip_blocks(head) else None)
    return f"; the file looks like {what}" if what else "; is this a TFRecord file?"


def holds_gzip_blocks(data: bytes) -> bool:
    """Whether a block of a blocked GZIP file begins in ``data``."""
    at = data.find(BLOCK_MAGIC)
    while at >= 0 and decode_block_header(data[at : at + BLOCK_HEADER_SIZE]) is None:
        at = data.find(BLOCK_MAGIC, at + 1)
    return at >= 0


def looks_like(head: bytes) -> str | None:
    """The kind of file that begins with ``head`` and is not a TFRecord file; None if unknown."""
    for magic, name in _MAGICS:
        if head.startswith(magic):
            return name
    text = head[:64].lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "an HTML page; perhaps a download that failed"
    if head and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in head):
        return "text"
    return None


_MAGICS = (
    (b"version https://git-lfs", "a git-LFS pointer: the data itself was not fetched, try `git lfs pull`"),
    (b"\x1f\x8b", 'gzip data; open it with compression="GZIP" or "auto"'),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", 'zstd data; open it with compression="ZSTD" or "auto"'),
    (b"BZh", 'bzip2 data; open it with compression="BZ2" or "auto"'),
    (b"\xfd7zXZ", 'xz data; open it with compression="XZ" or "auto"'),
    (b"\x04\x22\x4d\x18", "LZ4 data, which must be decompressed first"),
    (b"\x02\x21\x4c\x18", "LZ4 data, which must be decompressed first"),
    (b"\xff\x06\x00\x00sNaPpY", "Snappy data, which must be decompressed first"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF"),
)
