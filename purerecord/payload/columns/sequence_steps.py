"""Finds and reads the steps of all feature lists of one name together.

A FeatureList is a Feature for each step, one after the other. Often all steps of a name are alike except for
their values, and otherwise most are so short that each length is a single byte:

    0a L T M 0a P values         L = P + 4, M = P + 2, T is the tag of the kind

One comparison checks the header of such a step. All others are read field by field. Only the form that
encoders write is accepted: a list with anything else is bad, and its record takes the row decoder.
This module does not know what surrounds the lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..varint import varint
from ..wire import BYTES, FLOAT, INT64, read_size
from . import tuning
from .arrays import Ints, Mask, Octets, ranges_of
from .field_walk import (
    Lists,
    Places,
    begins_with,
    broken_lists,
    have_short_lengths,
    owners_of,
    read_field,
    walk,
)
from .located import Inline, Located, Spans
from .long_entries import read_features
from .outline import KINDS
from .values import gather_bytes
from .varint_words import decode_single

_SHORT_HEADER = 6  # bytes of a short step's header
_LANES = 0x010001000100  # what each byte of values adds to the lengths in it
_LIMIT = 0x7F - 4  # bytes of values that a short step may have
_U = np.uint64


class Steps(NamedTuple):
    """The steps of some lists: how many each has, where their values are, and which lists are bad.

    What is returned for a bad list is arbitrary, except that ``located`` has as many steps as all ``counts``
    together. If the steps do not have one kind, ``located`` has the kinds of all, and serves for any kind.
    """

    counts: Ints
    located: Located
    bad: Mask


def read_steps(octets: Octets, begins: Ints, ends: Ints, wanted: int) -> Steps:
    """The steps of lists whose contents are from ``begins`` to ``ends``; ``wanted`` is the kind of the values
    that will be decoded."""
    current = tuning.current
    lists = begins, ends
    steps = _uniform_steps(octets, lists) if current.uniform_steps else None
    if steps is not None:
        return steps
    short = have_short_lengths(octets, begins)
    short |= begins == ends
    try_short = current.short_steps and _are_few(~short)
    if try_short and current.scan_of_steps:
        places = _scan_for_steps(octets, lists)
        steps = None if places is None else _short_steps(octets, places, lists, wanted)
        if steps is not None and not steps.bad.any():
            return steps
    places = walk(octets, begins, ends)
    steps = _short_steps(octets, places, lists, wanted) if try_short else None
    return _any_steps(octets, places, lists) if steps is None else steps


def _are_few(lists: Mask) -> bool:
    """Whether these are so few lists that the row decoder may take them."""
    return int(np.count_nonzero(lists)) * tuning.current.lists_per_exception <= lists.size


# --- Uniform steps ----------------------------------------------------------------------------------


def _uniform_steps(octets: Octets, lists: Lists) -> Steps | None:
    """The steps, if those of almost all lists look like the very first one, except for their values."""
    current = tuning.current
    begins, ends = lists
    sizes = ends - begins
    if not sizes.any():
        return None
    first = int((sizes > 0).argmax())
    beginning = octets[begins[first] : ends[first]][: current.longest_step_header].tobytes()
    header = _usual_header(beginning, int(sizes[first]))
    if header is None:
        return None
    step = len(header.octets) + header.size
    counts = sizes // step
    bad = counts * step != sizes
    if not _are_few(bad):
        return None
    places = ranges_of(begins, counts, step)
    right = np.empty(places.size, bool)
    for low in range(0, places.size, current.steps_per_pass):
        some = slice(low, low + current.steps_per_pass)
        right[some] = begins_with(octets, places[some], header.octets)
    if not right.all():
        bad[owners_of(counts, ~right)] = True
        if not _are_few(bad):
            return None
    places += len(header.octets)
    return Steps(counts, Spans(header.kind, places, np.broadcast_to(header.size, places.shape)), bad)


class _Header(NamedTuple):
    """The bytes of a step before its values, the kind of the values, and their size in bytes."""

    octets: bytes
    kind: int
    size: int


def _usual_header(octets: bytes, size: int) -> _Header | None:
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
    # A length can be written in more than one way. Only the shortest one is usual.
    usual = b"\n" + varint(values)
    usual = bytes((kind << 3 | 2,)) + varint(len(usual) + values) + usual
    usual = b"\n" + varint(len(usual) + values) + usual
    return _Header(usual, kind, values) if octets.startswith(usual) else None


# --- Short steps ------------------------------------------------------------------------------------


def _scan_for_steps(octets: Octets, lists: Lists) -> Places | None:
    """Where bytes look like the three tags of the very first step, which holds numbers.

    None if there are too many lists, or if their sizes differ too much, for a scan of all at once. Bytes that
    look like a step need not be one, and steps of another kind are missing: ``broken_lists`` finds out.
    """
    current = tuning.current
    begins, ends = lists
    sizes = ends - begins
    width = int(sizes.max(initial=0)) + _SHORT_HEADER
    most = current.most_scanned_per_byte * (int(sizes.sum()) + _SHORT_HEADER * sizes.size)
    most = min(most, current.most_scanned_bytes)
    if not sizes.any() or sizes.size > current.most_scanned_lists or width * sizes.size > most:
        return None
    flat = gather_bytes(octets, width, begins).view(np.uint8)
    tag = int(flat[int((sizes > 0).argmax()) * width + 2])
    if KINDS.get(tag, BYTES) == BYTES:  # strings may hold any bytes
        return None
    marks = flat[: 1 - _SHORT_HEADER] == 0x0A
    marks &= flat[2 : 3 - _SHORT_HEADER] == tag
    marks &= flat[4 : 5 - _SHORT_HEADER] == 0x0A
    places = np.flatnonzero(marks)
    if places.size * _SHORT_HEADER > flat.size:  # more than there can be
        return None
    owners = places // width
    places -= owners * width
    inside = places < sizes.take(owners)
    owners, places = owners[inside], places[inside]
    places += begins.take(owners)
    return places, np.bincount(owners, minlength=sizes.size)


def _short_steps(octets: Octets, steps: Places, lists: Lists, wanted: int) -> Steps | None:
    """The steps, if those of almost all lists are short and of one kind."""
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
        words = gather_bytes(octets, 8 * width, places[some]).view("<u8").reshape(-1, width)
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
            values[some], valid = decode_single(head, size)
            np.logical_not(valid, out=several[some])
    begins, lengths = places + _SHORT_HEADER, sizes.view(np.int64)
    if kind == FLOAT:
        wrong |= (lengths & 3).astype(bool)
    bad = broken_lists(wrong, steps, begins + lengths, lists)
    if not _are_few(bad):
        return None
    if single:
        worse = bad.copy()
        worse[owners_of(counts, several)] = True
        if _are_few(worse):
            return Steps(counts, Inline(kind, values), worse)
    return Steps(counts, Spans(kind, begins, lengths), bad)


# --- Any steps --------------------------------------------------------------------------------------


def _any_steps(octets: Octets, steps: Places, lists: Lists) -> Steps:
    """The steps, whatever they hold."""
    places, counts = steps
    tags, begin, stop, valid = read_field(octets, places, np.repeat(lists[1], counts))
    valid &= tags == _U(0x0A)
    _, spans, here = read_features(octets, begin, stop)
    valid &= here
    return Steps(counts, spans, broken_lists(~valid, steps, stop, lists))
