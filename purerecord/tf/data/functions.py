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
from .structure import (
    Element,
    Spec,
    as_element,
    common_spec,
    is_tensor_spec,
    placeholder,
    spec_of,
    with_shape,
)

# The number of elements from which the spec of a function's results is inferred.
_SAMPLED_ELEMENTS = 4

# Unknown lengths of the elements from which a spec is guessed.
_PLACEHOLDER_LENGTHS = (2, 3)


def check_callable(function: Any) -> None:
    """Raise TensorFlow's error unless ``function`` is callable."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} (of type {type(function)})"
        )


class UserFunction:
    """A function that a user passes to a dataset."""

    def __init__(
        self,
        function: Callable[..., Any],
        number: int = 0,
        at_end: type[OpError] = InternalError,
        passed_to: str = "",
    ) -> None:
        """``number`` tells the functions of one dataset apart. ``at_end`` replaces a StopIteration.

        ``passed_to`` is TensorFlow's name of the dataset, for the messages of errors.
        """
        check_callable(function)
        self._function = function
        self._number = number
        self._at_end = at_end
        self._passed_to = passed_to
        self._seed = global_seed()

    def of_arguments(self, run: Run) -> Callable[..., Any]:
        """The function for one iteration.

        A StopIteration would end the dataset, and an OutOfRangeError means the end, too. As in TensorFlow,
        a function cannot say that: both become another error.
        """
        operations = run.operations(self._number, self._seed)
        function, at_end, passed_to = self._function, self._at_end, self._passed_to

        def call(*arguments: Any) -> Any:
            try:
                return operations.call(function, *arguments)
            except (StopIteration, OutOfRangeError) as error:
                text = f"StopIteration: {error}" if isinstance(error, StopIteration) else str(error)
                raise _said_where(at_end(None, None, text), passed_to, run) from error
            except OpError as error:
                raise _said_where(error, passed_to, run) from None

        return call

    def of_element(self, run: Run) -> Callable[[Element], Any]:
        """The function for one iteration. A plain tuple is several arguments, anything else is one."""
        call = self.of_arguments(run)
        return lambda element: call(*element) if type(element) is tuple else call(element)


def _said_where(error: OpError, passed_to: str, run: Run) -> OpError:
    """Return ``error`` after its message was told in which function it happened, once."""
    if passed_to and not hasattr(error, "_function"):
        error._function = passed_to  # type: ignore[attr-defined]
        error._message = (
            f"Error in user-defined function passed to {passed_to} transformation with iterator: "
            f"{run.place}: {error._message}"
        )
    return error


def predicate_of(
    function: Callable[..., Any], passed_to: str = ""
) -> Callable[[Run], Callable[[Element], bool]]:
    """For an iteration, a test of an element; ``function`` must return a ``tf.bool`` scalar."""
    predicate = UserFunction(function, passed_to=passed_to)
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


def guessed(spec: Spec, spec_of_result: Callable[[Element], Spec]) -> Spec:
    """The spec of a function's results if there are no elements: from made-up elements.

    A dimension that depends on unknown lengths or on values is unknown. ``spec_of_result`` may raise any
    error.
    """
    return common_spec(*(spec_of_result(placeholder(spec, length)) for length in _PLACEHOLDER_LENGTHS))


def spec_of_first(specs: Iterable[Spec], otherwise: Callable[[], Spec]) -> Spec:
    """The common spec of the first elements. A dimension in which they differ is unknown.

    Without elements, that of ``otherwise``, which may raise any error.
    """
    found = list(islice(specs, _SAMPLED_ELEMENTS))
    if found:
        return reduce(common_spec, found)
    try:
        return otherwise()
    except Exception as error:  # the function does not know what to do with zeros
        raise no_elements() from error


def spec_of_results(
    element_spec: Spec, elements: Iterator[Element], function: Callable[[Element], Element]
) -> Spec:
    """The common spec of what ``function`` returns for the first elements.

    If the elements are batches of unknown length, the results that have the length of their batch get an
    unknown first dimension, too.
    """
    tensors = [number for number, leaf in enumerate(flatten(element_spec)) if is_tensor_spec(leaf)]
    shapes = [flatten(element_spec)[number].shape for number in tensors]
    batched = bool(shapes) and all(shape.rank and shape[0] is None for shape in shapes)
    found: Spec = None
    failure: Exception = no_elements()
    for element in islice(elements, _SAMPLED_ELEMENTS):
        length = flatten(element)[tensors[0]].shape[0] if batched else None
        try:
            result = function(element)
        except OpError as error:  # another element may have none
            failure = error
            continue
        spec = apply(lambda leaf, length=length: _unknown_first(spec_of(leaf), length), result)
        found = spec if found is None else common_spec(found, spec)
    if found is not None:
        return found
    try:
        return guessed(element_spec, lambda element: apply(spec_of, function(element)))
    except Exception:  # the function does not know what to do with zeros
        raise failure from None


def _unknown_first(spec: Any, length: int | None) -> Any:
    """``spec``, with an unknown first dimension if that is ``length``."""
    if length is None or not is_tensor_spec(spec) or not spec.shape.rank or spec.shape[0] != length:
        return spec
    return with_shape(spec, [None, *spec.shape[1:]])
