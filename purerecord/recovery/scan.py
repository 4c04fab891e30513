"""``scan``: every frame and every damage of a file, in order.

``records_and_damage`` is the same for whole runs of records; ``salvage``, ``validate`` and the shell read
files with it. Reading raises at damage, and skipping finds the next frame: two separate acts of
``FrameStream``. This module must not know what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from .. import public
from ..container.damage import BROKEN_COMPRESSION, Damage
from ..container.frame_stream import FrameStream
from ..container.frames import HEADER
from ..container.looks_like import open_source
from ..errors import CorruptionError
from ..printable import printable
from ..records import Records
from ..storage.opened import Opened
from ..storage.paths import Named, resolve
from ..storage.url import stored
from .duplicated_blocks import DuplicatedBlocks


@public
@dataclass(frozen=True, slots=True)
class Frame:
    """A sound frame: its offset in the plain data, the length of its payload, and the number of its record.

    ``index`` counts the sound records from 0. ``searched`` is true for a frame that was found by search after
    damage, because no trusted length leads to it.
    """

    offset: int
    length: int
    index: int
    searched: bool


@public
def scan(
    path: Any,
    *,
    compression: Any = "auto",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Iterator[Frame | Damage]:
    """Yield the frames of one file and the damage between them, in order.

    If only the header of a frame is damaged, a ``Damage`` of those twelve bytes comes first. The ``offset``
    of the frame is still where its header begins.

    >>> for found in scan("train.tfrecord"):
    ...     print(found)
    """
    opened = open_source(one_file(stored(path, storage_options, filesystem)), compression)
    with closing(FrameStream(opened)) as stream:
        index = 0
        for part in records_and_damage(opened, stream):
            if isinstance(part, Damage):
                yield part
                continue
            searched = stream.searched
            offsets = (part.begins + ((part.base or 0) - HEADER)).tolist()
            for offset, length in zip(offsets, part.lengths.tolist(), strict=True):
                yield Frame(offset, length, index, searched)
                index += 1
                searched = False


def records_and_damage(
    opened: Opened, stream: FrameStream, limit: int | None = None, most: int | None = None
) -> Iterator[Records | Damage]:
    """Yield the runs of records in ``stream``, and the damage between them, in order.

    ``limit`` and ``most`` divide the runs, as in ``FrameStream.next``.
    """
    duplicated = DuplicatedBlocks()
    while True:
        try:
            records = stream.next(limit, most)
        except CorruptionError:
            damage = stream.skip()
            if damage.kind == BROKEN_COMPRESSION:
                damage = replace(damage, compressed=opened.skipped_range)
            elif opened.rewinds:
                damage = duplicated.classify(damage, opened.name)
            yield damage
            continue
        if records is None:
            return
        yield records


def one_file(path: Any) -> Named:
    """The one file that ``path`` names; a ValueError if it names several."""
    files = resolve(path)
    if len(files) != 1:
        raise ValueError(f"{printable(str(path))} names {len(files)} files; this takes one at a time")
    return files[0]
