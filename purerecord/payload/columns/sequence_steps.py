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

from typing import NamedTuple

import numpy as np

from ..varint import varint
from ..wire import BYTES, FLOAT, INT64, UNSET
from . import tuning
from .field_walk import are_short, by_a_byte, by_a_field, walk
from .located import Found
from .long_entries import field, matches
from .outline import KINDS, read_size
from .values import fetch
from .varint_words import Ints, Mask, Octets, scalars

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
    current = tuning.current
    alike = _alike(octets, begins, ends) if current.uniform_steps else None
    if alike is not None:
        return alike
    short = are_short(octets, begins)
    short |= begins == ends
    if current.short_steps and _are_few(~short):
        scanned = _scan(octets, begins, ends) if current.scan_of_steps else None
        if scanned is not None:
            steps = _read_short(octets, scanned, (begins, ends), wanted)
            if steps is not None and not steps.bad.any():
                return steps
        places, counts = walk(begins, ends, by_a_byte(octets))
        steps = _read_short(octets, (places, counts), (begins, ends), wanted)
        if steps is not None:
            return steps
        short = are_short(octets, places)
    if not current.short_steps or not short.all():
        places, counts = walk(begins, ends, by_a_field(octets))
    return _read_any(octets, (places, counts), (begins, ends))


def _are_few(lists: Mask) -> bool:
    """Are these so few lists that it costs less to leave them to the row decoder?"""
    return int(np.count_nonzero(lists)) * tuning.current.lists_per_exception <= lists.size


def _owners(counts: Ints, steps: Mask) -> Ints:
    """The lists that have these steps."""
    return np.searchsorted(np.cumsum(counts), np.flatnonzero(steps), side="right")


# --- Steps that are alike ---------------------------------------------------------------------------


def _alike(octets: Octets, begins: Ints, ends: Ints) -> Steps | None:
    """The steps, if those of almost all lists look like the very first, but for their values."""
    current = tuning.current
    sizes = ends - begins
    if not sizes.any():
        return None
    first = int((sizes > 0).argmax())
    header = _header(
        octets[begins[first] : ends[first]][: current.longest_step_header].tobytes(), int(sizes[first])
    )
    if header is None:
        return None
    step = len(header.octets) + header.size
    counts = sizes // step
    bad = counts * step != sizes
    if not _are_few(bad):
        return None
    places = np.repeat(begins - step * (np.cumsum(counts) - counts), counts)
    places += np.arange(0, step * places.size, step)
    right = np.empty(places.size, bool)
    for low in range(0, places.size, current.steps_per_pass):
        some = slice(low, low + current.steps_per_pass)
        right[some] = matches(octets, places[some], header.octets)
    if not right.all():
        bad[_owners(counts, ~right)] = True
        if not _are_few(bad):
            return None
    places += len(header.octets)
    return Steps(
        counts, Found(header.kind, begins=places, sizes=np.broadcast_to(header.size, places.shape)), bad
    )


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


# --- What is in a step ------------------------------------------------------------------------------


# Where steps begin, one list behind the other, and how many each list has; where lists begin and end.
_Places = tuple[Ints, Ints]
_Lists = tuple[Ints, Ints]


def _scan(octets: Octets, begins: Ints, ends: Ints) -> _Places | None:
    """Where steps begin that have the three tags of the very first one, which holds numbers.

    None if there are too many lists, or lists of too different lengths, to be looked at all at once. What
    looks like the beginning of a step need not be one, and steps of another kind are missing.
    """
    current = tuning.current
    sizes = ends - begins
    width = int(sizes.max(initial=0)) + _SHORT
    most = current.most_scanned_per_byte * (int(sizes.sum()) + _SHORT * sizes.size)
    most = min(most, current.most_scanned_bytes)
    if not sizes.any() or sizes.size > current.most_scanned_lists or width * sizes.size > most:
        return None
    flat = fetch(octets, width, begins).view(np.uint8)
    tag = int(flat[int((sizes > 0).argmax()) * width + 2])
    if KINDS.get(tag, BYTES) == BYTES:  # strings hold anything
        return None
    marks = flat[: 1 - _SHORT] == 0x0A
    marks &= flat[2 : 3 - _SHORT] == tag
    marks &= flat[4 : 5 - _SHORT] == 0x0A
    places = np.flatnonzero(marks)
    if places.size * _SHORT > flat.size:  # more than there can be
        return None
    lists = places // width
    places -= lists * width
    inside = places < sizes.take(lists)
    lists, places = lists[inside], places[inside]
    places += begins.take(lists)
    return places, np.bincount(lists, minlength=sizes.size)


def _read_short(octets: Octets, steps: _Places, lists: _Lists, wanted: int) -> Steps | None:
    """What the steps hold, if those of almost all lists are short and of one kind."""
    current = tuning.current
    places, counts = steps
    kind = KINDS.get(int(octets[2:].take(places[0], mode="clip"))) if places.size else None
    if kind is None:
        return None
    sizes = np.empty(places.size, _U)
    values = np.empty(places.size, np.int64)
    single = kind == INT64 == wanted
    wrong, several = np.zeros((2, places.size), bool)
    expected = _U(int.from_bytes(bytes((0x0A, 4, kind << 3 | 2, 2, 0x0A)), "little"))
    for low in range(0, places.size, current.steps_per_pass):
        some = slice(low, low + current.steps_per_pass)
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
        np.logical_or(rest, size > _U(_LIMIT), out=wrong[some])
        if current.steps_per_exception * np.count_nonzero(wrong[some]) > size.size:
            return None
        if single:
            head >>= _U(48)
            head |= np.left_shift(words[:, 1], _U(16), out=rest)
            values[some], valid = scalars(head, size)
            np.logical_not(valid, out=several[some])
    begins, lengths = places + _SHORT, sizes.view(np.int64)
    if kind == FLOAT:
        wrong |= (lengths & 3).astype(bool)
    bad = _bad_lists(wrong, steps, begins + lengths, lists)
    if not _are_few(bad):
        return None
    if single:
        worse = bad.copy()
        worse[_owners(counts, several)] = True
        if _are_few(worse):
            return Steps(counts, Found(kind, values), worse)
    return Steps(counts, Found(kind, begins=begins, sizes=lengths), bad)


def _bad_lists(wrong: Mask, steps: _Places, stops: Ints, lists: _Lists) -> Mask:
    """Which lists have a wrong step, or are not one step behind the other, from their beginning to their end;
    steps end at ``stops``."""
    (places, counts), (begins, ends) = steps, lists
    bad: Mask = (counts == 0) & (begins < ends)
    filled = np.flatnonzero(counts)
    lasts = np.cumsum(counts)[filled] - 1
    bad[filled] = places[lasts + 1 - counts[filled]] != begins[filled]
    nexts = np.empty_like(places)
    nexts[:-1] = places[1:]
    nexts[lasts] = ends[filled]
    bad[_owners(counts, wrong | (stops != nexts))] = True
    return bad


def _read_any(octets: Octets, steps: _Places, lists: _Lists) -> Steps:
    """What the steps hold, whatever it is."""
    places, counts = steps
    tags, begin, stop, valid = field(octets, places, np.repeat(lists[1], counts))
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
    found = Found(UNSET, begins=begin, sizes=sizes, kinds=kinds, listed=True)
    return Steps(counts, found, _bad_lists(~valid, steps, stop, lists))
