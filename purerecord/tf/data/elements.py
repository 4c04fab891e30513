"""The state of a dataset and the methods that only read it: iteration, element spec, cardinality, options.

``Elements`` is the lowest part of ``tf.data.Dataset``. The transformations are in ``selecting``, ``windows``
and ``dataset``. This module does not know where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import public
from .._missing import missing
from .._values.nest import apply
from .._values.shapes import TensorShape, TypeSpec
from .._values.tensor import EagerTensor, of_array
from ..errors import OutOfRangeError, invalid
from .iterators import MakeIterator
from .optional import Optional
from .options import Options
from .record_blocks import RecordBlocks
from .run import Run
from .structure import Element, Spec, compatible, dtype_of, numpy_of, placeholder, shape_of, without_rows

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
class DatasetSpec(TypeSpec):
    """The spec of a dataset in an element, or with ``dataset_shape`` of a batch of datasets."""

    __slots__ = ()

    def __init__(self, element_spec: Spec, dataset_shape: Any = ()) -> None:
        self._arguments = (element_spec, TensorShape(dataset_shape))

    @property
    def element_spec(self) -> Spec:
        """The spec of the dataset's elements."""
        return self._arguments[0]

    @property
    def dataset_shape(self) -> TensorShape:
        """The shape of a batch of datasets; of one dataset ``()``."""
        shape: TensorShape = self._arguments[1]
        return shape

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Elements._dataset_class

    @staticmethod
    def from_value(value: Elements) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether this is a dataset of such elements, or the spec of one."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(other, DatasetSpec) and compatible(self.element_spec, other.element_spec)

    def __hash__(self) -> int:
        return hash(DatasetSpec)  # the spec of the elements may be a dictionary

    def _batch(self, length: int | None) -> DatasetSpec:
        return DatasetSpec(self.element_spec, TensorShape([length]).concatenate(self.dataset_shape))

    def _unbatch(self) -> DatasetSpec:
        if not self.dataset_shape.rank:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self.element_spec, self.dataset_shape[1:])

    def _placeholder(self, length: int) -> Any:
        spec = self.element_spec
        one = placeholder(spec, length)
        return Elements._dataset_class(lambda _: iter((one,)), spec, UNKNOWN, "Variant")


class OwnedIterator(Iterator[Any]):
    """The iterator that ``iter(dataset)`` returns."""

    def __init__(self, dataset: Elements) -> None:
        self._dataset = dataset
        self._elements = dataset._iterate_to_parse(Run())

    @property
    def element_spec(self) -> Spec:
        """The type specs of the elements."""
        return self._dataset.element_spec

    def __next__(self) -> Any:
        return without_rows(next(self._elements))

    def get_next(self) -> Any:
        """The next element; at the end an ``OutOfRangeError``."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self) -> Optional:
        """The next element as an optional, which is empty at the end."""
        for element in self:
            return Optional.from_value(element)
        return Optional.empty(self.element_spec)

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements; newer programs use ``element_spec``."""
        return apply(dtype_of, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements; newer programs use ``element_spec``."""
        return apply(shape_of, self.element_spec)

    next = __next__


class NumpyIterator(OwnedIterator):
    """The iterator that ``as_numpy_iterator`` returns: arrays, which are read-only, and ``bytes``."""

    def __next__(self) -> Any:
        return apply(numpy_of, super().__next__())

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
        self._options._freeze()

    def _iterate(self, run: Run, number: int = 0) -> Iterator[Any]:
        """A new iterator. ``run`` is that of a dataset of which this one is the input of this number."""
        return self._make_iterator(run.input(number, self._kind))

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

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
        return apply(dtype_of, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements; newer programs use ``element_spec``."""
        return apply(shape_of, self.element_spec)

    def cardinality(self) -> EagerTensor:
        """The number of elements: -1 if infinite, -2 if unknown."""
        return of_array(np.int64(self._cardinality))

    def _infinite_or_unknown(self) -> int:
        """The cardinality of what gives some elements for each of these."""
        return INFINITE if self._cardinality == INFINITE else UNKNOWN

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

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements, with read-only arrays, numpy scalars and ``bytes`` instead of tensors."""
        return NumpyIterator(self)

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

    @classmethod
    def _of_inputs(
        cls,
        kind: str,
        inputs: Sequence[Elements],
        make_iterator: MakeIterator,
        spec: Any,
        cardinality: int,
    ) -> Dataset:
        """A dataset of several others, with the options of all."""
        made: Dataset = cls._dataset_class(make_iterator, spec, cardinality, kind)
        made._options = reduce(Options.merge, [one._options for one in inputs], made._options)
        made._options._freeze()
        return made

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
