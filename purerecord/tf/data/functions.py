"""The functions that users pass to a dataset: checked, and called with elements as TensorFlow calls them.

TensorFlow traces a function to learn what it returns. Nothing is traced here: ``spec_of_results`` calls the
function with the first elements. This module does not know datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import islice
from typing import Any

from .._values.nest import apply, flatten
from .._values.seeds import global_seed
from .._values.tensor import EagerTensor
from ..dtypes import bool as tf_bool
from ..errors import InternalError, OpError, OutOfRangeError
from .run import Run
from .structure import Element, Spec, as_element, common_spec, spec_of, with_shape

# The number of elements from which the spec of a function's results is inferred.
_SAMPLED_ELEMENTS = 4


def check_callable(function: Any) -> None:
    """Raise TensorFlow's error unless ``function`` is callable."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} (of type {type(function)})"
        )


class UserFunction:
    """A function that a user passes to a dataset."""

    def __init__(
        self, function: Callable[..., Any], number: int = 0, at_end: type[OpError] = InternalError
    ) -> None:
        """``number`` tells the functions of one dataset apart. ``at_end`` replaces a StopIteration."""
        check_callable(function)
        self._function = function
        self._number = number
        self._at_end = at_end
        self._seed = global_seed()

    def of_arguments(self, run: Run) -> Callable[..., Any]:
        """The function for one iteration.

        A StopIteration would end the dataset, and an OutOfRangeError means the end, too. As in TensorFlow,
        a function cannot say that: both become another error.
        """
        operations = run.operations(self._number, self._seed)
        function, at_end = self._function, self._at_end

        def call(*arguments: Any) -> Any:
            try:
                return operations.call(function, *arguments)
            except (StopIteration, OutOfRangeError) as error:
                text = f"StopIteration: {error}" if isinstance(error, StopIteration) else str(error)
                raise at_end(None, None, text) from error

        return call

    def of_element(self, run: Run) -> Callable[[Element], Any]:
        """The function for one iteration. A plain tuple is several arguments, anything else is one."""
        call = self.of_arguments(run)
        return lambda element: call(*element) if type(element) is tuple else call(element)


def predicate_of(function: Callable[..., Any]) -> Callable[[Run], Callable[[Element], bool]]:
    """For an iteration, a test of an element; ``function`` must return a ``tf.bool`` scalar."""
    predicate = UserFunction(function)
    return lambda run: partial(_is_true, predicate.of_element(run))


def _is_true(predicate: Callable[[Element], Any], element: Element) -> bool:
    result = as_element(predicate(element), "Dataset.filter()")
    if not isinstance(result, EagerTensor) or result.dtype != tf_bool or result.ndim:
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type "
            f"is {apply(spec_of, result)!r}."
        )
    return bool(result)


def no_elements() -> ValueError:
    """The error of a dataset without elements from which a spec could be inferred."""
    return ValueError(
        "this dataset has no elements, and what a function gives is known here from the elements only"
    )


def spec_of_first(specs: Iterable[Spec]) -> Spec:
    """The common spec of the first elements. A dimension in which they differ is unknown."""
    found = list(islice(specs, _SAMPLED_ELEMENTS))
    if not found:
        raise no_elements()
    return reduce(common_spec, found)


def spec_of_results(
    element_spec: Spec, elements: Iterator[Element], function: Callable[[Element], Element]
) -> Spec:
    """The common spec of what ``function`` returns for the first elements.

    If the elements are batches of unknown length, the results that have the length of their batch get an
    unknown first dimension, too.
    """
    batched = all(leaf.shape.rank and leaf.shape[0] is None for leaf in flatten(element_spec))
    found: Spec = None
    failure: Exception = no_elements()
    for element in islice(elements, _SAMPLED_ELEMENTS):
        length = flatten(element)[0].shape[0] if batched else None
        try:
            result = function(element)
        except OpError as error:  # another element may have none
            failure = error
            continue
        spec = apply(lambda leaf, length=length: _unknown_first(spec_of(leaf), length), result)
        found = spec if found is None else common_spec(found, spec)
    if found is None:
        raise failure
    return found


def _unknown_first(spec: Any, length: int | None) -> Any:
    """``spec``, with an unknown first dimension if that is ``length``."""
    if length is None or not spec.shape.rank or spec.shape[0] != length:
        return spec
    return with_shape(spec, [None, *spec.shape[1:]])
