"""Reading: ``read_records`` and ``read_batches``, forward through files and streams.

``FrameStream`` goes through one file: it keeps a piece of it in a buffer, hands out the frames in it,
and at damage raises the same error as often as it is asked, until it is told to skip. The two public
functions put file after file and apply ``on_error``. This module does not know how a file is stored,
how a frame is laid out, nor what a payload means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TypeVar

import numpy as np

from . import frame
from .errors import ChecksumError, ClosedError, CorruptionError
from .frame import FOOTER, HEADER, OVERHEAD
from .records import Records
from .storage import Opened, resolve

_CHUNK = 1 << 20
# From this length on a record is read straight into place: what it costs then is copying.
_LARGE = 1 << 14
# The most that is asked of a source at once.
_PIECE = 1 << 24
# What a batch holds when no batch size is given.
_BATCH, _BATCH_BYTES = 4096, 1 << 21

_POLICIES = ("raise", "skip", "stop")
_NONE = np.empty(0, np.int64)
_T = TypeVar("_T")


class FrameStream:
    """The frames of one opened file, in order."""

    def __init__(self, opened: Opened, *, verify: bool = True) -> None:
        self._opened = opened
        self._verify = verify
        self._buffer = b""
        self._base = 0  # how far into the plain data the buffer begins
        self._begins = self._ends = _NONE  # the whole frames in the buffer
        self._bad = _NONE  # which of them have a wrong data CRC
        self._cursor = 0  # the first of them that has not been handed out
        self._stop = 0  # where they end in the buffer
        self._bad_length = False  # whether a wrong length CRC follows there
        self.record = 0  # the number in the file of the next record to be handed out

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self._opened.name

    def next(self, limit: int | None = None, most: int | None = None) -> Records | None:
        """The next records, or None at the end (more may come later, if the file grows).

        Without a limit, as many as are in the buffer; with one, so many, or fewer if they take ``most``
        bytes, or the file ends, or damage follows. Damage that lies next is raised, again and again
        until ``skip``.
        """
        while True:
            ready = len(self._begins) - self._cursor
            if ready < (limit or 1) and not self._holds(most) and self._fill(limit, most):
                continue
            if not ready:
                self._check_end()
                return None
            return self._run(limit)

    def _holds(self, size: int | None) -> bool:
        """Whether the buffer holds that many bytes that have not been handed out, with a frame in them."""
        if size is None or self._cursor == len(self._begins):
            return False
        return len(self._buffer) - int(self._begins[self._cursor]) + HEADER >= size

    def payloads(self) -> Iterable[bytes] | None:
        """Like ``next``, but the payloads themselves; a large one is read straight into place."""
        if self._cursor == len(self._begins) and (payload := self._read_large()) is not None:
            self.record += 1
            return [payload]
        return self.next()

    def skip(self) -> bool:
        """Pass over the damage that lies next; False where nothing is known of what follows it."""
        if self._cursor == len(self._begins):
            return False
        self._cursor += 1
        self.record += 1
        return True

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _run(self, limit: int | None) -> Records:
        begin, end = self._cursor, len(self._begins)
        if limit is not None:
            end = min(end, begin + limit)
        bad = self._bad[np.searchsorted(self._bad, begin) :]
        if len(bad) and bad[0] < end:
            if bad[0] == begin:
                self._raise_bad_payload()
            end = int(bad[0])
        records = Records(
            self._buffer,
            self._begins[begin:end],
            self._ends[begin:end],
            path=self.name,
            first=self.record,
            base=self._base,
        )
        self._cursor = end
        self.record += end - begin
        return records

    def _fill(self, limit: int | None, most: int | None) -> bool:
        """Get more of the file into the buffer; False when there is no more, or no use in it."""
        missing = self._missing()
        remaining = self._opened.remaining(missing)
        if self._bad_length or (remaining is not None and remaining < missing):
            return False
        keep = self._stop if self._cursor == len(self._begins) else int(self._begins[self._cursor]) - HEADER
        tail = self._buffer[keep:]
        try:
            buffer = self._extend(tail, max(missing, self._estimate(limit, most) - len(tail), 1))
        except CorruptionError as error:
            raise self._located(error, self._stop) from error.__cause__
        if len(buffer) <= len(tail):
            return False
        self._load(buffer, self._base + keep)
        return True

    def _missing(self) -> int:
        """How many bytes the frame lacks that the buffer cuts; 0 where not even its header is there."""
        have = len(self._buffer) - self._stop
        if have < HEADER or self._bad_length:
            return 0
        return max(0, frame.decode_header(self._buffer, self._stop) + OVERHEAD - have)

    def _estimate(self, limit: int | None, most: int | None) -> int:
        """About how many bytes ``limit`` frames take, if not ``most``."""
        if limit is None or not len(self._begins):
            return 0
        mean = int(self._ends[-1] - self._begins[0]) // len(self._begins) + OVERHEAD
        return min((limit + limit // 16 + 1) * mean, most or 1 << 62)

    def _extend(self, tail: bytes, needed: int) -> bytes:
        """``tail`` and, behind it, at least ``needed`` more bytes of the file if it has as many."""
        pieces, have = [tail], 0
        if tail and self._opened.rewind(len(tail)):
            pieces, have = [], -len(tail)  # reading the tail once more is cheaper than joining
        while have < needed:
            piece = self._opened.read(min(max(needed - have, _CHUNK), _PIECE))
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _load(self, buffer: bytes, base: int) -> None:
        self._buffer, self._base, self._cursor = buffer, base, 0
        if len(buffer) < OVERHEAD:
            self._begins = self._ends = self._bad = _NONE
            self._stop = 0
            self._bad_length = len(buffer) >= HEADER and not frame.header_holds(buffer, 0)
            return
        self._begins, self._ends, self._stop, self._bad_length = frame.split(buffer)
        self._bad = frame.bad_payloads(buffer, self._begins, self._ends) if self._verify else _NONE

    def _read_large(self) -> bytes | None:
        """The payload that follows next, past the buffer, if it is a large one in a regular file."""
        missing = self._missing()
        begin = self._stop + HEADER
        length = len(self._buffer) - begin + missing - FOOTER
        if missing <= FOOTER or length < _LARGE or (self._opened.remaining(missing) or 0) < missing:
            return None
        self._opened.rewind(len(self._buffer) - begin)
        payload = self._opened.read(length)
        while len(payload) < length and (more := self._opened.read(length - len(payload))):
            payload += more
        behind = self._opened.read(OVERHEAD)
        if len(behind) < FOOTER or (self._verify and not frame.payload_holds(payload, behind)):
            # The ordinary way finds out exactly what is wrong.
            header = self._buffer[self._stop : begin]
            self._load(header + payload + behind, self._base + self._stop)
            return None
        self._load(behind[FOOTER:], self._base + begin + length + FOOTER)
        return payload

    def _check_end(self) -> None:
        """Raise unless the data may end here."""
        tail = self._buffer[self._stop :]
        try:
            frame.check_end(tail, len(tail) + (self._opened.remaining() or 0))
        except CorruptionError as error:
            if self._base + self._stop == 0 and isinstance(error, ChecksumError):
                what = frame.looks_like(tail[:256])
                error.reason += f"; the file looks like {what}" if what else "; is this a TFRecord file?"
            raise self._located(error, self._stop) from None

    def _raise_bad_payload(self) -> NoReturn:
        begin, end = int(self._begins[self._cursor]), int(self._ends[self._cursor])
        error = frame.payload_error(self._buffer[begin:end], self._buffer[end : end + FOOTER])
        raise self._located(error, begin - HEADER)

    def _located(self, error: CorruptionError, position: int) -> CorruptionError:
        error.path, error.record, error.offset = self.name, self.record, self._base + position
        return error


class RecordReader(Iterator[bytes]):
    """Iterates over the records of one file after the other; what ``read_records`` gives.

    A reader that has come to the clean end of its last file goes on when more has been written to it:
    ask it again. Under ``on_error="skip"``, ``skipped`` counts the damaged places passed over and
    ``last_error`` is the latest of them.
    """

    def __init__(
        self, source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
    ) -> None:
        if on_error not in _POLICIES:
            raise ValueError(f"on_error must be one of {', '.join(_POLICIES)}, not {on_error!r}")
        self._on_error = on_error
        self._verify = verify
        self._compression = compression
        self._files = iter(files := resolve(source))
        self._stream: FrameStream | None = None
        self._stopped = False
        self._closed = False
        self._current: Iterator[bytes] = iter(())
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        # The first file is opened at once, so that what is wrong with it is said here.
        if files:
            self._open_next()

    def __iter__(self) -> Iterator[bytes]:
        # Looping over a generator is faster than calling __next__; both go on with self._current.
        while True:
            yield from self._current
            payloads = self._take(FrameStream.payloads)
            if payloads is None:
                return
            self._current = iter(payloads)

    def __next__(self) -> bytes:
        for record in self:
            return record
        raise StopIteration

    def batches(self, batch_size: int | None = None) -> Iterator[Records]:
        """The records in batches; see ``read_batches``."""
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size must be positive, not {batch_size}")
        limit, most = (_BATCH, _BATCH_BYTES) if batch_size is None else (batch_size, None)
        while (records := self._take(lambda stream: stream.next(limit, most))) is not None:
            yield records

    def close(self) -> None:
        """Close the file that is open."""
        if self._stream is not None:
            self._stream.close()
        self._closed = True

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()

    def _take(self, take: Callable[[FrameStream], _T | None]) -> _T | None:
        """What ``take`` gets from the present file or, at its end, from the next; None at the very end."""
        if self._closed:
            raise ClosedError("the reader is closed")
        while self._stream is not None and not self._stopped:
            taken, ended = None, False
            try:
                taken = take(self._stream)
            except CorruptionError as error:
                if self._on_error == "raise":
                    raise
                self.skipped += 1
                self.last_error = error
                if self._on_error == "skip" and self._stream.skip():
                    continue
                ended = True
            if taken is not None:
                return taken
            if (ended and self._on_error == "stop") or not self._open_next():
                self._stopped = ended
                return None
        return None

    def _open_next(self) -> bool:
        """Go on to the next file, if there is one."""
        for file in self._files:
            if self._stream is not None:
                self._stream.close()
            self._stream = FrameStream(Opened(file, self._compression), verify=self._verify)
            return True
        return False


def read_records(
    source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
) -> RecordReader:
    """The records of ``source``, one after the other, as ``bytes``.

    ``source`` is a path, a URL, a glob, a shard pattern (``name@10``, ``name-?????-of-?????``), a list of
    those, or a binary file that is open. ``compression`` is "auto" (judged by the content), "", "GZIP" or
    "ZLIB". The CRC of a length is always checked, that of the data unless ``verify`` is False.
    At damage, ``on_error="raise"`` raises a ``CorruptionError``, "skip" goes on behind the damaged
    record, "stop" ends as if the data ended there.

    >>> for record in read_records("train-*.tfrecord"):
    ...     print(len(record))
    """
    return RecordReader(source, compression=compression, verify=verify, on_error=on_error)


def read_batches(
    source: Any,
    *,
    batch_size: int | None = None,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
) -> Iterator[Records]:
    """The records of ``source`` in ``Records`` of ``batch_size``, the form in which many are handled fast.

    A batch has fewer records where a file ends or damage lies; it never spans two files. Without a
    ``batch_size`` it has as many as are good to handle at once: 4096, or 8 MiB. The other arguments are
    those of ``read_records``.
    """
    reader = RecordReader(source, compression=compression, verify=verify, on_error=on_error)
    return reader.batches(batch_size)
