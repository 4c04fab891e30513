"""Decodes spans of a buffer into arrays of integers, floats and ``bytes``.

A span is ``sizes[i]`` bytes from ``begins[i]`` on. Each function handles all spans of a column at once. The
key is ``gather_bytes``: one indexing operation that copies a few bytes from every record. This module does
not know what surrounds a span.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...memory.malloc import LARGE_PAGES_FROM, in_batches_of_bytes
from . import tuning
from .arrays import Ints, Mask, Octets, Words, ranges_of, starts_of
from .varint_words import MAX_BYTES, decode_long, decode_packed, decode_single, has_overlong_varint

_ONES = np.uint64(0x0101010101010101)


def gather_bytes(octets: Octets, width: int, begins: Ints, offset: int = 0) -> npt.NDArray[np.void]:
    """The ``width`` bytes from each of ``begins + offset`` on; zeros outside of the buffer.

    ``begins`` must not be negative unless ``offset`` is: numpy would silently wrap around.
    """
    if offset < 0:
        begins, offset = begins + offset, 0
        if begins.size and int(begins.min()) < 0:
            return _gather_bytes_anywhere(octets, width, begins)
    number = octets.size - offset - width + 1
    if number > 0:
        # Element i of this view is the bytes from i on. The elements overlap; nothing is copied yet.
        view: npt.NDArray[np.void] = np.ndarray((number,), _bytes(width), octets, offset, (1,))
        try:
            return view[begins]
        except IndexError:
            pass
    return _gather_bytes_anywhere(octets, width, begins + offset)


@lru_cache(maxsize=256)
def _bytes(width: int) -> np.dtype[np.void]:
    """The dtype of ``width`` bytes as one element. Cached: making one costs as much as a small gather."""
    return np.dtype(f"V{width}")


def _gather_bytes_anywhere(octets: Octets, width: int, begins: Ints) -> npt.NDArray[np.void]:
    """The same for positions anywhere, even before the buffer."""
    zeros = np.zeros(width, np.uint8)
    last = octets.size - width
    if last < width:
        padded = np.concatenate((zeros, octets, zeros))
        return gather_bytes(padded, width, np.clip(begins + width, 0, octets.size + width))
    out = gather_bytes(octets, width, np.clip(begins, 0, last))
    early, late = begins < 0, begins > last
    out[early] = gather_bytes(
        np.concatenate((zeros, octets[:width])), width, np.maximum(begins[early] + width, 0)
    )
    out[late] = gather_bytes(
        np.concatenate((octets[last:], zeros)), width, np.minimum(begins[late] - last, width)
    )
    return out


def words_at(octets: Octets, begins: Ints) -> Words:
    """The eight bytes from each of ``begins`` on."""
    return gather_bytes(octets, 8, begins).view("<u8")


# --- Floats -----------------------------------------------------------------------------------------


def floats(octets: Octets, begins: Ints, sizes: Ints) -> npt.NDArray[np.float32]:
    """The packed floats of all spans; their sizes are multiples of 4."""
    size = int(sizes[0]) if sizes.size else 0
    if size and bool((sizes == size).all()):
        return gather_bytes(octets, size, begins).view("<f4")
    counts = sizes >> 2
    return gather_bytes(octets, 4, ranges_of(begins, counts, 4)).view("<f4")


# --- Integers ---------------------------------------------------------------------------------------


def single_integers(octets: Octets, begins: Ints, sizes: Ints) -> Ints | None:
    """The integers of spans that hold exactly one each; None if any span holds something else."""
    if not tuning.current.single_integers:
        return None
    sample = tuning.current.sampled_spans
    some = _single_integers(octets, begins[:sample], sizes[:sample])
    return some if some is None or sizes.size <= sample else _single_integers(octets, begins, sizes)


def _single_integers(octets: Octets, begins: Ints, sizes: Ints) -> Ints | None:
    if int(sizes.max(initial=0)) > MAX_BYTES or int(sizes.min(initial=1)) < 1:
        return None
    words = words_at(octets, begins)
    values, valid = decode_single(words, sizes.view(np.uint64))
    if not valid.all():
        rest = np.flatnonzero(~valid)
        longer = decode_long(words[rest], words_at(octets, begins[rest] + 8), sizes[rest])
        if longer is None:
            return None
        values[rest] = longer
    return values


def integers(octets: Octets, begins: Ints, sizes: Ints) -> tuple[Ints, Ints] | None:
    """(the packed integers of all spans, how many each holds); None if a span is malformed."""
    total = int(sizes.sum())
    values = np.empty(total, np.int64)  # at most: an integer takes at least one byte
    counts = np.zeros(sizes.size, np.int64)
    step = _spans_per_pass(sizes)
    long = total >= tuning.current.least_bytes_of_joined_list * sizes.size
    decode = _integers_of_long_lists if long else _integers_of_short_lists
    filled = 0
    for low in range(0, sizes.size, step):
        some = slice(low, low + step)
        number = decode(octets, begins[some], sizes[some], values[filled:], counts[some])
        if number is None:
            return None
        filled += number
    values.resize(filled, refcheck=False)
    return values, counts


def are_integers(octets: Octets, begins: Ints, sizes: Ints) -> bool:
    """Whether all spans are packed integers: each ends with the last byte of one, and none is too long."""
    if bool((octets.take((begins + sizes - 1)[np.flatnonzero(sizes)]) >= 0x80).any()):
        return False
    longer = np.flatnonzero(sizes > MAX_BYTES)
    begins, sizes = begins[longer], sizes[longer]
    for low in range(0, sizes.size, step := _spans_per_pass(sizes)):
        some = slice(low, low + step)
        if has_overlong_varint(np.frombuffer(b"".join(_lists(octets, begins[some], sizes[some])), np.uint8)):
            return False
    return True


def _spans_per_pass(sizes: Ints) -> int:
    """How many spans are decoded together."""
    return max(1, sizes.size * tuning.current.bytes_of_integers_per_pass // max(int(sizes.sum()), 1))


def _lists(octets: Octets, begins: Ints, sizes: Ints) -> list[memoryview]:
    view = octets.data
    return [view[begin:end] for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True)]


def _integers_of_long_lists(
    octets: Octets, begins: Ints, sizes: Ints, values: Ints, counts: Ints
) -> int | None:
    """Fills ``values`` and ``counts``. Returns how many integers there are; None if a list is malformed."""
    lists = _lists(octets, begins, sizes)
    # The zero byte before the lists acts as the end of a varint, so that each varint begins after the end of
    # another one. There are 32 of them because numpy's loops are faster from an aligned address on.
    flat = np.frombuffer(b"".join([bytes(32), *lists, bytes(MAX_BYTES)]), np.uint8)[31:]
    ended = flat < 0x80
    filled = np.flatnonzero(sizes)
    stops = np.cumsum(sizes)[filled]
    if np.count_nonzero(ended.take(stops)) < filled.size:
        return None  # a list ends inside a varint
    if filled.size:
        total = np.uint16 if int(sizes.max()) < 1 << 16 else np.int64
        starts = stops - sizes[filled] + 1
        counts[filled] = np.add.reduceat(ended[: stops[-1] + 1].view(np.uint8), starts, dtype=total)
    ends = np.flatnonzero(ended[:-MAX_BYTES])
    number = ends.size - 1
    return number if decode_packed(flat[1:], ends[:-1], values[:number].view(np.uint64)) else None


def _integers_of_short_lists(
    octets: Octets, begins: Ints, sizes: Ints, values: Ints, counts: Ints
) -> int | None:
    """The same for lists that are too short to be joined one by one."""
    if not sizes.any():
        return 0
    pieces, inside, firsts = _pieces(octets, begins, sizes)
    flat = pieces.reshape(-1)
    last = pieces < 0x80
    last &= inside
    starts = firsts * pieces.shape[1]
    filled = np.flatnonzero(sizes)
    if not bool((flat.take((starts + sizes - 1)[filled]) < 0x80).all()):
        return None  # a list ends inside a varint
    _count_rows(last, firsts, counts)
    places = np.flatnonzero(last)
    # A varint begins after the one before it, except the first of a span.
    places[1:] = places[:-1]
    places += 1
    places[starts_of(counts)[filled]] = starts[filled]
    return places.size if decode_packed(flat, places, values[: places.size].view(np.uint64)) else None


def _pieces(octets: Octets, begins: Ints, sizes: Ints) -> tuple[Octets, Mask, Ints]:
    """The bytes of all spans in pieces of equal size: (pieces, which bytes count, first piece of each span).

    Zeros fill the last piece of each span. More pieces of zeros follow the last span.
    """
    longest = int(sizes.max())
    most = tuning.current.bytes_per_list_piece
    width = most if longest > most else max(8, -(-longest // 8) * 8)
    end = np.zeros(-(-MAX_BYTES // width), np.int64)
    numbers = np.maximum(-(-sizes // width), 1)
    firsts = starts_of(numbers)
    if longest <= width:
        places, left = np.append(begins, end), np.append(sizes, end)
    else:
        done = np.arange(int(numbers.sum())) - np.repeat(firsts, numbers)
        done *= width
        places = np.append(np.repeat(begins, numbers) + done, end)
        left = np.append(np.minimum(np.repeat(sizes, numbers) - done, width), end)
    pieces = gather_bytes(octets, width, places).view(np.uint8).reshape(-1, width)
    inside = _first_ones(width).take(left).view(np.uint8).reshape(-1, width)
    pieces *= inside
    return pieces, inside.view(np.bool_), firsts


@lru_cache(maxsize=16)
def _first_ones(width: int) -> npt.NDArray[np.void]:
    """A table: element ``i`` is ``i`` bytes of one, then zeros, ``width`` bytes in all."""
    rows = np.arange(width) < np.arange(width + 1)[:, None]
    return rows.view(f"V{width}").reshape(-1)


def _count_rows(marks: Mask, firsts: Ints, counts: Ints) -> None:
    """Fills ``counts``: how many ``marks`` are set in the rows from each of ``firsts`` to the next."""
    eights = marks.view("<u8") * _ONES
    eights >>= np.uint64(56)  # the sum of the eight bytes
    rows = eights[:, 0].view(np.int64).copy()
    for k in range(1, eights.shape[1]):
        rows += eights[:, k].view(np.int64)
    np.add.reduceat(rows, firsts, out=counts)


# --- Strings ----------------------------------------------------------------------------------------


def strings(buffer: Any, octets: Octets, begins: Ints, sizes: Ints) -> npt.NDArray[np.object_]:
    """Each span as ``bytes``."""
    current = tuning.current
    longest = int(sizes.max(initial=0))
    if current.short_strings and longest <= current.longest_short_string:
        step = current.bytes_of_string_rows // max(8, longest)
        parts = [
            _short_strings(buffer, octets, begins[low : low + step], sizes[low : low + step], longest)
            for low in range(0, max(sizes.size, 1), step)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    ends = begins + sizes
    if longest * sizes.size < LARGE_PAGES_FROM:
        return _long_strings(buffer, begins, ends)
    out = np.empty(sizes.size, object)
    for some in in_batches_of_bytes(sizes):
        out[some] = _long_strings(buffer, begins[some], ends[some])
    return out


def _long_strings(buffer: Any, begins: Ints, ends: Ints) -> npt.NDArray[np.object_]:
    slices = map(slice, begins.tolist(), ends.tolist())
    if isinstance(buffer, bytes):
        return np.fromiter(map(buffer.__getitem__, slices), object, begins.size)
    return np.fromiter(map(bytes, map(memoryview(buffer).cast("B").__getitem__, slices)), object, begins.size)


def _short_strings(
    buffer: Any, octets: Octets, begins: Ints, sizes: Ints, longest: int
) -> npt.NDArray[np.object_]:
    """All strings at once: numpy turns rows of equal width into ``bytes``, and strips zeros at the ends."""
    width = max(8, -(-longest // 8) * 8)
    rows = gather_bytes(octets, width, begins)
    inside = rows.view(np.uint8)
    inside *= _first_ones(width).take(sizes).view(np.uint8)
    out: npt.NDArray[np.object_] = rows.view(f"S{width}").astype(object)
    # Strings that end with a zero byte lose it: these are sliced.
    ends = begins + sizes
    again = np.flatnonzero((octets.take(ends - 1, mode="clip") == 0) & (sizes > 0))
    if again.size:
        out[again] = _long_strings(buffer, begins[again], ends[again])
    return out
