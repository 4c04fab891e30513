"""What a file is, judged by its first bytes, where it is no TFRecord file.

This module does not know where the bytes come from.
"""

from __future__ import annotations


def hint(head: bytes) -> str:
    """What to add to an error at the very beginning of the data: what it is instead of frames."""
    what = looks_like(head[:256])
    return f"; the file looks like {what}" if what else "; is this a TFRecord file?"


def looks_like(head: bytes) -> str | None:
    """What a file that is no TFRecord seems to be, judged by its first bytes."""
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
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF"),
)
