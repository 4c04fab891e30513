"""Values as JSON: numbers, bytes as what they hold, features as cells of the table.

A browser reads a number of JSON as a float64, so an int64 that it would change is a text, and so are NaN and
the infinities. Bytes are never sent as they are, but as a description: what they hold, the beginning as text
or hexadecimal, and a URL where a picture or a sound can be had. Everything is cut off at a limit, and says
so. This module does not read files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..payload.wire import BYTES, FLOAT, INT64, UNSET
from ..tools.inspect.content import PICTURES, SOUNDS, TEXT, content_of
from .decoded import Value
from .picture_size import TooLargeError, picture_size

KINDS = {BYTES: "bytes", FLOAT: "float", INT64: "int64", UNSET: "unset"}
_LARGEST_EXACT = (1 << 53) - 1
LONGEST_NAME = 4_096  # characters of a feature that a URL can name
_HEX = 32  # bytes that are shown of a string that is no text


@dataclass(frozen=True)
class Place:
    """Where a value is: what the URL of a picture or a sound says."""

    file: int
    row: int
    feature: str = ""
    step: int | None = None  # of a feature list

    def url(self, kind: str, value: int | None = None) -> str:
        """The URL of a value, relative to that of the page; the page adds what is missing."""
        query: dict[str, Any] = {"file": self.file, "row": self.row, "feature": self.feature}
        if self.step is not None:
            query |= {"list": 1, "step": self.step} if self.step >= 0 else {"list": 1}
        if value is not None:
            query["value"] = value
        return f"{kind}?{urlencode(query)}"

    def of(self, feature: str, step: int | None = None) -> Place:
        """The place of a feature of the same record."""
        return replace(self, feature=feature, step=step)


@dataclass(frozen=True)
class Shown:
    """How much of a feature is shown: values, characters of a text."""

    values: int
    text: int


def cells(kind: int, values: Any, place: Place, shown: Shown, begin: int = 0) -> list[Any]:
    """Values of a list, from ``begin`` on, as many as are shown."""
    if kind == UNSET:
        return []
    part = values[begin : begin + shown.values]
    if kind == BYTES:
        return [bytes_value(string, place, number, shown.text) for number, string in enumerate(part, begin)]
    return numbers(part)


def numbers(array: Any) -> list[Any]:
    """Numbers as JSON can say them."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        if array.dtype != np.float64:  # the shortest text that reads back as the same float32
            return [_float(float(text)) for text in array.astype(str).tolist()]
        return [_float(number) for number in array.tolist()]
    return [number if abs(number) <= _LARGEST_EXACT else str(number) for number in array.tolist()]


def curve(array: Any, points: int) -> list[list[Any]]:
    """The first index and the smallest and largest number of so many parts of an array; NaN are left out."""
    parts = np.array_split(np.asarray(array), max(1, min(points, len(array)))) if len(array) else []
    found, at = [], 0
    for part in parts:
        known = part[~np.isnan(part)] if part.dtype.kind == "f" else part
        if len(known):
            found.append([at, *numbers(np.array([known.min(), known.max()]))])
        at += len(part)
    return found


def all_steps(steps: list[Value]) -> Value | None:
    """The values of all steps of a feature list as one list."""
    kinds = {kind for kind, _ in steps if kind != UNSET}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    lists = [values for one, values in steps if one != UNSET]
    return kind, [value for values in lists for value in values] if kind == BYTES else np.concatenate(lists)


def _float(number: float) -> Any:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def bytes_value(data: bytes, place: Place, number: int, longest: int) -> dict[str, Any]:
    """One string of bytes, described."""
    content = content_of(data)
    found: dict[str, Any] = {"size": len(data), "content": content, "text": None, "cut": False, "hex": None}
    found |= {"width": None, "height": None, "media": None, "thumb": None, "refused": None}
    if content == TEXT:
        found["text"], found["cut"] = text_beginning(data, longest)
        return found
    found["hex"], found["cut"] = data[:_HEX].hex(), len(data) > _HEX
    if len(place.feature) > LONGEST_NAME and content in (*PICTURES, *SOUNDS):
        found["refused"] = "the name of the feature is too long for a URL"
    elif content in PICTURES:
        try:
            found["width"], found["height"] = picture_size(data)
        except (TooLargeError, ValueError) as error:
            found["refused"] = str(error)
            size = getattr(error, "size", None)
            found["width"], found["height"] = size or (None, None)
        else:
            found["thumb"] = place.url("thumb", number)
    if content in (*PICTURES, *SOUNDS) and found["refused"] is None:
        found["media"] = place.url("media", number)
    return found


def whole_of(payload: bytes, longest: int) -> dict[str, Any]:
    """A record that is no Example, described; its pictures and sounds have no URL."""
    return bytes_value(payload, Place(0, 0), 0, longest) | {"media": None, "thumb": None}


def text_beginning(data: bytes, longest: int) -> tuple[str, bool]:
    """The first characters of a text, and whether there are more."""
    text = data[: 4 * longest].decode("utf-8", "replace")
    if len(data) > 4 * longest:
        text = text[:-1]  # perhaps a part of a character
    return text[:longest], len(text) > longest or len(data) > 4 * longest


def cell(name: str, value: Value, place: Place, shown: Shown) -> dict[str, Any]:
    """A feature in a row of the table."""
    kind, values = value
    count = 0 if values is None else len(values)
    found = {"name": name, "list": False, "kind": KINDS.get(kind, "unset"), "count": count}
    return found | {
        "values": cells(kind, values, place.of(name), shown),
        "cut": count > shown.values,
    }


def list_cell(name: str, steps: list[Value], place: Place, shown: Shown) -> dict[str, Any]:
    """A feature list in a row of the table: the values of its first step."""
    kind = next((kind for kind, _ in steps if kind != UNSET), UNSET)
    count = sum(0 if values is None else len(values) for _, values in steps)
    first: list[Any] = []
    if steps:
        first = cells(steps[0][0], steps[0][1], place.of(name, 0), shown)
    found = {"name": name, "list": True, "kind": KINDS.get(kind, "unset"), "count": count}
    return found | {"steps": len(steps), "values": first, "cut": count > len(first)}
