"""The state of a dataset and the methods that only read it: iteration, element spec, cardinality, options.

``Elements`` is the lowest part of ``tf.data.Dataset``. The transformations are in ``selecting``, ``windows``
and ``dataset``. This module does not know where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import public
from .._missing import missing
from .._values.nest import apply
from .._values.tensor import EagerTensor, of_array
from ..errors import OutOfRangeError, invalid
from .iterators import MakeIterator
from .record_blocks import RecordBlocks
from .run import Run
from .structure import Element, Spec, numpy_of, without_rows

if TYPE_CHECKING:
    from .dataset import Dataset

# The kinds of datasets whose elements may be records of files: all of them, or those of such a dataset.
_MAY_READ_FILES = ("FlatMap", "Interleave", "ParallelInterleave")
_KEEP_ELEMENTS = (
    "Concatenate", "IgnoreErrors", "Options", "Prefetch", "Repeat", "Shard", "Shuffle", "Skip", "Take",
)  # fmt: skip

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2


@public
class Options:
    """``tf.data.Options``: stored and returned, but without effect."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        inner = Options()
        setattr(self, name, inner)
        return inner


class OwnedIterator(Iterator[Any]):
    """The iterator that ``iter(dataset)`` returns."""

    def __init__(self, dataset: Elements, convert: Callable[[Any], Any] = without_rows) -> None:
        self._dataset = dataset
        self._elements = dataset._iterate_to_parse(Run())
        self._convert = convert

    @property
    def element_spec(self) -> Spec:
        """The type specs of the elements."""
        return self._dataset.element_spec

    def __next__(self) -> Any:
        return self._convert(next(self._elements))

    def get_next(self) -> Any:
        """The next element; at the end an ``OutOfRangeError``."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    next = __next__


class _ExplainsMissing(type):
    """A metaclass: a missing static method is an ``AttributeError`` that says what purerecord.tf covers."""

    def __getattr__(cls, name: str) -> Any:
        return _missing(name)


class Elements(metaclass=_ExplainsMissing):
    """Elements that can be iterated again and again, with their spec and their number."""

    # The class of derived datasets. It is ``Dataset``, also for subclasses; the module ``dataset`` sets it.
    _dataset_class: ClassVar[type[Dataset]]
    # Whether elements may be records as they lie in files, which can be read ahead.
    _reads_records = False

    def __init__(
        self,
        make_iterator: MakeIterator,
        spec: Spec | Callable[[], Spec],
        cardinality: int,
        kind: str = "Dataset",
    ) -> None:
        self._make_iterator = make_iterator
        self._spec = spec
        self._cardinality = cardinality
        self._kind = kind
        self._options = Options()

    def _iterate(self, run: Run, number: int = 0) -> Iterator[Any]:
        """A new iterator. ``run`` is that of a dataset of which this one is the input of this number."""
        return self._make_iterator(run.input(number))

    def _iterate_to_parse(self, run: Run) -> Iterator[Any]:
        """A new iterator for a function that may parse each element."""
        elements = self._iterate(run)
        return RecordBlocks(elements) if self._reads_records else elements

    @property
    def _known_spec(self) -> Spec | None:
        """The spec, or None if a function must run to infer it."""
        return None if callable(self._spec) else self._spec

    @property
    def element_spec(self) -> Spec:
        """The type specs of the elements; after a function, inferred from the first elements."""
        if callable(self._spec):
            try:
                self._spec = self._spec()
            except AttributeError as error:  # Python would report this property as missing
                raise TypeError(f"an element could not be made: {error}") from error
        return self._spec

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements; newer programs use ``element_spec``."""
        return apply(lambda leaf: leaf.dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements; newer programs use ``element_spec``."""
        return apply(lambda leaf: leaf.shape, self.element_spec)

    def cardinality(self) -> EagerTensor:
        """The number of elements: -1 if infinite, -2 if unknown."""
        return of_array(np.int64(self._cardinality))

    def __len__(self) -> int:
        if self._cardinality == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._cardinality == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._cardinality

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> OwnedIterator:
        return OwnedIterator(self)

    def as_numpy_iterator(self) -> OwnedIterator:
        """The elements, with arrays, numpy scalars and ``bytes`` instead of tensors."""
        return OwnedIterator(self, partial(apply, numpy_of))

    def make_one_shot_iterator(self) -> OwnedIterator:
        """``iter(dataset)``, in TensorFlow 1."""
        return iter(self)

    def get_single_element(self, name: str | None = None) -> Element:
        """The only element."""
        found = list(islice(self._iterate(Run()), 2))
        if len(found) != 1:
            raise invalid("Dataset had more than one element." if found else "Dataset was empty.")
        return without_rows(found[0])

    def __repr__(self) -> str:
        try:
            spec = repr(self.element_spec)
        except Exception:  # a repr must not raise the errors of a user's function
            spec = "?"
        # TensorFlow's names of classes. Most of them are private there.
        name = self._kind if self._kind == "Cache" else f"_{self._kind}"
        return f"<{name}Dataset element_spec={spec}>"

    def __getattr__(self, name: str) -> Any:
        return _missing(name)

    def options(self) -> Options:
        """The options that ``with_options`` was given."""
        return self._options

    def _derive(
        self, kind: str, make_iterator: MakeIterator, spec: Any = None, cardinality: int | None = None
    ) -> Dataset:
        """A dataset with other iterators. Spec and cardinality are those of this one unless given."""
        made: Dataset = self._dataset_class(
            make_iterator,
            (lambda: self.element_spec) if spec is None else spec,
            self._cardinality if cardinality is None else cardinality,
            kind,
        )
        if spec is None and not callable(self._spec):
            made._spec = self._spec
        made._options = self._options
        made._reads_records = kind in _MAY_READ_FILES or (self._reads_records and kind in _KEEP_ELEMENTS)
        return made


_missing = missing("data.Dataset")
