"""The records of files as TensorFlow reads them: which errors, where the end is, and in which order.

The core reads and checks. TensorFlow differs in what it takes for the end: a header that is cut off is not
noticed, nor is a compressed file that is cut where no record is. Here that is followed, and the rest of
a damaged file is left out when reading goes on. This module does not know what a record holds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...container.frame_stream import FrameStream
from ...container.frames import HEADER
from ...container.looks_like import open_source
from ...errors import CompressionError, CorruptionError, TruncatedError
from ...storage.paths import local_path
from ..errors import DataLossError, UnimplementedError, join, translate, translated
from ..gfile import known_scheme

_KNOWN = ("", "GZIP", "ZLIB")


class RecordFile(Iterator[bytes]):
    """The records of one file; at its end it may be asked again, in case it has grown."""

    def __init__(self, path: Any, compression: str = "") -> None:
        self._compression = compression
        name = local_path(path)
        with translated(), known_scheme(name):
            self._stream = FrameStream(open_source(name, compression))
        self._ready: Iterator[bytes] = iter(())
        self._cut: Exception | None = None  # said again, should somebody ask again

    def __next__(self) -> bytes:
        for record in self._ready:
            return record
        if self._cut is not None:
            raise self._cut
        try:
            payloads = self._stream.payloads()
        except (CorruptionError, OSError) as error:
            text = self._truth(error)
            if text is None:
                raise StopIteration from None
            raise text from error
        if payloads is None:
            raise StopIteration
        self._ready = iter(payloads)
        return next(self)

    def _truth(self, error: Exception) -> Exception | None:
        """TensorFlow's error; None where it takes this for the end."""
        if isinstance(error, TruncatedError) and error.expected == HEADER:
            return None
        if isinstance(error, CompressionError) and "is cut" in error.reason:
            damage = self._stream.skip()
            if damage.end - damage.begin < HEADER:
                return None
            text = f"truncated record at {damage.begin}' failed with EOF reached"
            self._cut = join(DataLossError, error, text)
            return self._cut
        return translate(error, compressed=bool(self._compression))

    def close(self) -> None:
        """Close the file; nothing more comes."""
        self._ready = iter(())
        self._stream.close()

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            self.close()


class Chain(Iterator[Any]):
    """What is in one source after the other; one that fails is left, and the next one is begun."""

    def __init__(self, sources: Iterable[Any], open_source: Callable[[Any], Iterator[Any]]) -> None:
        self._sources = iter(sources)
        self._open = open_source
        self._current: Iterator[Any] | None = None

    def __next__(self) -> Any:
        while True:
            if self._current is None:
                self._current = self._open(next(self._sources))
            try:
                return next(self._current)
            except StopIteration:
                self._current = None
            except BaseException:
                self._current = None
                raise


class Interleaved(Iterator[Any]):
    """Up to ``block_length`` from each of ``cycle_length`` sources in turn.

    One that is found at its end is replaced when its turn comes again, as TensorFlow does it.
    """

    def __init__(
        self,
        sources: Iterator[Any],
        open_source: Callable[[Any], Iterator[Any]],
        cycle_length: int,
        block_length: int,
    ) -> None:
        self._sources: Iterator[Any] | None = sources
        self._open = open_source
        self._block = block_length
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._filled = 0  # slots with something in them
        self._position = 0
        self._taken = 0  # in this turn

    def __next__(self) -> Any:
        while self._sources is not None or self._filled:
            slot = self._slots[self._position]
            slot = self._refilled() if slot is None else slot
            if slot is not None:
                try:
                    element = next(slot)
                except StopIteration:
                    self._slots[self._position] = None
                    self._filled -= 1
                else:
                    self._taken += 1
                    if self._taken == self._block:
                        self._turn()
                    return element
            self._turn()
        raise StopIteration

    def _refilled(self) -> Iterator[Any] | None:
        if self._sources is None:
            return None
        try:
            source = next(self._sources)
        except StopIteration:
            self._sources = None
            return None
        slot = self._slots[self._position] = self._open(source)
        self._filled += 1
        return slot

    def _turn(self) -> None:
        self._position = (self._position + 1) % len(self._slots)
        self._taken = 0


def compression_of(compression_type: Any) -> str:
    """The compression that a dataset's argument names; TensorFlow only logs a name that it does not know."""
    name = compression_type.decode() if isinstance(compression_type, bytes) else str(compression_type or "")
    if name == "SNAPPY":
        raise UnimplementedError(None, None, "purerecord does not read SNAPPY")
    if name not in _KNOWN:
        logging.getLogger("purerecord").error(
            "Unsupported compression_type: %s. No compression will be used.", name
        )
        return ""
    return name
