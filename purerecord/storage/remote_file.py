"""``RemoteFile``: reads a remote file by position, as ``OpenFile`` reads a local one.

Reading forward keeps several ranges on their way, in threads: a connection alone is slow. A request that
fails is repeated, after a short answer from the byte where it ended, until it has failed too often. An object
that changes while it is read is an error. Connections, threads and ranges belong to the process that made
them; a forked one begins anew. This module does not know what the bytes mean.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..errors import CorruptionError, StaleIndexError
from .stores import ChangedError, Status, StoredObject, named, open_object
from .url import Url

# Bytes of one request when reading forward, and how many requests are under way at most.
RANGE = 1 << 23
AHEAD = 14
# Bytes of the first range of a file: some only want to see the beginning.
FIRST = 1 << 20
# Wanted ranges with a smaller gap between them are one request, if it does not become larger than this.
_GAP = 1 << 20
_LARGEST_JOINED = 1 << 25
# Failures in a row after which a file is given up, and the pause after the first one, which doubles each
# time.
ATTEMPTS = 8
_PAUSE = 0.1
_LONGEST_PAUSE = 15.0
# Seconds without an answer after which a request is made again beside the first one.
PATIENCE = 60.0

_Got = TypeVar("_Got")


class RemoteFile:
    """The remote file at ``url``. With ``ahead``, it is read forward mostly."""

    def __init__(self, url: Url, *, ahead: bool = False) -> None:
        self._url = url
        self._ahead = ahead
        self._lock = threading.Lock()
        self._begin_process()
        self._status: Status = self._retried(lambda: self._object().status())
        self._library = type(self._object())  # which has worded the version
        if self._status.size is None or not self._status.ranges:
            reason = "the server gives no ranges of it: only read_records reads it, or a local_cache keeps it"
            error = NoRangesError(errno.ESPIPE, reason, str(url))
            error.status = self._status
            raise error

    def _begin_process(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._opened: StoredObject | None = None
        self._ranges: dict[int, _Range] = {}

    def _object(self) -> StoredObject:
        if self._opened is None:
            self._opened = open_object(self._url)
        return self._opened

    @property
    def status(self) -> Status:
        """The size and version of the file when it was opened."""
        return self._status

    def size(self) -> int:
        """The size of the file when it was opened."""
        assert self._status.size is not None
        return self._status.size

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset``; fewer only at the end of the file."""
        return b"".join(self._pieces(offset, min(offset + size, self.size())))

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill ``view`` with the bytes at ``offset``, and give their number: less only at the file's end."""
        at = 0
        for piece in self._pieces(offset, min(offset + len(view), self.size())):
            view[at : at + len(piece)] = piece
            at += len(piece)
        return at

    def _pieces(self, offset: int, end: int) -> Iterator[memoryview]:
        """The bytes [offset, end), from one range or request after the other."""
        while offset < end:
            wanted = self._range(offset) if self._ahead else self._request(offset, end)
            piece = memoryview(self._wait(wanted))[offset - wanted.begin : end - wanted.begin]
            yield piece
            offset += len(piece)

    def read_many(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of several spans of offset and size, which ascend; close ones are one request."""
        joined: list[list[int]] = []
        homes = []
        for offset, size in spans:
            end = min(offset + size, self.size())
            if joined and offset - joined[-1][1] <= _GAP and end - joined[-1][0] <= _LARGEST_JOINED:
                joined[-1][1] = max(end, joined[-1][1])
            else:
                joined.append([offset, end])
            homes.append(len(joined) - 1)
        requests: dict[int, _Range] = {}
        found = []
        for (offset, size), home in zip(spans, homes, strict=True):
            for number in range(home, min(home + AHEAD, len(joined))):
                if number not in requests:
                    requests[number] = self._request(*joined[number])
            begin = joined[home][0]
            found.append(self._wait(requests[home])[offset - begin : offset - begin + size])
            requests.pop(home - 1, None)
        return found

    def is_confirmed(self, begin: int, end: int) -> bool:
        """Whether the bytes [begin, end) are the same when they are asked for once more."""
        return self.read_at(begin, end - begin) == self._wait(self._request(begin, end))

    def read_again(self) -> bool:
        """Forget what was read ahead: it may have been damaged on its way. Raises if the file has changed."""
        self._check_process()
        self._ranges.clear()
        self._check_unchanged(self._retried(lambda: self._object().status()))
        return True

    def close(self) -> None:
        """Forget what was read ahead."""
        self._ranges = {}

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            self._begin_process()

    def _range(self, offset: int) -> _Range:
        """The range with the byte at ``offset``; the next ones are asked for, and earlier ones forgotten."""
        self._check_process()
        with self._lock:
            number = _number(offset)
            depth = AHEAD if self._ranges else 1  # who reads on after a look at the beginning wants more
            if number not in self._ranges and number - 1 not in self._ranges:
                self._ranges.clear()
                depth = 1
            elif number in self._ranges and len(self._ranges) == 1:
                depth = 1
            for wanted in range(number, number + depth):
                begin, end = _begin(wanted), min(_begin(wanted + 1), self.size())
                if begin < end and (wanted not in self._ranges or self._ranges[wanted].failed):
                    self._ranges[wanted] = self._request(begin, end)
            for old in [old for old in self._ranges if old < number - 1]:
                del self._ranges[old]
            return self._ranges[number]

    def _request(self, begin: int, end: int) -> _Range:
        self._check_process()
        wanted = _Range(begin, end)
        self._start(wanted)
        return wanted

    def _start(self, wanted: _Range) -> None:
        threading.Thread(target=self._fetch_into, args=(wanted,), daemon=True).start()

    def _fetch_into(self, wanted: _Range) -> None:
        try:
            wanted.give(self._fetch(wanted))
        except BaseException as error:
            wanted.fail(error)

    def _wait(self, wanted: _Range) -> bytes:
        silent = 0
        while silent < ATTEMPTS:
            before = wanted.received
            if wanted.done.wait(PATIENCE):
                return wanted.result()
            if wanted.received > before:
                silent = 0
                continue
            silent += 1
            self._start(wanted)  # another connection may be alive
        raise TimeoutError(errno.ETIMEDOUT, f"the store does not answer for {PATIENCE:.0f} s", str(self._url))

    def _fetch(self, wanted: _Range) -> bytes:
        """The bytes of ``wanted``, however often the connection breaks in between.

        A large record comes in several requests, so that what has arrived of it is not lost.
        """
        parts: list[bytes] = []
        at, end = wanted.begin, wanted.end
        while at < end:
            to = min(end, at + _LARGEST_JOINED)
            data = self._retried(lambda: self._some(at, to))  # noqa: B023 - called at once
            parts.append(data)
            at += len(data)
            wanted.received = max(wanted.received, at - wanted.begin)
        if end == self.size():
            self._check_unchanged(self._retried(lambda: self._object().status()))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, begin: int, end: int) -> bytes:
        data = self._object().read(begin, end)
        if len(data) > end - begin:
            raise OSError(errno.EIO, f"the server sent {len(data)} bytes for a range of {end - begin}")
        if not data:
            self._check_unchanged(self._object().status())
            raise OSError(errno.EIO, f"the server sent nothing for the {end - begin} bytes at {begin}")
        return data

    def _check_unchanged(self, status: Status) -> None:
        if type(self._object()) is not self._library:  # in a forked process: it words versions differently
            self._library = type(self._object())
            self._status = self._status._replace(version=status.version)
        if (status.size, status.version) != (self._status.size, self._status.version):
            raise ChangedError(
                errno.ESTALE,
                f"it was replaced while it was read: {self._status.size} bytes before, {status.size} now; "
                "read it again from the beginning",
                str(self._url),
            )

    def _retried(self, call: Any) -> Any:
        """The result of ``call``, which is repeated while it fails in a way that may pass."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with named(self._url):
                    return call()
            except Exception as error:
                if not may_pass(error):
                    raise
                if attempt == ATTEMPTS:
                    reason = self._url.without_secrets(str(getattr(error, "strerror", None) or error))
                    raise OSError(
                        errno.EIO, f"given up after {ATTEMPTS} attempts: {reason}", str(self._url)
                    ) from None
            pause = min(_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            time.sleep(pause * (256 + os.urandom(1)[0]) / 512)  # not in step with other readers
        raise AssertionError("the last attempt returns or raises")


def _number(offset: int) -> int:
    """The number of the range with the byte at ``offset``."""
    return 0 if offset < FIRST else 1 + (offset - FIRST) // RANGE


def _begin(number: int) -> int:
    return 0 if number == 0 else FIRST + (number - 1) * RANGE


class _Range:
    """The bytes [begin, end), on their way or here. The first answer counts."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.received = 0  # how many of them are here; more of them mean that the store answers
        self.done = threading.Event()
        self._data: bytes | None = None
        self._error: BaseException | None = None

    def give(self, data: bytes) -> None:
        self._data = data
        self.done.set()

    def fail(self, error: BaseException) -> None:
        if self._data is None:
            self._error = error.with_traceback(None)
            self.done.set()

    @property
    def failed(self) -> bool:
        """Whether it is not coming; another request may succeed."""
        return self._error is not None and self._data is None

    def result(self) -> bytes:
        if self._data is None:
            assert self._error is not None
            raise self._error
        return self._data


class SeenTwice:
    """Tells damage in a store from damage on the way from there, which differs when it is read again."""

    def __init__(self) -> None:
        self._last: tuple[object, str] | None = None
        self._times = 0

    def seen(self, place: object, error: Exception) -> bool:
        """Whether ``error`` has come at ``place`` before, word for word, or others too often."""
        found = (place, str(error))
        again = self._last == found
        self._times = self._times + 1 if self._last is not None and self._last[0] == place else 0
        self._last = found
        return again or self._times >= ATTEMPTS


def until_seen_twice(file: Any, work: Callable[[], _Got]) -> _Got:
    """The result of ``work``, which reads from ``file``; repeated for damage that may be of the way here."""
    twice = SeenTwice()
    while True:
        try:
            return work()
        except (CorruptionError, StaleIndexError) as error:
            if twice.seen(None, error) or not file.read_again():
                raise


def found_twice(look: Callable[[], _Got], name: str) -> _Got:
    """What ``look`` finds twice in a row in the remote file ``name``, where no checksum tells damage."""
    found = look()
    for _ in range(ATTEMPTS):
        before, found = found, look()
        if found == before:
            return found
    raise OSError(errno.EIO, "its bytes are other ones each time they are read", name)


class NoRangesError(OSError):
    """The server does not give ranges of a file, or its size: it can only be read forward."""

    status = Status(None, "")  # what it does say


_CERTAIN = (
    *(FileNotFoundError, PermissionError, IsADirectoryError, ChangedError, NoRangesError),
    *(ImportError, TypeError, ValueError, NotImplementedError, AttributeError),
)


def may_pass(error: BaseException) -> bool:
    """Whether a request that failed with ``error`` may succeed later."""
    if isinstance(error, _CERTAIN):
        return False
    status = getattr(error, "status", None)  # of aiohttp
    return not (isinstance(status, int) and 400 <= status < 500 and status not in (408, 429))
