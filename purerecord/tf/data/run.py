"""One iteration of a dataset, and of all datasets that it is made of.

The sequences of seeded random operations begin with each iteration and go on over the epochs of a ``repeat``
in it, as in TensorFlow. This module does not know datasets.
"""

from __future__ import annotations

from .._values.seeds import Operations


class Run:
    """One iteration, seen from one dataset in the chain.

    A probe is an iteration that only looks at the first elements to infer their spec. It must not change the
    elements of later iterations.
    """

    __slots__ = ("_operations", "_path", "place", "probe")

    def __init__(self, probe: bool = False) -> None:
        self.probe = probe
        self.place = "Iterator::Root"  # the datasets on the way here, for messages
        self._path: tuple[int, ...] = ()
        self._operations: dict[tuple[int, ...], Operations] = {}

    def input(self, number: int, kind: str) -> Run:
        """The iteration of an input of this dataset."""
        made = Run(self.probe)
        made.place = f"{self.place}::{kind}"
        made._path = (*self._path, number)
        made._operations = self._operations
        return made

    def operations(self, number: int, seed: int | None) -> Operations:
        """The random operations of the dataset's function of this number; those of earlier epochs go on."""
        return self._operations.setdefault((*self._path, number), Operations(seed))
