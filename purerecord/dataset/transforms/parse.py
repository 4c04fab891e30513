"""``parse``: serialized Examples as a dataset's elements, column by column where they come in batches.

This is where the container side and the payload side meet. It knows neither files nor how a message looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import PureRecordError
from ...payload.parse.examples import parse_example, parse_single_example
from ...payload.specs import FixedLenFeature, RaggedFeature
from ...records import Records
from ..engine.lookahead import AheadCursor
from ..engine.node import Context, Cursor, Elements, Node, Over, Step, Table
from .batch import Batch

# Small batches are parsed together, up to so many records and bytes: most of the work is for each call.
_ROWS, _BYTES = 1024, 1 << 20


@dataclass(frozen=True, eq=False)
class Parse(Step):
    """Serialized Examples as ``features`` specifies them: batches column by column, single ones as dicts."""

    up: Node
    features: Mapping[str, Any]

    def open(self, context: Context) -> Cursor:
        up = self.up.open(context)
        # For these, what a batch holds of one record does not depend on the others.
        if isinstance(self.up, Batch) and all(
            type(spec) in (FixedLenFeature, RaggedFeature) for spec in self.features.values()
        ):
            return _TogetherCursor(self, up, context)
        return _ParseCursor(self, up)

    def parsed(self, element: Any) -> Any:
        """One element, parsed."""
        if isinstance(element, bytes):
            return parse_single_example(element, self.features)
        return parse_example(element, self.features)

    def table(self) -> Table | None:
        below = self.up.table()
        return None if below is None else ParsedTable(below, self)

    def label(self) -> str:
        return f"parse({{{', '.join(map(repr, self.features))}}})"


@dataclass(frozen=True)
class ParsedTable:
    """A table whose elements are parsed when they are fetched."""

    below: Table
    node: Parse

    def __len__(self) -> int:
        return len(self.below)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return [self.node.parsed(element) for element in self.below.fetch(numbers)]


class _ParseCursor(Over):
    def __init__(self, node: Parse, up: Cursor) -> None:
        super().__init__(up)
        self._node = node

    def take(self, count: int) -> Elements:
        return [self._node.parsed(element) for element in self._up.take(count)]


class _TogetherCursor(AheadCursor):
    """Parses the records of several small batches together and gives them batch by batch."""

    def __init__(self, node: Parse, up: Cursor, context: Context) -> None:
        super().__init__(up, context)
        self._node = node
        self._together = 1  # how many batches

    def _more(self, count: int) -> None:
        if self._runs:
            return
        left = self._together
        while left > 0:
            run = self._puller.pull(left)
            self._runs.append(run)
            left -= len(run.elements) or left
        batches = [batch for run in self._runs for batch in run.elements]
        if len(batches) > 1 and all(isinstance(batch, Records) for batch in batches):
            self._parse(batches)
        if batches and isinstance(batches[0], Records):
            rows, size = len(batches[0]), batches[0].nbytes
            self._together = max(1, min(_ROWS // rows, _BYTES // (size + 1)))

    def _parse(self, batches: list[Records]) -> None:
        """Put what the batches hold into their places."""
        try:
            columns = self._node.parsed(Records.concat(batches))
        except PureRecordError:
            return  # they are parsed one by one, so that those before the error come first
        ends = np.cumsum([len(batch) for batch in batches]).tolist()
        cuts = iter([slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)])
        for run in self._runs:
            run.elements = [
                {name: column[cut] for name, column in columns.items()}
                for _, cut in zip(run.elements, cuts, strict=False)
            ]

    def _result(self, value: Any) -> Any:
        batch = super()._result(value)
        return batch if isinstance(batch, dict) else self._node.parsed(batch)
