"""Decompression of BZ2, XZ and ZSTD, which other tools write: as a source of plain bytes.

A file may have many members (in the terms of ZSTD: frames), which are read as one stream. The standard
library decompresses BZ2 and XZ, and from Python 3.14 on ZSTD; before that, ``backports.zstd`` does. At a
break these libraries drop what they have decompressed in that call. So the calls are small: fewer than
``_STEP`` bytes are lost. The calls are also the same whatever pieces the source gives: so is the result.
This module does not know what the bytes mean.
"""

from __future__ import annotations

import re
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import ClosedError, CompressionError
from .inflate import Source

# Plain bytes per call of a decompressor. Smaller steps would be slower.
_STEP = 1 << 12
# Compressed bytes per call; a break is located this exactly.
_PIECE = 1 << 12
# Compressed bytes per read.
_COMPRESSED_READ = 1 << 16
# Compressed bytes before a break that are searched for a member, too.
_SEARCHED_BACK = 1 << 18
# Bytes that decide whether a member begins. Of them, these are enough to recognise its format.
_MEMBER_PROBE = 1 << 12
_MAGIC_SIZE = 12
# An XZ file may demand this much memory: more than with any preset of xz.
_XZ_MEMORY = 1 << 30


class _Format(NamedTuple):
    """How the members of a format begin, and the padding that may stand between them."""

    magic: re.Pattern[bytes]
    skippable: re.Pattern[bytes] | None = None  # members without data
    padding: bytes = b""


_FORMATS = {
    # The level, then the beginning of a block or of the end.
    "BZ2": _Format(re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")),
    "XZ": _Format(re.compile(rb"\xfd7zXZ\x00\x00[\x00-\x0f]"), padding=b"\0"),
    "ZSTD": _Format(re.compile(rb"\x28\xb5\x2f\xfd"), skippable=re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")),
}


def sniff_member(head: bytes) -> str:
    """ "BZ2", "XZ" or "ZSTD" for a file that begins with ``head``; "" for any other."""
    return next((name for name, form in _FORMATS.items() if _begins(form, head)), "")


def _begins(form: _Format, head: bytes) -> bool:
    """Whether ``head`` is the beginning of a member."""
    return bool(form.magic.match(head) or (form.skippable and form.skippable.match(head)))


class MemberDecompressor:
    """The plain bytes of a BZ2, XZ or ZSTD source: of all its members."""

    def __init__(self, source: Source, compression: str) -> None:
        self._source = source
        self._compression = compression
        self._format = _FORMATS[compression]
        self._stream: Any = None  # the decompressor of the current member
        self._input = b""  # compressed bytes that no decompressor has got
        self._consumed = 0  # compressed bytes taken from the source
        self._begin = 0  # where the current member begins
        self._recent = bytearray()  # the last decompressed input: after a break, the next member may be in it
        self._broken: CompressionError | None = None
        self._broken_at = 0  # compressed
        self._interrupted = False
        self.skipped_range: tuple[int, int] | None = None  # compressed bytes that the last ``resume`` skipped

    @cached_property
    def _library(self) -> tuple[Any, type[Exception]]:
        # Loaded when it is needed: a reader of many files opens one without reading it yet.
        return _library(self._compression)

    def _new_stream(self) -> Any:
        return self._library[0]()

    @property
    def _stream_error(self) -> type[Exception]:
        return self._library[1]

    def read(self, size: int) -> bytes:
        if self._interrupted:
            raise ClosedError(f"reading {self._compression} data was interrupted; open the file again")
        while True:
            if self._broken is not None:
                raise self._broken
            if self._stream is None and not self._begin_member():
                return b""
            if self._stream.needs_input and not self._fill(_PIECE):
                self._broken_at = self._consumed
                raise self._error(f"is cut after {self._consumed} bytes: its end is missing")
            if data := self._decompress(size):
                return data

    def _more(self) -> bool:
        """Read more of the compressed data; False if there is none."""
        data = self._source.read(_COMPRESSED_READ)
        self._consumed += len(data)
        self._input += data
        return bool(data)

    def _fill(self, size: int) -> bool:
        """Read on until there are ``size`` compressed bytes, or no more; False if there are none at all."""
        while len(self._input) < size and self._more():
            pass
        return bool(self._input)

    def _begin_member(self) -> bool:
        """Begin the next member; False at the end."""
        more = True
        while True:
            if len(self._input) < self._consumed:  # not at the beginning of the file
                self._input = self._input.lstrip(self._format.padding)
            if not more or len(self._input) >= _MAGIC_SIZE:
                break
            more = self._more()
        if not self._input:
            return False
        self._begin = self._broken_at = self._consumed - len(self._input)
        if _begins(self._format, self._input):
            self._stream = self._new_stream()
            return True
        what = f"is followed by something else at compressed byte {self._begin}"
        error = self._error(what if self._begin else "does not begin as one")
        if more:
            self._broken = error  # without more, a file that grows may have more later
        raise error

    def _decompress(self, size: int) -> bytes:
        """About ``size`` plain bytes of the input so far; the next ``read`` raises a break in it."""
        stream, have = self._stream, 0
        pieces: list[bytes] = []
        self._interrupted = True  # until all bytes of the decompressor are on their way to the caller
        while have < size and not stream.eof:
            piece = b""
            if stream.needs_input:
                if pieces and len(self._input) < _PIECE:
                    break
                self._broken_at = self._consumed - len(self._input)
                piece, self._input = self._input[:_PIECE], self._input[_PIECE:]
                self._remember(piece)
            try:
                data = stream.decompress(piece, _STEP)
            except self._stream_error as error:
                self._broken = self._error(f"is broken near compressed byte {self._broken_at} ({error})")
                break
            pieces.append(data)
            have += len(data)
        if stream.eof:
            rest = stream.unused_data
            self._input = rest + self._input
            del self._recent[len(self._recent) - len(rest) :]
            self._stream = None
        self._interrupted = False
        return b"".join(pieces)

    def _remember(self, piece: bytes) -> None:
        self._recent += piece
        if len(self._recent) > 2 * _SEARCHED_BACK:
            del self._recent[:-_SEARCHED_BACK]

    def _error(self, what: str) -> CompressionError:
        return CompressionError(f"the {self._compression} stream {what}")

    def resume(self) -> bool:
        """After a break, continue at the next member; False if there is none.

        Broken data may give nonsense for a while before the decompressor notices, and swallow members. So the
        search begins some bytes before the break.
        """
        self._input = bytes(self._recent) + self._input
        self._recent.clear()
        known_from = self._consumed - len(self._input)
        low = max(known_from, self._begin + 1)  # the first offset where the next member may begin
        at = low - known_from
        while True:
            match = self._format.magic.search(self._input, at)
            if match is None:
                # All but the bytes that may be the beginning of a magic is done with.
                self._input, at = self._input[max(at, len(self._input) - _MAGIC_SIZE + 1) :], 0
                if not self._more():
                    break
                continue
            at = match.start()
            self._fill(at + _MEMBER_PROBE)
            if self._decompresses(self._input[at : at + _MEMBER_PROBE]):
                place = self._consumed - len(self._input) + at
                self.skipped_range = (self._broken_at if self._broken_at <= place else low - 1, place)
                self._input = self._input[at:]
                self._stream, self._broken = None, None
                return True
            at += 1
        self.skipped_range = (self._broken_at, self._consumed)
        return False

    def _decompresses(self, data: bytes) -> bool:
        """Whether ``data`` looks like the beginning of a member."""
        try:
            self._new_stream().decompress(data, _STEP)
        except self._stream_error:
            return False
        return True

    def close(self) -> None:
        self._source.close()


def _library(compression: str) -> tuple[Any, type[Exception]]:
    """What makes the decompressor of a member, and the error that it raises at a break."""
    try:
        if compression == "BZ2":
            import bz2  # noqa: PLC0415 - seldom used, and some builds of Python lack it

            return bz2.BZ2Decompressor, OSError
        if compression == "XZ":
            import lzma  # noqa: PLC0415 - likewise

            return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), lzma.LZMAError
        zstd = _zstd()
        return zstd.ZstdDecompressor, zstd.ZstdError
    except ImportError:
        what = 'pip install "purerecord[zstd]"' if compression == "ZSTD" else "this build of Python lacks it"
        raise ImportError(
            f"the file is compressed with {compression}, which needs a library: {what}"
        ) from None


def _zstd() -> Any:
    try:
        return import_module("compression.zstd")  # Python 3.14 and later
    except ImportError:
        return import_module("backports.zstd")
