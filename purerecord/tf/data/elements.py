"""What a dataset is, whatever it is made of: how to begin an iteration, what comes, and how many.

``Elements`` is the part of ``tf.data.Dataset`` that only looks; transformations are in ``ordering`` and
``dataset``. This
module does not know where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._missing import missing
from .._values.operators import invalid
from .._values.tensor import EagerTensor, of_array
from ..errors import OutOfRangeError
from .iterators import Begin
from .structure import Element, Spec, apply, numpy_of

if TYPE_CHECKING:
    from .dataset import Dataset

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2


class Options:
    """``tf.data.Options``: kept, but nothing here depends on them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        inner = Options()
        setattr(self, name, inner)
        return inner


class OwnedIterator(Iterator[Any]):
    """What ``iter(dataset)`` gives."""

    def __init__(self, dataset: Elements, convert: Callable[[Any], Any] | None = None) -> None:
        self._dataset = dataset
        self._elements = dataset._begin(True)
        self._convert = convert

    @property
    def element_spec(self) -> Spec:
        """What the elements are like."""
        return self._dataset.element_spec

    def __next__(self) -> Any:
        element = next(self._elements)
        return element if self._convert is None else self._convert(element)

    def get_next(self) -> Any:
        """The next element; at the end an ``OutOfRangeError``."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    next = __next__


class _Explaining(type):
    """A class that says of static methods that it does not have that they are TensorFlow's."""

    def __getattr__(cls, name: str) -> Any:
        return _missing(name)


class Elements(metaclass=_Explaining):
    """Elements that can be gone through again and again."""

    # The class of what is made of these: a Dataset, whatever their own is. ``dataset`` sets it.
    _plain: ClassVar[type[Dataset]]

    def __init__(
        self, begin: Begin, spec: Spec | Callable[[], Spec], size: int, kind: str = "Dataset"
    ) -> None:
        self._begin = begin
        self._spec = spec
        self._size = size
        self._kind = kind
        self._options = Options()

    @property
    def _known_spec(self) -> Spec | None:
        """The spec, if nothing has to be run to know it."""
        return None if callable(self._spec) else self._spec

    @property
    def element_spec(self) -> Spec:
        """What the elements are like; where a function makes them, this is seen from the first ones."""
        if callable(self._spec):
            try:
                self._spec = self._spec()
            except AttributeError as error:  # which Python would take for a missing attribute of this object
                raise TypeError(f"an element could not be made: {error}") from error
        return self._spec

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements; ``element_spec`` says it all."""
        return apply(lambda leaf: leaf.dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements; ``element_spec`` says it all."""
        return apply(lambda leaf: leaf.shape, self.element_spec)

    def cardinality(self) -> EagerTensor:
        """How many elements there are; -1 without end, -2 unknown."""
        return of_array(np.int64(self._size))

    def __len__(self) -> int:
        if self._size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._size

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> OwnedIterator:
        return OwnedIterator(self)

    def as_numpy_iterator(self) -> OwnedIterator:
        """The elements, with arrays, numpy's scalars and ``bytes`` instead of tensors."""
        return OwnedIterator(self, partial(apply, numpy_of))

    def make_one_shot_iterator(self) -> OwnedIterator:
        """``iter(dataset)``, as it was called once."""
        return iter(self)

    def get_single_element(self, name: str | None = None) -> Element:
        """The only element."""
        first = list(islice(self._begin(True), 2))
        if len(first) != 1:
            raise invalid("Dataset had more than one element." if first else "Dataset was empty.")
        return first[0]

    def __repr__(self) -> str:
        try:
            spec = repr(self.element_spec)
        except Exception:  # a repr is no place for errors in a program's function
            spec = "?"
        # TensorFlow's names of classes, most of them private there.
        name = self._kind if self._kind == "Cache" else f"_{self._kind}"
        return f"<{name}Dataset element_spec={spec}>"

    def __getattr__(self, name: str) -> Any:
        return _missing(name)

    def options(self) -> Options:
        """What ``with_options`` was given."""
        return self._options

    def _then(self, kind: str, begin: Begin, spec: Any = None, size: int | None = None) -> Dataset:
        """A dataset made of this one, like it in what is not given."""
        made: Dataset = self._plain(
            begin,
            (lambda: self.element_spec) if spec is None else spec,
            self._size if size is None else size,
            kind,
        )
        if spec is None and not callable(self._spec):
            made._spec = self._spec
        made._options = self._options
        return made


_missing = missing("data.Dataset")
