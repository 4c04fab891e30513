"""Decorators of functions: what they do with ragged and sparse tensors, and the older names of parameters.

A decorated function sees dense tensors only. This module does not know what the functions compute.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .ragged_tensor import RaggedTensor, broadcast
from .sparse_tensor import SparseTensor

F = TypeVar("F", bound=Callable[..., Any])


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    code = getattr(function, "__wrapped__", function).__code__
    return tuple(code.co_varnames[: code.co_argcount])


def each_element(function: F) -> F:
    """A function of each element of its first argument: of a ragged tensor, that of its values."""
    first = _parameters(function)[0]

    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        x = args[0] if args else named.get(first)
        if not isinstance(x, RaggedTensor):
            return function(*args, **named)
        if args:
            return x.with_flat_values(function(x.flat_values, *args[1:], **named))
        return x.with_flat_values(function(**{**named, first: x.flat_values}))

    return run  # type: ignore[return-value]


def stored_values(function: F) -> F:
    """A function of each element, which leaves zeros as they are: of a sparse tensor, that of its values."""
    first = _parameters(function)[0]

    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        x = args[0] if args else named.get(first)
        if not isinstance(x, SparseTensor):
            return function(*args, **named)
        if args:
            return x.with_values(function(x.values, *args[1:], **named))
        return x.with_values(function(**{**named, first: x.values}))

    return run  # type: ignore[return-value]


def each_pair(function: F) -> F:
    """A function of each two elements of its first arguments; ragged tensors are broadcast."""
    one, two = _parameters(function)[:2]

    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        if len(args) >= 2:
            x, y = args[:2]
        else:
            given = {**dict(zip((one, two), args, strict=False)), **named}
            x, y = given.get(one), given.get(two)
        if not isinstance(x, RaggedTensor) and not isinstance(y, RaggedTensor):
            return function(*args, **named)
        rest = {key: value for key, value in named.items() if key not in (one, two)}
        return broadcast(lambda a, b: function(a, b, *args[2:], **rest), x, y)

    return run  # type: ignore[return-value]


def for_ragged(handler: Callable[..., Any]) -> Callable[[F], F]:
    """A function that leaves calls with ragged tensors, alone or in a list, to ``handler``.

    The handler gets the function, for dense tensors, and then its arguments.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            for value in (*args, *named.values()):
                if isinstance(value, RaggedTensor) or (
                    isinstance(value, (list, tuple)) and _has_ragged(value)
                ):
                    return handler(function, *args, **named)
            return function(*args, **named)

        return run  # type: ignore[return-value]

    return decorate


def _has_ragged(values: Any) -> bool:
    return any(isinstance(value, RaggedTensor) for value in values)


def older_names(**names: str) -> Callable[[F], F]:
    """A function that also takes the parameters by TensorFlow 1's names: ``older_names(dim="axis")``."""

    def decorate(function: F) -> F:
        parameters = _parameters(function)

        @wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            for old, new in names.items():
                if old in named:
                    value = named.pop(old)
                    if value is None:
                        continue
                    if new in parameters[: len(args)] or named.get(new) is not None:
                        raise ValueError(f"Cannot specify both '{old}' and '{new}'.")
                    named[new] = value
            return function(*args, **named)

        return run  # type: ignore[return-value]

    return decorate
