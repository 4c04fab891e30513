"""``pack``: sequences joined and cut into pieces of a fixed length, for language models.

A sequence is a 1-D array, or a dict of 1-D arrays of equal length. A pack begins where the one before it
ended, mostly in the middle of a sequence. The state is therefore a state of the parent, how many sequences
come after it before the current one, and how much of the current one has been used. A sequence that failed
comes before the pack that it would have been in. This module must not know where sequences come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.node import Context, Cursor, Elements, FailedElement, Node, State, Transform, data_changed
from ..engine.origins import Locator, attempt
from ..engine.states import count_of, values_of

SEGMENT_IDS, POSITIONS = "segment_ids", "positions"
_BARE = ""  # the name of a sequence that is an array
_Sequence = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Pack(Transform):
    """Sequences joined and cut into pieces of ``length``; the last one is padded, or dropped."""

    parent: Node
    length: int
    drop_remainder: bool = False
    padding_value: Any = 0

    def open(self, context: Context) -> Cursor:
        context = context.without_pattern()
        return _PackCursor(self, self.parent.open(context), Locator(self.label(), self.parent, context))

    def size(self) -> int | None:
        return -1 if self.parent.size() == -1 else None

    def label(self) -> str:
        return f"pack({self.length}{', drop_remainder=True' if self.drop_remainder else ''})"


@dataclass(frozen=True)
class _Run:
    """Sequences that were taken together."""

    begin: State  # of the parent, before the first of them
    sequences: list[_Sequence | FailedElement]


@dataclass(frozen=True)
class _Piece:
    """A part of a sequence that goes into one pack."""

    sequence: _Sequence
    begin: int
    end: int


class _PackCursor(Cursor):
    def __init__(self, node: Pack, parent: Cursor, locator: Locator) -> None:
        self._node = node
        self._parent = parent
        self._locator = locator
        # Where the next pack begins: the runs from there on, the sequence in the first of them, and how much
        # of it has been used. Then how many of the sequences after that failed and were handed out as such.
        self._place: tuple[list[_Run], int, int, int] = ([], 0, 0, 0)

    def take(self, count: int) -> Elements:
        runs, number, used, reported = self._place
        pieces: list[_Piece] = []
        failed = 0
        left, current = self._node.length, 0
        while left and (current < len(runs) or self._read()):
            if number == len(runs[current].sequences):
                current, number = current + 1, 0
                continue
            sequence = runs[current].sequences[number]
            if isinstance(sequence, FailedElement):
                failed += 1
                if failed > reported:  # it comes before the pack, which goes on without it
                    self._place = (*self._place[:3], failed)
                    return [sequence]
                number, used = number + 1, 0
                continue
            size = _size(sequence)
            if used > size:
                raise data_changed("a sequence is shorter")
            end = min(used + left, size)
            pieces.append(_Piece(sequence, used, end))
            left -= end - used
            number, used = (number + 1, 0) if end == size else (number, end)
        if left == self._node.length or (left and self._node.drop_remainder):
            return ()
        self._place = (runs[current:], number, used, 0)
        return [self._packed([piece for piece in pieces if piece.end > piece.begin], left)]

    def _read(self) -> bool:
        """Read one more run; False at the end."""
        begin = self._parent.state()
        elements = self._parent.take(self._parent.cheap_lookahead)
        sequences = [
            attempt(_as_sequence, element, self._locator.note_at, begin, number)
            for number, element in enumerate(elements)
        ]
        if sequences:
            self._place[0].append(_Run(begin, sequences))
        return len(sequences) > 0

    def _packed(self, pieces: list[_Piece], padding: int) -> Any:
        try:
            return _packed(pieces, padding, self._node.padding_value)
        except Exception as error:  # they differ in their features, say
            return FailedElement(error)

    def state(self) -> State:
        runs, number, used, failed = self._place
        up = runs[0].begin if runs else self._parent.state()
        return {"up": up, "ahead": number, "used": used, "failed": failed}

    def restore(self, state: State) -> None:
        up, ahead, used, failed = values_of(state, "up", "ahead", "used", "failed")
        self._parent.restore(up)
        if self._parent.skip(count_of(ahead)) != ahead:
            raise data_changed("there are fewer sequences")
        self._place = ([], 0, count_of(used), count_of(failed))

    def close(self) -> None:
        self._parent.close()


def _as_sequence(element: Any) -> _Sequence:
    """The arrays of an element by name; ValueError unless all are 1-D and of equal length."""
    if not isinstance(element, Mapping):
        element = {_BARE: element}
    elif taken := {SEGMENT_IDS, POSITIONS} & element.keys():
        raise ValueError(f"pack adds {sorted(taken)}, and the element has it already; rename it with map")
    sequence = {name: np.asarray(part) for name, part in element.items()}
    for name, part in sequence.items():
        if part.ndim != 1:
            what = f"feature {name!r}" if name else "an element"
            raise ValueError(
                f"pack joins sequences, 1-D arrays, and {what} has shape {part.shape}; use unbatch if these "
                f"are batches, and leave out other features with map"
            )
    if len({len(part) for part in sequence.values()}) != 1:
        lengths = {name: len(part) for name, part in sequence.items()}
        raise ValueError(f"pack needs features of equal length, not {lengths}")
    return sequence


def _size(sequence: _Sequence) -> int:
    return len(next(iter(sequence.values())))


def _packed(pieces: list[_Piece], padding: int, padding_value: Any) -> Any:
    """One pack of these pieces, with ``padding`` places left."""
    names = pieces[0].sequence.keys()
    if any(piece.sequence.keys() != names for piece in pieces):
        raise ValueError("pack needs the same features in every element")
    values = padding_value if isinstance(padding_value, Mapping) else dict.fromkeys(names, padding_value)
    if unknown := sorted(values.keys() - names):
        raise ValueError(f"padding_value names {unknown}, which no element has")
    pack: _Sequence = {}
    for name in names:
        joined = _joined([piece.sequence[name][piece.begin : piece.end] for piece in pieces])
        pack[name] = np.concatenate([joined, _padding(padding, values.get(name, 0), joined)])
    if names == {_BARE}:
        return pack[_BARE]
    zeros = np.zeros(padding, np.int32)
    lengths = [piece.end - piece.begin for piece in pieces]
    segments = np.repeat(np.arange(1, len(pieces) + 1, dtype=np.int32), lengths)
    positions = [np.arange(piece.begin, piece.end, dtype=np.int32) for piece in pieces]
    return {
        **pack,
        SEGMENT_IDS: np.concatenate([segments, zeros]),
        POSITIONS: np.concatenate([*positions, zeros]),
    }


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The parts as one array. Integers are not joined to floats: that would round large ones."""
    joined = np.concatenate(parts)
    kinds = {part.dtype.kind for part in parts}
    if len(kinds) > 1 and not (kinds == {"i", "u"} and joined.dtype.kind == "i"):
        dtypes = sorted({str(part.dtype) for part in parts})
        raise ValueError(f"pack needs the same type in every element, not {' and '.join(dtypes)}")
    return joined


def _padding(count: int, value: Any, joined: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``count`` times ``value``, to be added to ``joined``."""
    if joined.dtype.kind in "iu" and isinstance(value, (int, np.integer)):  # numpy 1 would wrap it around
        limits = np.iinfo(joined.dtype)
        if not limits.min <= value <= limits.max:
            raise ValueError(f"padding_value {value!r} is no {joined.dtype}")
    filled: npt.NDArray[Any] = np.full(count, value, object).astype(joined.dtype)
    if not count:
        return filled
    strings = isinstance(joined[0], (bytes, str))
    equal = filled[0] == value or (value != value and filled[0] != filled[0])  # noqa: PLR0124 - nan
    if not equal or (strings and not isinstance(value, type(joined[0]))):
        what = type(joined[0]).__name__ if strings else joined.dtype
        raise ValueError(f"padding_value {value!r} is no {what}")
    return filled
