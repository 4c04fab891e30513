"""The campaign: thousands of small files, each damaged at random, read back and accounted for.

The expected result follows from the origins of bytes that ``traced_damage`` records.
``python -m tests.support.campaign 100000`` runs it for longer than the test suite does, and prints what it
found; a second number is where to begin.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import random
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from purerecord import TFRecordOptions, read_batches, read_records, scan, validate
from purerecord.container.damage import DUPLICATED, Damage
from purerecord.recovery.report import FileReport
from purerecord.recovery.scan import Frame
from tests.support.damage import FOOTER, HEADER, OVERHEAD, header
from tests.support.damage import frames as make_frames
from tests.support.small_buffers import buffers
from tests.support.traced_damage import PROFILES, Traced, damage, encode, make_payloads

# --- Expected results -----------------------------------------------------------------------------


@dataclass
class Tally:
    """The counts over many files."""

    files: Counter[str] = field(default_factory=Counter)
    damages: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    intact: Counter[str] = field(default_factory=Counter)  # records that no damage touched, by form
    recovered: Counter[str] = field(default_factory=Counter)  # those of them that were read
    headless: int = 0  # records beyond ``intact`` that only lost their header
    hidden: int = 0  # records moved to where they look like part of another, left out of ``intact``
    mistaken: int = 0  # frames of a TFRecord inside a payload, taken for the file's own
    undetectable: int = 0  # files that are damaged, but whole: records cut out at their edges, say

    def add(self, other: Tally) -> None:
        """Add the counts over other files."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def recall(self, form: str) -> float:
        """The share of the records that no damage touched that were recovered."""
        return self.recovered[form] / self.intact[form] if self.intact[form] else 1.0

    def __str__(self) -> str:
        certain = [form for form in self.files if form != "nested"]
        recovered, intact = (
            sum(counts[form] for form in certain) for counts in (self.recovered, self.intact)
        )
        lines = [
            f"{sum(self.files.values()):,} damaged files, every byte accounted for, no record invented",
            f"recall {recovered / max(1, intact):.4%}, but for files with a TFRecord in a payload",
        ]
        for form, files in self.files.items():
            lines.append(
                f"{form}: {files:,} files, recall {self.recall(form):.4%}: "
                f"{self.recovered[form]:,} of {self.intact[form]:,} records that no damage touched"
            )
        lines += [
            f"beyond these {self.headless:,} records of which only the header was damaged",
            f"left out {self.hidden:,} records that were moved to where they look like part of another",
            f"{self.mistaken:,} frames of a TFRecord in a payload were taken for the file's own",
            f"{self.undetectable:,} files were damaged without a trace: at the edges of frames, say",
            "done to them: " + ", ".join(f"{n:,} {name}" for name, n in self.damages.most_common()),
            "reported: " + ", ".join(f"{n:,} {kind}" for kind, n in self.kinds.most_common()),
        ]
        return "\n".join(lines)


def places(file: Traced, begins: Any, ends: Any) -> list[tuple[int, int]]:
    """All (offset, i) where the damaged file holds the clean bytes [begins[i], ends[i]) in one piece."""
    begins, ends = np.asarray(begins), np.asarray(ends)
    order = np.argsort(file.origin, kind="stable")
    ordered = file.origin[order]
    first, last = np.searchsorted(ordered, begins), np.searchsorted(ordered, begins, side="right")
    breaks = np.append(np.flatnonzero(np.diff(file.origin) != 1), len(file.origin) - 1)
    found = []
    for i in np.flatnonzero(first < last).tolist():
        for at in order[first[i] : last[i]].tolist():
            if breaks[np.searchsorted(breaks, at)] >= at + ends[i] - begins[i] - 1:
                found.append((at, i))
    return sorted(found)


def frame_edges(payloads: list[bytes]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the frames of the clean file begin and end."""
    sizes = np.array([len(payload) + OVERHEAD for payload in payloads])
    ends = np.cumsum(sizes)
    return ends - sizes, ends


def check_plain(
    file: Traced, payloads: list[bytes], found: list[Frame | Damage], tally: Tally, form: str
) -> None:
    """Whether ``found`` is right for an uncompressed file."""
    nested = form == "nested"
    data = file.data.tobytes()
    begins, ends = frame_edges(payloads)
    intact = {at: payloads[i] for at, i in places(file, begins, ends)}
    headless = {at - HEADER: payloads[i] for at, i in places(file, begins + HEADER, ends)}
    known = set(payloads)
    position = 0
    for item in found:
        if isinstance(item, Damage):
            assert item.begin == position < item.end, "damages and frames lie side by side"
            position = item.end
            continue
        payload = data[item.offset + HEADER : item.offset + HEADER + item.length]
        if item.offset == position:
            position += HEADER
            tally.recovered[form] += item.offset in intact
        else:
            assert item.offset + HEADER == position, "damages and frames lie side by side"
            tally.headless += 1
        position += item.length + FOOTER
        if payload != headless.get(item.offset):
            # A header for eight bytes before another header is a valid frame, by all rules.
            possible = payload in known or is_header(data, item.offset + HEADER)
            assert nested or possible, f"a record was invented at {item.offset}"
            tally.mistaken += payload not in known
    assert position == len(data), "every byte is accounted for"
    frames = [item for item in found if isinstance(item, Frame)]
    assert [frame.index for frame in frames] == list(range(len(frames)))
    swallowed = set(inside_others(file, intact, payloads))
    for frame in frames:  # a frame may end one byte later, if a lost byte equals the next
        swallowed.update(range(frame.offset + 1, frame.offset + frame.length + OVERHEAD))
    missed = sorted(set(intact) - swallowed - {frame.offset for frame in frames})
    assert nested or not missed, f"intact frames at {missed} were not found"
    hidden = swallowed & set(intact) - {frame.offset for frame in frames}
    tally.intact[form] += len(intact) - len(hidden)
    tally.hidden += len(hidden)
    if not any(isinstance(item, Damage) for item in found):
        tally.undetectable += 1
        kept = [data[frame.offset + HEADER :][: frame.length] for frame in frames]
        assert make_frames(kept) == data, "what is not reported is no damage to a TFRecord"


def inside_others(file: Traced, intact: dict[int, bytes], payloads: list[bytes]) -> Iterator[int]:
    """The offsets of frames that were moved into a damaged frame whose own header, and the next, are right.

    They look exactly like a TFRecord inside a payload, so no reader can recover them.
    """
    data = file.data.tobytes()
    begins, _ = frame_edges(payloads)
    before = {at + len(payload) + OVERHEAD: at for at, payload in intact.items()}
    for at, i in places(file, begins, begins + HEADER):
        stop = at + len(payloads[i]) + OVERHEAD
        if at not in intact and (stop == len(data) or is_header(data, stop)):
            # Adjacent frames up to exactly there were not moved: the bytes before them are missing.
            while stop in before:
                stop = before[stop]
            yield from (a for a in intact if at < a < stop)


def is_header(data: bytes, at: int) -> bool:
    """Whether a length and its matching CRC are at ``at``."""
    found = data[at : at + HEADER]
    return len(found) == HEADER and header(int.from_bytes(found[:8], "little")) == found


def check_compressed(
    file: Traced, clean: bytes, payloads: list[bytes], found: list[bytes], damaged: bool
) -> tuple[int, bool]:
    """Whether the records ``found`` are right for a compressed file.

    Gives the number of records that had to be there, and whether the damage is undetectable.
    """
    known = set(payloads)
    assert all(payload in known for payload in found), "no record is invented"
    before = whole_before_damage(file, clean, payloads)
    assert found[: len(before)] == before, "records before the damage are recovered"
    members = intact_members(file, clean)
    resumable = members if clean.startswith(b"\x1f\x8b") else []  # nothing tells where a ZLIB stream begins
    required = [payload for _, _, plain in resumable for payload in whole_records(plain)]
    rest = iter(found)
    assert all(payload in rest for payload in required), "records of intact members are recovered"
    whole = sum(end - begin for begin, end, _ in members) == len(file.data)
    harmless = found == payloads * (len(found) // len(payloads))  # the time in a GZIP header, say
    assert damaged or whole or harmless, "damage is seen"
    return max(len(before), len(required)), not damaged


def whole_records(plain: bytes) -> list[bytes]:
    """The records of plain bytes that may end inside a frame; none unless they begin with a frame."""
    return list(read_records(io.BytesIO(plain), compression="", on_error="stop"))


def whole_before_damage(file: Traced, clean: bytes, payloads: list[bytes]) -> list[bytes]:
    """The records that can be inflated from the bytes before the first damage."""
    wrong = file.origin != np.arange(len(file.origin))
    prefix = clean[: int(wrong.argmax()) if wrong.any() else len(wrong)]
    plain, rest = 0, prefix
    while rest:
        inflater = zlib.decompressobj(47)
        plain += len(inflater.decompress(rest))
        rest = inflater.unused_data
    return payloads[: int(np.searchsorted(frame_edges(payloads)[1], plain, side="right"))]


def intact_members(file: Traced, clean: bytes) -> list[tuple[int, int, bytes]]:
    """The undamaged compressed streams: begin and end in the damaged file, and their plain bytes."""
    begins, inflated = [0], []
    while begins[-1] < len(clean):
        inflater = zlib.decompressobj(47)
        inflated.append(inflater.decompress(clean[begins[-1] :]))
        begins.append(len(clean) - len(inflater.unused_data))
    sizes = np.diff(begins).tolist()
    return [(at, at + sizes[i], inflated[i]) for at, i in places(file, begins[:-1], begins[1:])]


# --- One file of the campaign -----------------------------------------------------------------------


class Trickle(io.RawIOBase):
    """A pipe: gives a random number of bytes per read, and cannot seek."""

    def __init__(self, data: bytes, rng: random.Random) -> None:
        self._file = io.BytesIO(data)
        self._rng = rng

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(self._rng.randint(1, max(1, size)))


FORMS: dict[str, Any] = {
    "plain": None,
    "nested": None,
    "GZIP": "GZIP",
    "ZLIB": "ZLIB",
    "blocked GZIP": TFRecordOptions("GZIP", block_size=2_000),
}


def run_one(seed: int, folder: str, tally: Tally) -> None:
    """Make, damage, read and check one file."""
    rng = random.Random(seed)
    form = rng.choices(list(FORMS), [60, 8, 12, 4, 16])[0]
    payloads = make_payloads(rng, "nested" if form == "nested" else rng.choice(list(PROFILES)))
    clean = encode(payloads, FORMS[form])
    file, names = damage(rng, clean)
    tally.files[form] += 1
    tally.damages.update(names)
    declared = "auto" if FORMS[form] is None else form.rpartition(" ")[2]
    found, read, report = read_all(rng, file.data.tobytes(), folder, declared)
    damages = [item for item in found if isinstance(item, Damage)]
    tally.kinds.update(item.kind for item in report.damages)
    if FORMS[form] is None:
        check_plain(file, payloads, found, tally, form)
    else:
        required, traceless = check_compressed(file, clean, payloads, read, bool(damages))
        tally.intact[form] += required
        tally.recovered[form] += required
        tally.undetectable += traceless


def read_all(
    rng: random.Random, data: bytes, folder: str, compression: str
) -> tuple[list[Frame | Damage], list[bytes], FileReport]:
    """The results of scanning, reading and validating ``data``, on which all ways of doing so must agree."""
    look = rng.choice([100, 4_000, 1 << 20, 1 << 20])
    with buffers(_LOOKAHEAD=look):
        found = list(scan(io.BytesIO(data), compression=compression))
    chunk = rng.choice([16 if len(data) < 5_000 else 300, 1_000, 5_000, 1 << 20])
    with buffers(
        _LOOKAHEAD=look,
        _SMALLEST_READ=chunk,
        _VERIFY_BUFFER=max(chunk, 64),
        _LARGEST_READ=rng.choice([100, 5_000, 1 << 24]),
        _SEARCH_READ=rng.choice([50, 1_000, 10_000, 1 << 22]),
        _DIRECT_PAYLOAD=rng.choice([10, 500, 1 << 14]),
        _BUFFER_SIZE=rng.choice([200, 3_000, 1 << 20]),
        _FEWEST_FRAMES=rng.choice([1, 16]),
    ):
        source = _source(rng, data, folder)
        exact = compression == "auto"
        assert alike(scan(source(), compression=compression), found, exact), (
            "in what pieces it is read is all one"
        )
        read = list(read_records(source(), on_error="skip", compression=compression))
        batches = read_batches(
            source(), batch_size=rng.randint(1, 50), on_error="skip", compression=compression
        )
        assert [payload for batch in batches for payload in batch] == read, "batches and records agree"
        (report,) = validate(source(), compression=compression).files
    frames = [item for item in found if isinstance(item, Frame)]
    assert [frame.length for frame in frames] == list(map(len, read)), "scanning and reading agree"
    assert report.records == len(frames), "validating and scanning agree"
    assert alike(report.damages, [item for item in found if isinstance(item, Damage)], exact)
    if exact:
        payloads = [data[f.offset + HEADER : f.offset + HEADER + f.length] for f in frames]
        assert read == payloads, "scanning and reading agree"
        assert report.good_bytes + report.damaged_bytes == report.size == len(data)
    check_bytes(report, data)
    return found, read, report


def check_bytes(report: FileReport, data: bytes) -> None:
    """Check that every byte is accounted for, of the plain data and of the file itself."""
    assert report.good_bytes + report.damaged_bytes == report.size
    assert report.good_file_bytes + report.damaged_file_bytes == report.file_size == len(data)
    assert report.good_bytes >= 0
    at = 0
    for begin, end in (item.compressed for item in report.damages if item.compressed is not None):
        assert at <= begin <= end <= len(data), "compressed ranges come in order"
        at = end


def alike(some: Iterable[Frame | Damage], others: Iterable[Frame | Damage], exact: bool) -> bool:
    """Whether both are the same, except for the name of duplicated blocks, which only a file on disk gets.

    Unless ``exact``, the amount of nonsense before a break in compressed data does not count either.
    """

    def gist(item: Frame | Damage) -> Any:
        return item if exact else item.length if isinstance(item, Frame) else item.kind

    def same(one: Frame | Damage, other: Frame | Damage) -> bool:
        if DUPLICATED in (getattr(one, "kind", ""), getattr(other, "kind", "")):
            return (one.begin, one.end) == (other.begin, other.end)
        return gist(one) == gist(other)

    some, others = list(some), list(others)
    return len(some) == len(others) and all(map(same, some, others))


def _source(rng: random.Random, data: bytes, folder: str) -> Callable[[], Any]:
    kind = rng.choice(["path", "path", "file", "pipe"])
    if kind == "path":
        path = os.path.join(folder, "damaged.tfrecord")
        with open(path, "wb") as file:
            file.write(data)
        return lambda: path
    if kind == "file":
        return lambda: io.BytesIO(data)
    return lambda: Trickle(data, rng)


def run(count: int, first: int = 0) -> Tally:
    """Run ``count`` files from number ``first`` on; an AssertionError names the first that is wrong."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                run_one(seed, folder, tally)
            except Exception as error:
                where = f"file {seed} of the campaign"
                raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    return tally


def run_on_all_cores(count: int, first: int = 0) -> Tally:
    """Like ``run``, in several processes."""
    step = 250
    pieces = [(min(step, first + count - begin), begin) for begin in range(first, first + count, step)]
    total = Tally()
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for tally in pool.map(run, *zip(*pieces, strict=True)):
            total.add(tally)
    return total


if __name__ == "__main__":
    print(run_on_all_cores(*map(int, sys.argv[1:] or ["20000"])))
