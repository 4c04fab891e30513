"""SequenceExamples in lock-step: all messages of one level are taken apart together, level by level.

A SequenceExample holds two maps, a map entries, an entry a key and a value, a value one Feature or many,
a Feature a list. ``scan`` goes down these levels, in as many numpy steps as the longest message of a level
has fields, and keeps for every Feature of every record which it is and where its values are. It accepts
only the form that encoders write; a record with anything else is odd, and for the row decoder. This module
does not know what the features are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .found import Block, Found, OddError, check, take
from .septets import Ints, Mask, Octets, sizes_in
from .spans import fetch, words_at
from .wire import BYTES, FLOAT, INT64, UNSET

_FEW = 8  # messages: fewer are not worth a step together
_LONG_KEY = 127  # bytes
_TRIES = 3
CONTEXT, LISTS = 0, 1  # the two maps
_TAGS = np.isin(np.arange(256), (0x0A, 0x12, 0x1A))  # of the delimited fields 1 to 3


class Fields(NamedTuple):
    """The delimited fields of many messages, one message after the other; ``owner`` is the message."""

    owner: Ints
    tag: Ints
    begin: Ints
    end: Ints

    def where(self, mask: Mask) -> Fields:
        return Fields(*(array[mask] for array in self))


@dataclass
class Scan:
    """What ``scan`` finds in ``block``. ``odd`` says which records are for the row decoder; what is said
    about them here means nothing.

    Entry ``i`` is in the map ``section[i]`` of ``record[i]``, under ``names[name[i]]``, and has ``steps[i]``
    Features. These follow one another in ``feature``: entry, kind, and where the list's content is.
    """

    block: Block
    odd: Mask
    names: list[str]
    record: Ints
    section: Ints
    name: Ints
    steps: Ints
    feature: Fields  # owner: the entry; tag: the kind

    def entries(self, section: int, name: str) -> Ints:
        """The entries of records that are not odd, in the order of the records."""
        if name not in self.names:
            return np.empty(0, np.int64)
        chosen = (self.section == section) & (self.name == self.names.index(name))
        return np.flatnonzero(chosen & ~self.odd[self.record])

    def features(self, entries: Ints) -> Fields:
        """The Features of ``entries``."""
        chosen = np.zeros(len(self.record), bool)
        chosen[entries] = True
        return self.feature.where(chosen[self.feature.owner])

    def values(self, features: Fields, kind: int) -> tuple[npt.NDArray[Any], Ints]:
        """The values of those ``features`` that are of ``kind``, and how many each of all has.

        OddError if records turn out to be odd; they are marked.
        """
        own = np.flatnonzero(features.tag == kind)
        counts = np.zeros(len(features.tag), np.int64)
        try:
            values, counts[own] = take(*self._found(features, own, kind))
        except OddError as error:
            self._mark(features.owner[own[error.rows]])
            raise
        return values, counts

    def check(self, features: Fields, kind: int) -> None:
        """Mark records as odd whose ``features`` of ``kind`` may be malformed."""
        for _ in range(_TRIES):
            own = np.flatnonzero((features.tag == kind) & ~self.odd[self.record[features.owner]])
            try:
                check(*self._found(features, own, kind))
            except OddError as error:
                self._mark(features.owner[own[error.rows]])
            else:
                return
        self.odd[self.record[features.owner]] = True

    def _found(self, features: Fields, own: Ints, kind: int) -> tuple[Found, Block]:
        begins, ends = features.begin[own], features.end[own]
        found = Found(kind, begins=begins, sizes=ends - begins, listed=kind == BYTES)
        return found, self.block._replace(begins=begins, ends=ends)

    def _mark(self, entries: Ints) -> None:
        self.odd[self.record[entries]] = True


def scan(block: Block) -> Scan:
    """Take all records apart."""
    octets = block.octets
    odd = np.zeros(len(block.begins), bool)
    maps, bad = _split(octets, block.begins, block.ends)
    odd |= bad
    section = (maps.tag == 0x12).astype(np.int64)
    odd[maps.owner[maps.tag > 0x12]] = True
    # A map in two parts is legal, and one more reason to be odd.
    odd |= (np.bincount(2 * maps.owner + section, minlength=2 * len(odd)) > 1).reshape(-1, 2).any(axis=1)

    entries, bad = _split(octets, maps.begin, maps.end)
    odd[maps.owner[bad]] = True
    odd[maps.owner[entries.owner[entries.tag != 0x0A]]] = True
    keys, values, valid = _pairs(octets, entries)
    odd[maps.owner[entries.owner[~valid]]] = True
    record, section = maps.owner[values.owner], section[values.owner]
    names, name, bad = _names(octets, keys)
    odd[record[bad]] = True
    odd[record[_repeated(record, section, name)]] = True

    feature, bad = _features(octets, values, section)
    odd[record[bad]] = True
    feature, valid = _lists(octets, feature)
    odd[record[feature.owner[~valid]]] = True
    feature = feature.where(valid)
    steps = np.bincount(feature.owner, minlength=len(record))
    return Scan(block, odd, names, record, section, name, steps, feature)


def check_unwanted(found: Scan, wanted: Mapping[tuple[int, str], int]) -> None:
    """Mark records as odd in which values that nobody will take may be malformed."""
    kinds = np.full(len(found.record), UNSET)
    for (section, name), kind in wanted.items():
        kinds[found.entries(section, name)] = kind
    unwanted = found.feature.where(found.feature.tag != kinds[found.feature.owner])
    for kind in (BYTES, INT64):
        found.check(unwanted, kind)


def _fields(octets: Octets, cursor: Ints, stops: Ints) -> tuple[Ints, Ints, Ints, Mask]:
    """The delimited fields at the cursors: (tags, where their contents begin and end, which are valid)."""
    words = words_at(octets, cursor)
    size, width, valid = sizes_in(words >> np.uint64(8))
    begin = cursor + 1 + width
    end = begin + size
    tag = words.view(np.uint8)[::8]
    valid &= _TAGS.take(tag)
    valid &= end <= stops
    return tag.astype(np.int64), begin, end, valid


def _split(octets: Octets, begins: Ints, ends: Ints) -> tuple[Fields, Mask]:
    """All fields of the messages, and which messages hold anything but delimited fields 1 to 3."""
    bad = np.zeros(begins.size, bool)
    active = np.flatnonzero(begins < ends)
    equal, which = _equal_fields(octets, begins[active], ends[active])
    rounds = [
        (equal._replace(owner=active[equal.owner]), which)
    ]  # and which fields of their messages they are
    active = np.delete(active, equal.owner)
    cursor, stops = begins[active], ends[active]
    number = 0
    while active.size:
        tag, begin, end, valid = _fields(octets, cursor, stops)
        if active.size < _FEW <= number:
            valid[:] = False  # few messages that are much longer than all others
        bad[active[~valid]] = True
        fields = Fields(active, tag, begin, end)
        rounds.append((fields if valid.all() else fields.where(valid), np.full(1, number)))
        on = np.flatnonzero(valid & (end < stops))
        active, cursor, stops = active[on], end[on], stops[on]
        number += 1
    return _in_order(rounds, begins.size), bad


def _in_order(rounds: list[tuple[Fields, Ints]], messages: int) -> Fields:
    """The fields one message after the other."""
    numbers = np.zeros(messages, np.int64)
    for fields, which in rounds:
        numbers[fields.owner] = np.maximum(numbers[fields.owner], which + 1)
    firsts = np.cumsum(numbers) - numbers
    whole = Fields(*np.empty((4, int(numbers.sum())), np.int64))
    for fields, which in rounds:
        places = firsts[fields.owner] + which
        for array, piece in zip(whole, fields, strict=True):
            array[places] = piece
    return whole


def _equal_fields(octets: Octets, begins: Ints, ends: Ints) -> tuple[Fields, Ints]:
    """The fields of those messages whose fields all look like the first, and which of a message each is.

    So are the steps of most lists: then one look at all of them is enough, instead of one for each step.
    """
    tag, begin, end, valid = _fields(octets, begins, ends)
    sizes = end - begins
    numbers = (ends - begins) // sizes
    rows = np.flatnonzero(valid & (numbers > 1) & (begins + numbers * sizes == ends))
    if rows.size < _FEW:
        rows = rows[:0]
    numbers = numbers[rows]
    firsts = np.cumsum(numbers) - numbers
    which = np.arange(int(numbers.sum())) - np.repeat(firsts, numbers)
    owner = np.repeat(rows, numbers)
    places = begins[owner] + which * sizes[owner]
    masks = (np.uint64(1) << (8 * (begin - begins)[rows]).view(np.uint64)) - np.uint64(1)
    different = words_at(octets, places)
    different ^= np.repeat(words_at(octets, begins[rows]), numbers)
    different &= np.repeat(masks, numbers)
    if different.any():
        bad = np.zeros(begins.size, bool)
        bad[owner[different != 0]] = True
        alike = ~bad[owner]
        owner, which, places = owner[alike], which[alike], places[alike]
    fields = Fields(owner, tag[owner], places + (begin - begins)[owner], places + sizes[owner])
    return fields, which


def _pairs(octets: Octets, entries: Fields) -> tuple[Fields, Fields, Mask]:
    """The keys and the values of those entries that are a key and then a value; and which are."""
    tag, key_begin, key_end, valid = _fields(octets, entries.begin, entries.end)
    valid &= tag == 0x0A
    cursor = np.where(valid, key_end, entries.begin)
    tag, begin, end, here = _fields(octets, cursor, entries.end)
    valid &= here
    valid &= (tag == 0x12) & (end == entries.end)
    owner = entries.owner
    keys = Fields(owner, tag, key_begin, key_end).where(valid)
    return keys, Fields(owner, tag, begin, end).where(valid), valid


def _names(octets: Octets, keys: Fields) -> tuple[list[str], Ints, Mask]:
    """(all names, for each key the number of its name, which keys are not a name we know how to read)."""
    names: list[str] = []
    numbers = np.zeros(len(keys.begin), np.int64)
    sizes = keys.end - keys.begin
    bad = sizes > _LONG_KEY
    for size in np.unique(sizes[~bad]).tolist():
        rows = np.flatnonzero(sizes == size)
        begins = keys.begin[rows]
        texts = fetch(octets, size, begins).view(f"S{size}") if size else np.zeros(rows.size, "S1")
        _, firsts, which = np.unique(texts, return_index=True, return_inverse=True)
        for number, first in enumerate(firsts.tolist()):
            begin = int(begins[first])
            try:
                names.append(octets[begin : begin + size].tobytes().decode())
            except UnicodeDecodeError:
                names.append("")
                bad[rows[which == number]] = True
        numbers[rows] = which + (len(names) - len(firsts))
    return names, numbers, bad


def _repeated(record: Ints, section: Ints, name: Ints) -> Mask:
    """Which entries are not the only ones of their name."""
    whole = (record * 2 + section) * (int(name.max(initial=0)) + 1) + name
    order = np.argsort(whole, kind="stable")
    same = np.zeros(len(whole), bool)
    same[order[1:]] = whole[order[1:]] == whole[order[:-1]]
    return same


def _features(octets: Octets, values: Fields, section: Ints) -> tuple[Fields, Mask]:
    """The Features of all entries, in order: the value itself, or the steps of a list; bad entries."""
    bad = np.zeros(len(section), bool)
    lists = np.flatnonzero(section == LISTS)
    steps, odd = _split(octets, values.begin[lists], values.end[lists])
    bad[lists[odd]] = True
    bad[lists[steps.owner[steps.tag != 0x0A]]] = True
    single = np.flatnonzero(section == CONTEXT)
    owner = np.concatenate((single, lists[steps.owner]))
    order = np.argsort(owner, kind="stable")
    parts = (
        np.concatenate((array[single], more))[order]
        for array, more in ((values.tag, steps.tag), (values.begin, steps.begin), (values.end, steps.end))
    )
    return Fields(owner[order], *parts), bad


def _lists(octets: Octets, features: Fields) -> tuple[Fields, Mask]:
    """The kind of every Feature, and the content of its list: packed values, or a BytesList's fields."""
    unset = features.begin == features.end
    tag, begin, end, valid = _fields(octets, features.begin, features.end)
    valid &= end == features.end
    kind = np.where(unset, UNSET, tag >> 3)
    # A list of numbers holds one field, the packed values, or nothing.
    packed = valid & ~unset & (kind != BYTES) & (begin < end)
    begin, end = np.where(unset, features.begin, begin), np.where(unset, features.begin, end)
    cursor = np.where(packed, begin, features.begin)
    tag, inner, stop, here = _fields(octets, cursor, np.where(packed, end, features.end))
    valid &= ~packed | (here & (tag == 0x0A) & (stop == end))
    begin = np.where(packed, inner, begin)
    valid &= (kind != FLOAT) | ((end - begin) & 3 == 0)
    return Fields(features.owner, kind, begin, end), valid | unset
