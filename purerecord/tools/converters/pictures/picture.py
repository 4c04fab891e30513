"""``Picture`` and ``Box``: a picture with its class or its boxes, in the form between any two formats.

A source makes pictures without their bytes, which are read when their turn comes. This module must not know
files nor conventions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....payload.image_header import ImageHeader


@dataclass(slots=True)
class Box:
    """An object in a picture: its class, its edges, and what annotations say of it beside."""

    name: str
    xmin: float
    ymin: float
    xmax: float
    ymax: float
    difficult: int = 0
    truncated: int = 0
    view: str = "Unspecified"
    is_crowd: int = 0
    area: float | None = None
    mask: Any = None  # as the source has it: a segmentation of COCO, or the bytes of a PNG


@dataclass(slots=True)
class Picture:
    """A picture as a source names it.

    ``name`` is the file name that is stored, ``place`` where the annotation stands. ``frame`` is the height
    and width to which the edges of boxes refer: (1, 1) if these are fractions, None for the picture's own.
    """

    path: str
    name: str
    place: str = ""
    source_id: str = ""
    class_name: str | None = None
    frame: tuple[float, float] | None = None
    boxes: list[Box] = field(default_factory=list)
    captions: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """A picture that was read and checked. The edges of its boxes are fractions of its sides, 0 to 1."""

    picture: Picture
    data: bytes
    header: ImageHeader
    boxes: list[Box]


class Contents(NamedTuple):
    """What the pictures of a source have: classes, boxes, and which fields of a ``Box`` mean something."""

    classes: bool = False
    boxes: bool = False
    fields: frozenset[str] = frozenset()
    captions: bool = False
