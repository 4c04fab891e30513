"""FeatureLists in lock-step: the steps of all lists of one name, found and read together.

A FeatureList is a Feature for each step, one behind the other. ``read_steps`` finds where every step of
every list is, and what its Feature holds. Writers are monotonous here too: often all steps of a name are
alike but for their values, and if not, most are so short that each length is a single byte:

    0a L T M 0a P values         L = P + 4, M = P + 2, T says the kind

Both are read with one look at each step; all others field by field. Only the form that encoders write is
accepted; a list with anything else is bad, and its record for the row decoder. This module does not know
what the lists are for, nor what is around them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .found import Found
from .layout import KINDS, read_size
from .longentry import field, matches
from .septets import Ints, Mask, Octets, scalars
from .spans import fetch
from .varint import varint
from .wire import BYTES, FLOAT, INT64, UNSET

_FEW = 8  # lists: fewer are not worth a step together
_CHUNK = 1 << 14  # steps that are looked at together: their words stay in the cache
_ROUNDS = 8  # from step to step before anyone looks who is at the end
_HEADER = 16  # bytes; longer headers are read field by field
_SHORT = 6  # bytes of a short header
_LANES = 0x010001000100  # what a byte of values adds to the lengths in it,
_LIMIT = 0x7F - 4  # and at most how many there are
_U = np.uint64


class Steps(NamedTuple):
    """The steps of some lists: how many each has, what they hold, and which lists are bad.

    What is said of a bad list means nothing, except that ``found`` has as many steps as all ``counts``
    together. If they are not of one kind, ``found`` has all their kinds, and can stand for any.
    """

    counts: Ints
    found: Found
    bad: Mask


def read_steps(octets: Octets, begins: Ints, ends: Ints, wanted: int) -> Steps:
    """The steps of lists whose contents are from ``begins`` to ``ends``; ``wanted`` is the kind of the
    values that will be taken."""
    alike = _alike(octets, begins, ends)
    if alike is not None:
        return alike
    content = None
    short = _are_short(octets, begins[begins < ends])
    if short:
        places, counts = _walk(begins, ends, _by_a_byte(octets))
        content = _read_short(octets, places, wanted)
        short = content is not None or _are_short(octets, places)
    if not short:
        places, counts = _walk(begins, ends, _by_a_field(octets))
    if content is None:
        content = _read_any(octets, places, np.repeat(ends, counts))
    return Steps(counts, content.found, _bad_lists(content, counts, ends))


# --- Steps that are alike ---------------------------------------------------------------------------


def _alike(octets: Octets, begins: Ints, ends: Ints) -> Steps | None:
    """The steps, if all of all lists look like the first one of the longest list, but for their values."""
    sizes = ends - begins
    if not sizes.any():
        return None
    first = int(sizes.argmax())
    header = _header(octets[begins[first] : ends[first]][:_HEADER].tobytes(), int(sizes[first]))
    if header is None:
        return None
    step = len(header.octets) + header.size
    counts = sizes // step
    if bool((counts * step != sizes).any()):
        return None
    places = np.repeat(begins - step * (np.cumsum(counts) - counts), counts)
    places += np.arange(0, step * places.size, step)
    for low in range(0, places.size, _CHUNK):
        if not matches(octets, places[low : low + _CHUNK], header.octets).all():
            return None
    places += len(header.octets)
    found = Found(header.kind, begins=places, sizes=np.broadcast_to(header.size, places.shape))
    return Steps(counts, found, np.zeros(begins.size, bool))


class _Header(NamedTuple):
    """What is in front of a step's values, of which kind they are, and how many bytes."""

    octets: bytes
    kind: int
    size: int


def _header(octets: bytes, size: int) -> _Header | None:
    """The header of the first step of a list of ``size`` bytes, if it is of the usual form."""
    try:
        length, feature = read_size(octets, 1)
        _, content = read_size(octets, feature + 1)
        values = feature + length - read_size(octets, content + 1)[1]
        kind = KINDS[octets[feature]]
    except (IndexError, KeyError):
        return None
    if not 0 <= values <= size or (kind == FLOAT and values % 4):
        return None
    # A length can be written in more than one way. What the header has to be is the usual one.
    usual = b"\n" + varint(values)
    usual = bytes((kind << 3 | 2,)) + varint(len(usual) + values) + usual
    usual = b"\n" + varint(len(usual) + values) + usual
    return _Header(usual, kind, values) if octets.startswith(usual) else None


# --- From step to step ------------------------------------------------------------------------------

# From steps, to where the next ones begin; from a list's end, to the same.
Advance = Callable[[Ints, Ints, Ints], None]


def _are_short(octets: Octets, places: Ints) -> bool:
    """Are the lengths of these steps single bytes?"""
    return not bool((octets[1:].take(places, mode="clip") >= 0x80).any())


def _by_a_byte(octets: Octets) -> Advance:
    lengths = octets[1:]

    def advance(cursor: Ints, ends: Ints, out: Ints) -> None:
        np.add(cursor, lengths.take(cursor, mode="clip"), out=out)
        out += 2
        np.minimum(out, ends, out=out)

    return advance


def _by_a_field(octets: Octets) -> Advance:
    def advance(cursor: Ints, ends: Ints, out: Ints) -> None:
        np.minimum(field(octets, cursor, ends)[2], ends, out=out)

    return advance


class _Stage(NamedTuple):
    """Where some lists have their next steps: ``cells[k, i]``, for the first ``counts[i]`` of these."""

    lists: Ints
    cells: Ints
    counts: Ints

    def places(self) -> Ints:
        """One list behind the other."""
        places: Ints = self.cells.T[np.arange(len(self.cells)) < self.counts[:, None]]
        return places


def _walk(begins: Ints, ends: Ints, advance: Advance) -> tuple[Ints, Ints]:
    """Where all steps begin, one list behind the other, and how many each list has.

    Few lists that are much longer than all others are left somewhere before their ends.
    """
    stages: list[_Stage] = []
    lists = np.flatnonzero(begins < ends)
    cursor, stops = begins[lists], ends[lists]
    while lists.size >= _FEW or (lists.size and not stages):
        cells, counts, cursor = _walk_on(cursor, stops, advance)
        stages.append(_Stage(lists, cells, counts))
        on = np.flatnonzero(cursor < stops)
        lists, cursor, stops = lists[on], cursor[on], stops[on]
    return _in_order(stages, begins.size)


def _walk_on(cursor: Ints, stops: Ints, advance: Advance) -> tuple[Ints, Ints, Ints]:
    """Go on until all lists are at their ends, or too many have been waiting there for the others; or if it
    is few lists, for some rounds: (cells, counts, cursor)."""
    groups: list[Ints] = []
    counts = np.zeros(cursor.size, np.int64)
    total = 0
    while True:
        rounds = min(2 << len(groups), _ROUNDS)
        cells = np.empty((rounds + 1, cursor.size), np.int64)
        cells[0] = cursor
        for here, there in pairwise(cells):
            advance(here, stops, there)
        cursor = cells[-1]
        groups.append(cells[:-1])
        counts += np.add.reduce((groups[-1] < stops).view(np.int8), axis=0, dtype=np.int8)
        total += groups[-1].size
        few = cursor.size < _FEW and len(groups) > 2
        if few or 2 * int(counts.sum()) < total or not (cursor < stops).any():
            return np.concatenate(groups), counts, cursor


def _in_order(stages: list[_Stage], lists: int) -> tuple[Ints, Ints]:
    counts = np.zeros(lists, np.int64)
    for stage in stages:
        counts[stage.lists] += stage.counts
    if len(stages) == 1:
        return stages[0].places(), counts
    places = np.empty(int(counts.sum()), np.int64)
    nexts = np.cumsum(counts) - counts
    for stage in stages:
        own = np.cumsum(stage.counts) - stage.counts
        where = np.repeat(nexts[stage.lists] - own, stage.counts)
        where += np.arange(where.size)
        places[where] = stage.places()
        nexts[stage.lists] += stage.counts
    return places, counts


# --- What is in a step ------------------------------------------------------------------------------


class _Content(NamedTuple):
    """What steps hold, where each of them ends, and which are not of the usual form."""

    found: Found
    ends: Ints
    bad: Mask | None = None


def _bad_lists(content: _Content, counts: Ints, ends: Ints) -> Mask:
    """Which lists have a bad step, or none at the end that ends with them."""
    filled = np.flatnonzero(counts)
    bad = np.zeros(ends.size, bool)
    bad[filled] = content.ends[(np.cumsum(counts) - 1)[filled]] != ends[filled]
    if content.bad is not None:
        bad[np.repeat(np.arange(counts.size), counts)[content.bad]] = True
    return bad


def _read_short(octets: Octets, places: Ints, wanted: int) -> _Content | None:
    """What the steps hold, if all are short and of one kind."""
    kind = KINDS.get(int(octets[2:].take(places[0], mode="clip"))) if places.size else None
    if kind is None:
        return None
    sizes = np.empty(places.size, _U)
    values = np.empty(places.size, np.int64)
    single = kind == INT64 == wanted  # and so far, one value in each
    expected = _U(int.from_bytes(bytes((0x0A, 4, kind << 3 | 2, 2, 0x0A)), "little"))
    for low in range(0, places.size, _CHUNK):
        some = slice(low, low + _CHUNK)
        width = 2 if single else 1
        words = fetch(octets, 8 * width, places[some]).view("<u8").reshape(-1, width)
        head = words[:, 0].copy()
        size = sizes[some]
        np.right_shift(head, _U(40), out=size)
        size &= _U(0xFF)
        rest = size * _U(_LANES)
        rest += expected
        rest ^= head
        rest <<= _U(16)
        if rest.any() or int(size.max()) > _LIMIT:
            return None
        if single:
            head >>= _U(48)
            head |= np.left_shift(words[:, 1], _U(16), out=rest)
            values[some], valid = scalars(head, size)
            single = bool(valid.all())
    begins, lengths = places + _SHORT, sizes.view(np.int64)
    if kind == FLOAT and (lengths & 3).any():
        return None
    found = Found(kind, values) if single else Found(kind, begins=begins, sizes=lengths)
    return _Content(found, begins + lengths)


def _read_any(octets: Octets, places: Ints, ends: Ints) -> _Content:
    """What steps hold that are somewhere before ``ends``."""
    tags, begin, stop, valid = field(octets, places, ends)
    valid &= tags == _U(0x0A)
    unset = begin == stop
    tags, inner, end, here = field(octets, begin, stop)
    here &= (tags == _U(0x0A)) | (tags == _U(0x12)) | (tags == _U(0x1A))
    valid &= (here & (end == stop)) | unset
    kinds = np.where(unset, np.int8(UNSET), (tags >> _U(3)).astype(np.int8))
    begin = np.where(unset, begin, inner)
    # A list of numbers holds one field, the packed values, or nothing.
    packed = (kinds > BYTES) & (begin < stop)
    tags, inner, end, here = field(octets, begin, stop)
    valid &= (here & (tags == _U(0x0A)) & (end == stop)) | ~packed
    begin = np.where(packed, inner, begin)
    sizes = stop - begin
    valid &= (kinds != FLOAT) | (sizes & 3 == 0)
    return _Content(Found(UNSET, begins=begin, sizes=sizes, kinds=kinds, listed=True), stop, ~valid)
