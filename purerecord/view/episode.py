"""Steps of a record over time: frames, curves, texts and marks, for SequenceExamples and RLDS episodes.

An episode of RLDS is an Example whose features ``steps/...`` hold the values of all steps one after the
other, or a SequenceExample. Any other SequenceExample has its feature lists as steps. This module does not
draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from ..payload.wire import BYTES, FLOAT, INT64
from ..tools.inspect.content import PICTURES, TEXT, content_of
from .cells import Place, Shown, bytes_value, cell, numbers, text_beginning
from .decoded import Decoded

PREFIX = "steps/"
MOST_STEPS = 2_000
_MOST_DIMENSIONS = 32
_MOST_FEATURES = 100
_MARKS = ("is_first", "is_last", "is_terminal")
# Features of RLDS that have one value in each step.
_ONE_A_STEP = (*_MARKS, "reward", "discount")


class _Track(NamedTuple):
    """A feature over time: numbers as an array of (steps, dimensions), or a string for each step."""

    name: str
    kind: int
    values: Any
    steps: int  # also those that are cut off
    by: str  # the parameter of a URL that counts the steps
    ragged: bool = False


def is_episode(found: Decoded) -> bool:
    """Whether a record has steps."""
    return any(found.lists.values()) or (any(name.startswith(PREFIX) for name in found.features))


def episode_of(found: Decoded, place: Place) -> dict[str, Any]:
    """The steps of a record."""
    tracks = [*_of_features(found), *_of_lists(found)]
    tracks = [track for track in tracks if track.steps]
    facts: dict[str, Any] = {"file": place.file, "row": place.row}
    facts |= {"steps": max((track.steps for track in tracks), default=0)}
    facts |= {"cut": facts["steps"] > MOST_STEPS or len(tracks) > _MOST_FEATURES}
    frames, curves, texts, marks = [], [], [], []
    for track in tracks[:_MOST_FEATURES]:
        if track.kind != BYTES and track.name.rpartition("/")[2] in _MARKS:
            marks.append({"name": track.name, "at": np.flatnonzero(track.values[:, 0]).tolist()})
        elif track.kind != BYTES:
            curves.append(_curve(track))
        elif content_of(track.values[0]) in PICTURES:
            frames.append(_frames(track, place))
        elif content_of(next(filter(None, track.values), b"")) == TEXT:
            texts.append(_text(track))
    facts |= {"frames": frames, "curves": curves, "texts": texts, "marks": marks}
    context = [
        cell(name, value, place, Shown(8, 200))
        for name, value in found.features.items()
        if not name.startswith(PREFIX)
    ]
    return facts | {"context": context[:_MOST_FEATURES]}


def _of_features(found: Decoded) -> Iterator[_Track]:
    """Features of an Example whose values are those of all steps."""
    lists = {
        name: (kind, values)
        for name, (kind, values) in found.features.items()
        if name.startswith(PREFIX) and values is not None and len(values)
    }
    if not lists:
        return
    steps = _step_count({name: len(values) for name, (_, values) in lists.items()})
    for name, (kind, values) in lists.items():
        if kind == BYTES and len(values) == steps:
            yield _Track(name, kind, values[:MOST_STEPS], steps, "value")
        elif kind in (FLOAT, INT64) and len(values) % steps == 0:
            yield _Track(name, kind, values.reshape(steps, -1)[:MOST_STEPS], steps, "value")


def _step_count(counts: dict[str, int]) -> int:
    """How many steps there are, as far as the numbers of values tell."""
    for name in _ONE_A_STEP:
        if PREFIX + name in counts:
            return counts[PREFIX + name]
    return gcd(*counts.values())


def _of_lists(found: Decoded) -> Iterator[_Track]:
    """The feature lists of a SequenceExample."""
    for name, steps in found.lists.items():
        kinds = {kind for kind, _ in steps if kind in (BYTES, FLOAT, INT64)}
        if len(kinds) != 1:
            continue
        (kind,) = kinds
        shown = [[] if values is None else values for _, values in steps[:MOST_STEPS]]
        if kind == BYTES:
            yield _Track(name, kind, [step[0] if len(step) else b"" for step in shown], len(steps), "step")
            continue
        lengths = {len(step) for step in shown}
        if len(lengths) == 1 and 0 not in lengths:
            yield _Track(name, kind, np.stack(shown), len(steps), "step")
        else:
            counts = np.array([[len(step)] for step in shown])
            yield _Track(name, INT64, counts, len(steps), "step", ragged=True)


def _curve(track: _Track) -> dict[str, Any]:
    dimensions = track.values.shape[1]
    series = [numbers(track.values[:, at]) for at in range(min(dimensions, _MOST_DIMENSIONS))]
    name = f"{track.name} (number of values)" if track.ragged else track.name
    return {
        "name": name,
        "dims": dimensions,
        "series": series,
        "cut": dimensions > _MOST_DIMENSIONS or track.steps > MOST_STEPS,
    }


def _frames(track: _Track, place: Place) -> dict[str, Any]:
    where = place.of(track.name, -1 if track.by == "step" else None)
    number = 0 if track.by == "step" else None
    first = bytes_value(track.values[0], place, 0, 0)
    return {
        "name": track.name,
        "count": track.steps,
        "content": first["content"],
        "width": first["width"],
        "height": first["height"],
        "refused": first["refused"],
        "thumb": where.url("thumb", number),
        "media": where.url("media", number),
        "by": track.by,
    }


def _text(track: _Track) -> dict[str, Any]:
    constant = all(value == track.values[0] for value in track.values)
    shown = track.values[:1] if constant else track.values
    return {
        "name": track.name,
        "values": [text_beginning(value, 200)[0] for value in shown],
        "constant": constant,
    }
