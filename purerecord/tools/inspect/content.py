"""What strings of bytes hold, judged by how they begin: pictures, sounds, archives, text.

Names do not say it: a feature called ``data`` may hold JPEGs, and one called ``image`` may hold paths. This
module does not know where strings come from.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn

PICTURES = ("JPEG", "PNG", "GIF", "WebP", "BMP")
SOUNDS = ("WAV", "FLAC", "MP3", "OGG")
TEXT, BINARY, EMPTY = "text", "binary", "empty"

# A kind of content, what it begins with, and what follows at which place. Longer beginnings come first.
_BEGINNINGS: tuple[tuple[str, bytes, int, bytes], ...] = (
    ("PNG", b"\x89PNG\r\n\x1a\n", 0, b""),
    ("JPEG", b"\xff\xd8\xff", 0, b""),
    ("GIF", b"GIF87a", 0, b""),
    ("GIF", b"GIF89a", 0, b""),
    ("WebP", b"RIFF", 8, b"WEBP"),
    ("WAV", b"RIFF", 8, b"WAVE"),
    ("TIFF", b"II*\0", 0, b""),
    ("TIFF", b"MM\0*", 0, b""),
    ("FLAC", b"fLaC", 0, b""),
    ("OGG", b"OggS", 0, b""),
    ("MP3", b"ID3", 0, b""),
    ("MP4", b"\0\0", 4, b"ftyp"),
    ("NPY", b"\x93NUMPY", 0, b""),
    ("HDF5", b"\x89HDF\r\n", 0, b""),
    ("zip", b"PK\x03\x04", 0, b""),
    ("gzip", b"\x1f\x8b\x08", 0, b""),
    ("PDF", b"%PDF-", 0, b""),
)
# A BMP begins with two letters, its size, and four zeros; two letters alone are also text.
_BMP, _BMP_ZEROS = b"BM", slice(6, 10)
_HEAD = 16  # bytes of the beginning that tell kinds apart
_LOOK = 1024  # bytes that tell text from other content
# Of each byte: fine in text, never in text, or to be decoded.
_FINE, _DECODE, _NEVER = 0, 1, 2
_CLASSES = np.full(256, _FINE, np.uint8)
_CLASSES[:32] = _NEVER
_CLASSES[[9, 10, 13]] = _FINE
_CLASSES[127] = _NEVER
_CLASSES[128:] = _DECODE
# Of each byte: whether one of the beginnings begins with it.
_BEGINS_SOMETHING = np.zeros(256, bool)
_BEGINS_SOMETHING[[begin[0] for _, begin, _, _ in _BEGINNINGS] + [_BMP[0]]] = True
_KINDS: tuple[str, ...] = (BINARY, TEXT, EMPTY, "BMP", *dict.fromkeys(kind for kind, *_ in _BEGINNINGS))


def content_of(data: bytes) -> str:
    """The kind of content of one string: "JPEG", "text", "binary" ..."""
    return _KINDS[int(content_codes(BytesColumn.of([data]))[0])]


def count_contents(strings: BytesColumn) -> dict[str, int]:
    """The kinds of content of strings, and how many are of each."""
    counts = np.bincount(content_codes(strings), minlength=len(_KINDS))
    return {kind: int(count) for kind, count in zip(_KINDS, counts.tolist(), strict=True) if count}


def content_codes(strings: BytesColumn) -> npt.NDArray[np.uint8]:
    """The kinds of content of strings, as places in the tuple of all kinds."""
    codes = np.zeros(len(strings), np.uint8)
    lengths = strings.lengths
    codes[lengths == 0] = _KINDS.index(EMPTY)
    left = np.flatnonzero(lengths > 0)
    if left.size:
        firsts = np.frombuffer(strings.buffer, np.uint8)[strings.begins[left]]
        known = left[_BEGINS_SOMETHING[firsts]]
        if known.size:
            codes[known] = _by_beginning(_heads(strings.take(known)))
        left = left[codes[left] == 0]
    if left.size:
        others = strings if left.size == len(strings) else strings.take(left)
        codes[left] = np.where(_are_text(others), _KINDS.index(TEXT), _KINDS.index(BINARY))
    return codes


def _heads(strings: BytesColumn) -> npt.NDArray[np.uint8]:
    """The first bytes of each string, as rows; shorter ones are filled with zeros."""
    octets = np.frombuffer(strings.buffer, np.uint8)
    places = strings.begins[:, None] + np.arange(_HEAD)
    heads = octets.take(places, mode="clip")
    heads[places >= strings.ends[:, None]] = 0
    return heads


def _by_beginning(heads: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    codes = np.zeros(len(heads), np.uint8)
    # Few beginnings are there at all; most need no second look.
    firsts = set(np.flatnonzero(np.bincount(heads[:, 0], minlength=256)).tolist())
    for kind, begin, place, more in _BEGINNINGS:
        if begin[0] not in firsts:
            continue
        fits = _have(heads, 0, begin) & _have(heads, place, more)
        codes[fits & (codes == 0)] = _KINDS.index(kind)
    if _BMP[0] in firsts:
        codes[_have(heads, 0, _BMP) & ~heads[:, _BMP_ZEROS].any(axis=1)] = _KINDS.index("BMP")
    return codes


def _have(heads: npt.NDArray[np.uint8], place: int, wanted: bytes) -> Any:
    return (heads[:, place : place + len(wanted)] == np.frombuffer(wanted, np.uint8)).all(axis=1)


def _are_text(strings: BytesColumn) -> Any:
    """Which of the strings, none of which is empty, begin with UTF-8 without control characters."""
    cut = np.minimum(strings.ends, strings.begins + _LOOK)
    heads = BytesColumn(strings.buffer, strings.begins, cut).packed()
    octets = np.frombuffer(heads.buffer, np.uint8)[int(heads.begins[0]) : int(heads.ends[-1])]
    classes = _CLASSES.take(octets)
    if not classes.any():
        return True
    worst = np.maximum.reduceat(classes, heads.begins - heads.begins[0])
    text = worst == _FINE
    for place in np.flatnonzero(worst == _DECODE).tolist():
        text[place] = _decodes(heads[place])
    return text


def _decodes(head: bytes) -> bool:
    try:  # the end may have been cut within a character
        getincrementaldecoder("utf-8")().decode(head, final=len(head) < _LOOK)
    except UnicodeDecodeError:
        return False
    return True
