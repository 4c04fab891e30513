"""What programs hand to a dataset: functions, checked and called with elements as TensorFlow calls them.

Nothing is traced here, so what a function gives is seen by calling it on the first elements. This module
does not know datasets, only how to look at the elements of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .._values.tensor import EagerTensor
from ..dtypes import bool as tf_bool
from ..errors import OpError
from .structure import Element, Spec, apply, as_element, call, common_spec, flatten, spec_of, with_shape

_SAMPLES = 4  # elements that are looked at to see what a function gives


def check_callable(function: Any) -> None:
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} (of type {type(function)})"
        )


def predicate_of(function: Callable[..., Any]) -> Callable[[Element], bool]:
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
    return ValueError(
        "this dataset has no elements, and what a function gives is known here from the elements only"
    )


def spec_of_results(below: Spec, elements: Iterator[Element], function: Callable[[Element], Element]) -> Spec:
    """What ``function`` gives for the first elements; a dimension in which they differ is unknown.

    Where the elements are batches, whose length is unknown, so is that of what is made of them.
    """
    batched = all(leaf.shape.rank and leaf.shape[0] is None for leaf in flatten(below))
    found: Spec = None
    failure: Exception = no_elements()
    for element in islice(elements, _SAMPLES):
        length = flatten(element)[0].shape[0] if batched else None
        try:
            result = function(element)
        except OpError as error:  # perhaps of this element only
            failure = error
            continue
        spec = apply(lambda leaf, length=length: _unknown_first(spec_of(leaf), length), result)
        found = spec if found is None else common_spec(found, spec)
    if found is None:
        raise failure
    return found


def _unknown_first(spec: Any, length: int | None) -> Any:
    if length is None or not spec.shape.rank or spec.shape[0] != length:
        return spec
    return with_shape(spec, [None, *spec.shape[1:]])
