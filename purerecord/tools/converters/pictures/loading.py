"""Reading pictures: their bytes, checked, as Examples, in batches and in threads.

Pictures keep their order. What cannot be used is counted and named, or is an error. Memory holds a few
batches, whatever the number and the sizes of the pictures. This module must not know sources.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ....payload.image_header import ImageHeader, image_header
from ....payload.images import ImageError, ImageForm, check_decoders, decoded_image
from ....payload.wire import MAX_SIZE
from ....records import Records
from ..job import Job
from .label_map import LabelMap
from .picture import Box, Loaded, Picture
from .styles import Style, colours

_CHUNK_PICTURES, _CHUNK_BYTES = 256, 1 << 23
_THREADS = min(8, os.cpu_count() or 1)
_MORE = 1 << 20  # bytes to read at once after the size that a file had
_TOLERANCE = 0.01  # pixels by which rounding may move an edge past that of the picture

MISSING, BROKEN = "pictures that are not there", "broken pictures"
_EMPTY, _OUTSIDE = "boxes without area", "boxes outside their picture"
_CUT = "boxes cut off at the edge of their picture"
_OTHER_SIZE = "pictures of another size than their annotations state"
_NOT_DECODED = "pictures in WebP, which TensorFlow does not decode"
_NOT_RGB = "pictures that are no RGB or no JPEG, which readers of ImageNet files expect"


@dataclass
class Findings:
    """What was left out, and what was noticed, in the order of the pictures: a reason and a name each."""

    left_out: list[tuple[str, str]] = field(default_factory=list)
    noticed: list[tuple[str, str]] = field(default_factory=list)


class _Done(NamedTuple):
    """A batch of pictures that was read."""

    records: Records | None
    findings: Findings
    size: int
    pictures: int


@dataclass(frozen=True)
class _Work:
    """How to read pictures."""

    style: Style
    labels: LabelMap
    decode: bool
    skip: bool
    convention: str

    def __call__(self, pictures: Sequence[Picture]) -> _Done:
        findings = Findings()
        loaded = [found for picture in pictures if (found := self._loaded(picture, findings)) is not None]
        size = sum(len(found.data) for found in loaded)
        records = self.style.records(loaded, self.labels) if loaded else None
        return _Done(records, findings, size, len(loaded))

    def _loaded(self, picture: Picture, findings: Findings) -> Loaded | None:
        try:
            data = _read(picture.path)
            header = image_header(data)
            if self.decode:
                decoded_image(data, ImageForm("rgb"))
        except (OSError, ValueError, ImageError) as error:
            missing = not isinstance(error, ImageError)
            if missing and not _is_missing(error):
                raise
            name = f"{picture.path}: {error.reason if isinstance(error, ImageError) else 'no such file'}"
            if picture.place:
                name += f", named in {picture.place}"
            if not self.skip:
                raise ValueError(f"{name}; on_broken='skip' leaves such pictures out") from None
            findings.left_out.append((MISSING if missing else BROKEN, name))
            return None
        found = Loaded(picture, data, header, _fractions(picture, header, findings))
        if header.format == "WebP" and self.convention != "plain":
            findings.noticed.append((_NOT_DECODED, picture.path))
        elif self.convention == "imagenet" and (header.format != "JPEG" or colours(found) != b"RGB"):
            findings.noticed.append((_NOT_RGB, picture.path))
        return found


def _is_missing(error: Exception) -> bool:
    """Whether an error says that there is no file of this name, and that there could be none."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL)
    return isinstance(error, UnicodeEncodeError) or "null" in str(error)


def _read(path: str) -> bytes:
    """The bytes of a file. For files of this size, a file object would take a third of the time."""
    # A pipe that nobody writes to would otherwise wait for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ImageError("it is a folder, or no ordinary file")
        size = status.st_size
        if size > MAX_SIZE:
            raise ImageError("the file is larger than a record can be, 2 GiB")
        data = os.read(descriptor, size)
        while more := os.read(descriptor, _MORE):  # the system gave less, or the file has grown
            data += more
            if len(data) > MAX_SIZE:
                raise ImageError("the file is larger than a record can be, 2 GiB")
        return data
    finally:
        os.close(descriptor)


def _fractions(picture: Picture, header: ImageHeader, findings: Findings) -> list[Box]:
    """The boxes of a picture with their edges as fractions of its sides, inside the picture."""
    if not picture.boxes:
        return []
    height, width = picture.frame or (header.height, header.width)
    if picture.frame not in (None, (1, 1), (header.height, header.width)):
        stated = f"{picture.path}: {width:g} × {height:g}, not {header.width} × {header.height}"
        findings.noticed.append((_OTHER_SIZE, stated))
    kept = []
    for number, box in enumerate(picture.boxes):
        edges = (box.xmin / width, box.ymin / height, box.xmax / width, box.ymax / height)
        inside = [min(max(edge, 0.0), 1.0) for edge in edges]
        name = f"{picture.path}: box {number}, {box.name!r}"
        if not (edges[2] > edges[0] and edges[3] > edges[1]):
            findings.left_out.append((_EMPTY, name))
        elif not (inside[2] > inside[0] and inside[3] > inside[1]):
            findings.left_out.append((_OUTSIDE, name))
        else:
            moved = [abs(edge - cut) for edge, cut in zip(edges, inside, strict=True)]
            if max(*moved[::2]) * header.width > _TOLERANCE or max(*moved[1::2]) * header.height > _TOLERANCE:
                findings.noticed.append((_CUT, name))
            xmin, ymin, xmax, ymax = inside
            kept.append(replace(box, xmin=xmin, ymin=ymin, xmax=xmax, ymax=ymax))
    return kept


def records_of(job: Job, pictures: Iterable[Picture], style: Style, labels: LabelMap) -> Iterator[Records]:
    """The Examples of pictures; what is noticed goes into the job's report."""
    decode = job.options.get("check_pictures") == "decode"
    if decode:
        check_decoders(ImageForm("rgb"))
    skip = job.options.get("on_broken") != "raise"
    work = _Work(style, labels, decode, skip, job.style or "")
    noticed: Counter[str] = Counter()
    firsts: dict[str, str] = {}
    count = 0
    for done in _in_threads(work, _chunks(pictures)):
        for reason, name in done.findings.left_out:
            job.report.skip(reason, name)
        for reason, name in done.findings.noticed:
            noticed[reason] += 1
            firsts.setdefault(reason, name)
        job.progress(done.size, done.pictures)
        count += done.pictures
        if done.records is not None:
            yield done.records
    for reason, number in noticed.items():
        job.report.note(f"{reason}: {number:,}, first {firsts[reason]}")
    if not count and (lost := job.report.skipped):
        first = next(iter(lost.values())).first
        raise ValueError(f"none of the pictures can be used; the first is {first}")


def _chunks(pictures: Iterable[Picture]) -> Iterator[list[Picture]]:
    """Pictures in groups that are read together."""
    chunk: list[Picture] = []
    size = 0
    for picture in pictures:
        with suppress(OSError, ValueError):  # it is reported when the picture is read
            size += os.stat(picture.path).st_size
        chunk.append(picture)
        if len(chunk) >= _CHUNK_PICTURES or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _in_threads(work: Callable[[Any], _Done], chunks: Iterable[Any]) -> Iterator[_Done]:
    """The results of ``work``, in the order of the chunks, a few of which are under way."""
    waiting: deque[Future[_Done]] = deque()
    with ThreadPoolExecutor(_THREADS) as pool:
        try:
            for chunk in chunks:
                waiting.append(pool.submit(work, chunk))
                if len(waiting) > _THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
