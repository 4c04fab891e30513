"""``scan``: every frame and every damage of a file, in order.

This module does not know what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..container.damage import BROKEN_COMPRESSION, Damage
from ..container.frame_stream import FrameStream
from ..container.frames import HEADER
from ..container.looks_like import open_source
from ..errors import CorruptionError
from ..records import Records
from ..storage.opened import Opened
from ..storage.paths import Named, resolve
from .duplicated_blocks import Repeats


@dataclass(frozen=True)
class Frame:
    """A sound frame: where it begins in the plain data, how long its payload is, which record it holds.

    ``index`` counts the sound records from 0. ``searched`` is true where no trusted length leads to this
    frame: it was found by search, behind damage.
    """

    __slots__ = ("index", "length", "offset", "searched")

    offset: int
    length: int
    index: int
    searched: bool


def scan(path: Any, *, compression: Any = "auto") -> Iterator[Frame | Damage]:
    """Everything that one file consists of, in order: its frames, and the damage between them.

    Where only the header of a frame is damaged, a ``Damage`` of those twelve bytes comes first and the
    frame's ``offset`` is still where its header begins.

    >>> for found in scan("train.tfrecord"):
    ...     print(found)
    """
    opened = open_source(single(path), compression)
    with closing(FrameStream(opened)) as stream:
        index = 0
        for found in walk(opened, stream):
            if isinstance(found, Damage):
                yield found
                continue
            searched = stream.searched
            offsets = (found.begins + ((found.base or 0) - HEADER)).tolist()
            for offset, length in zip(offsets, found.lengths.tolist(), strict=True):
                yield Frame(offset, length, index, searched)
                index += 1
                searched = False


def walk(opened: Opened, stream: FrameStream) -> Iterator[Records | Damage]:
    """What a stream consists of: runs of records, and the damage between them."""
    repeats = Repeats()
    while True:
        try:
            records = stream.next()
        except CorruptionError:
            damage = stream.skip()
            if damage.kind == BROKEN_COMPRESSION:
                damage = replace(damage, compressed=opened.skipped_range)
            elif opened.rewinds:
                damage = repeats.named(damage, opened.name)
            yield damage
            continue
        if records is None:
            return
        yield records


def single(path: Any) -> Named:
    """The one file that ``path`` names."""
    files = resolve(path)
    if len(files) != 1:
        raise ValueError(f"{path} names {len(files)} files; this takes one at a time")
    return files[0]
