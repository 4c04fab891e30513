"""The functions that users pass to a dataset: checked, and called with elements as TensorFlow calls them.

TensorFlow traces a function to learn what it returns. Nothing is traced here: ``spec_of_results`` calls the
function with the first elements. This module does not know datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import islice
from typing import Any

from .._values.nest import apply, flatten
from .._values.tensor import EagerTensor
from ..dtypes import bool as tf_bool
from ..errors import OpError
from .structure import Element, Spec, as_element, call, common_spec, spec_of, with_shape

# The number of elements from which the spec of a function's results is inferred.
_SAMPLED_ELEMENTS = 4


def check_callable(function: Any) -> None:
    """Raise TensorFlow's error unless ``function`` is callable."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} (of type {type(function)})"
        )


def predicate_of(function: Callable[..., Any]) -> Callable[[Element], bool]:
    """A function of one element that returns a Python bool; ``function`` must return a ``tf.bool`` scalar."""
    check_callable(function)

    def test(element: Element) -> bool:
        result = as_element(call(function, element), "Dataset.filter()")
        if not isinstance(result, EagerTensor) or result.dtype != tf_bool or result.ndim:
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type "
                f"is {apply(spec_of, result)!r}."
            )
        return bool(result)

    return test


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
