"""``tf.debugging``: assertions about values, shapes and dtypes.

A value that is wrong is an ``InvalidArgumentError``, a shape that is wrong a ``ValueError``, and a dtype a
``TypeError``, as in TensorFlow. This module does not know datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._missing import missing
from ._values.convert import Array
from ._values.elementwise import check_numerics
from ._values.operators import check_shapes
from ._values.ragged_rows import aligned, flat
from ._values.ragged_tensor import RaggedTensor, as_rows
from ._values.sparse_tensor import SparseTensor
from ._values.tensor import EagerTensor, convert_to_tensor, to_numpy
from .dtypes import DType, as_dtype, float32
from .errors import InvalidArgumentError, invalid

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "disable_check_numerics",
    "enable_check_numerics",
    "is_numeric_tensor",
]


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> None:  # noqa: N802
    """Raise an error with ``data`` in its text unless ``condition`` is true."""
    met = to_numpy(condition)
    if met.ndim and met.size != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")
    if not bool(met.reshape(-1)[0] if met.ndim else met):
        shown = [_shown(part, summarize) for part in data]
        text = "\n".join(
            part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in shown
        )
        raise InvalidArgumentError(None, None, f"Expected '{condition}' to be true. Summarized data: {text}")


def _shown(value: Any, summarize: int | None) -> Any:
    count = 3 if summarize is None else summarize
    array = as_rows(value)
    values = flat(array)
    return values.reshape(-1)[: count if count >= 0 else None] if values.ndim else values[()]


# --- Values -----------------------------------------------------------------------------------------


def _pair(x: Any, y: Any) -> tuple[Array, Array]:
    one = x if isinstance(x, (RaggedTensor, EagerTensor)) else convert_to_tensor(x)
    hint = y if isinstance(y, (RaggedTensor, EagerTensor)) else None
    two = y if hint is not None else convert_to_tensor(y, dtype_hint=one.dtype)
    if hint is not None and one is not x:
        one = convert_to_tensor(x, dtype_hint=hint.dtype)
    if one.dtype != two.dtype:
        raise invalid(
            "cannot compute Equal as input #1(zero-based) was expected to be a "
            f"{one.dtype.name} tensor but is a "
            f"{two.dtype.name} tensor"
        )
    if isinstance(one, RaggedTensor) or isinstance(two, RaggedTensor):
        left, right = aligned(as_rows(one), as_rows(two))
        return flat(left), flat(right)
    return one._array, two._array


def _compared(symbol: str, compare: Callable[[Array, Array], Any], doc: str, order: bool = True) -> Any:
    def assertion(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        if x is y and symbol == "==":
            return
        one, two = _pair(x, y)
        check_shapes("Equal", one, two)
        if order and one.dtype.kind in "bOc":
            raise invalid("Value for attr 'T' is not in the list of allowed values of an order")
        _check(np.asarray(compare(one, two)).astype(np.bool_), symbol, one, two, message, summarize)

    assertion.__doc__ = doc
    return assertion


def _check(  # noqa: PLR0917
    met: Array, symbol: str, one: Array, two: Array | None, message: str | None, summarize: int | None
) -> None:
    if met.all():
        return
    count = 3 if summarize is None else summarize
    lines = [] if message is None else [str(message)]
    lines.append(f"Condition x {symbol} y did not hold.")
    if symbol == "==" and met.ndim:
        places = np.argwhere(~met)[:count]
        lines.append(f"Indices of first {len(places)} different values:\n{places}")
    for what, array in (("x", one), ("y", two)):
        if array is not None:
            lines.append(f"First {min(count, array.size)} elements of {what}:\n{array.reshape(-1)[:count]}")
    raise invalid("\n".join(lines))


assert_equal = _compared("==", np.equal, "Raise an error unless ``x == y`` for all elements.", False)
assert_less = _compared("<", np.less, "Raise an error unless ``x < y`` for all elements.")
assert_less_equal = _compared("<=", np.less_equal, "Raise an error unless ``x <= y`` for all elements.")
assert_greater = _compared(">", np.greater, "Raise an error unless ``x > y`` for all elements.")
assert_greater_equal = _compared(">=", np.greater_equal, "Raise an error unless ``x >= y`` for all elements.")


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Raise an error unless ``x != y`` for all elements."""
    one, two = _pair(x, y)
    check_shapes("NotEqual", one, two)
    _check(np.asarray(one != two).astype(np.bool_), "!=", one, two, message, summarize)


def assert_near(  # noqa: PLR0917 - TensorFlow's signature
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise an error unless ``x`` and ``y`` are close for all elements: by default to 10 epsilons."""
    one, two = _pair(x, y)
    if one.dtype.kind not in "fc":
        raise invalid(f"assert_near is for floats, not {one.dtype}")
    epsilon = np.finfo(one.dtype).eps
    relative, absolute = (10 * epsilon if limit is None else float(to_numpy(limit)) for limit in (rtol, atol))
    check_shapes("Sub", one, two)
    met = np.abs(one - two) <= absolute + relative * np.abs(two)
    if not np.asarray(met).all():
        raise invalid(f"{message or ''}\nx and y not equal to tolerance rtol = {relative}, atol = {absolute}")


def _signed(symbol: str, compare: Callable[[Array, Any], Any], doc: str) -> Any:
    def assertion(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        array = flat(as_rows(x))
        if array.dtype.kind in "bOc":
            raise invalid("Value for attr 'T' is not in the list of allowed values of an order")
        _check(np.asarray(compare(array, 0)), f"{symbol} 0, x", array, None, message, summarize)

    assertion.__doc__ = doc
    return assertion


assert_negative = _signed("<", np.less, "Raise an error unless all elements are negative.")
assert_positive = _signed(">", np.greater, "Raise an error unless all elements are positive.")
assert_non_negative = _signed(">=", np.greater_equal, "Raise an error if an element is negative.")
assert_non_positive = _signed("<=", np.less_equal, "Raise an error if an element is positive.")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> EagerTensor:
    """The tensor itself; an error with ``message`` if it has NaN or an infinite number."""
    checked: EagerTensor = check_numerics(x, message)
    return checked


# --- Dtypes -----------------------------------------------------------------------------------------


def _dtype_of(x: Any) -> DType:
    found: DType = x.dtype if isinstance(x, (RaggedTensor, SparseTensor)) else convert_to_tensor(x).dtype
    return found


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``TypeError`` unless the dtype is an integer type."""
    found = _dtype_of(x)
    if not found.is_integer:
        raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {found!r} instead')


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``TypeError`` unless the tensor has this dtype."""
    wanted, found = as_dtype(tf_type), _dtype_of(tensor)
    if found != wanted:
        raise TypeError(f"{message or ''}{tensor} must be of type {wanted!r}; got {found!r}")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The float dtype that all tensors have; a ``ValueError`` if they do not."""
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        found = _dtype_of(tensor)
        if wanted is None:
            wanted = found
        elif found != wanted:
            raise ValueError(f"Tensor conversion: {tensor} must be of type {wanted!r}, not {found!r}")
    wanted = wanted or float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether ``tensor`` is a tensor of numbers."""
    return isinstance(tensor, EagerTensor) and (
        tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex
    )


# --- Shapes -----------------------------------------------------------------------------------------


def _rank_of(x: Any) -> int:
    return len(x.shape) if isinstance(x, (RaggedTensor, SparseTensor)) else convert_to_tensor(x)._array.ndim


def _wanted_rank(rank: Any) -> int:
    array = to_numpy(rank)
    if array.dtype.kind not in "iu":
        raise TypeError("Rank must be integer type.")
    if array.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(array)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``ValueError`` unless the tensor has so many dimensions."""
    wanted, found = _wanted_rank(rank), _rank_of(x)
    if found != wanted:
        raise ValueError(f"{message or ''} Tensor must have rank {wanted}.  Received rank {found}")


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``ValueError`` if the tensor has fewer dimensions."""
    wanted, found = _wanted_rank(rank), _rank_of(x)
    if found < wanted:
        raise ValueError(f"{message or ''} Tensor must have rank at least {wanted}.  Received rank {found}")


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``ValueError`` unless the number of dimensions is one of these."""
    wanted, found = [_wanted_rank(rank) for rank in ranks], _rank_of(x)
    if found not in wanted:
        raise ValueError(f"{message or ''} Tensor must have rank in {wanted}.  Received rank {found}")


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ``ValueError`` unless the tensor is a scalar."""
    made = convert_to_tensor(tensor)
    if made.ndim:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {made.shape}.")


def assert_proper_iterable(values: Any) -> None:
    """Raise a ``TypeError`` for tensors, arrays, text and what is not iterable."""
    if isinstance(values, (str, bytes, np.ndarray, EagerTensor, RaggedTensor, SparseTensor)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise a ``ValueError`` unless the tensors have these shapes; a letter stands for one length."""
    lengths: dict[Any, int] = {}
    for tensor, symbols in shapes.items() if isinstance(shapes, Mapping) else shapes:
        value = tensor.deref() if hasattr(tensor, "deref") else tensor
        found = list(value.shape if hasattr(value, "shape") else convert_to_tensor(value).shape)
        wanted = (
            list(symbols)
            if isinstance(symbols, (str, list, tuple)) or hasattr(symbols, "__iter__")
            else [symbols]
        )
        text = f"{message or ''}. Tensor must have shape {wanted}. Received shape {found}"
        if Ellipsis in wanted[:1] or wanted[:1] == ["*"]:
            wanted = wanted[1:]
            if len(found) < len(wanted):
                raise ValueError(text)
            found = found[len(found) - len(wanted) :]
        elif Ellipsis in wanted[-1:] or wanted[-1:] == ["*"]:
            wanted = wanted[:-1]
            if len(found) < len(wanted):
                raise ValueError(text)
            found = found[: len(wanted)]
        if len(found) != len(wanted):
            raise ValueError(text)
        for length, symbol in zip(found, wanted, strict=True):
            _check_length(length, symbol, lengths, text)


def _check_length(length: Any, symbol: Any, lengths: dict[Any, int], text: str) -> None:
    if symbol is None or symbol == ".":
        return
    wanted = int(symbol) if isinstance(symbol, str) and symbol.isdigit() else symbol
    if isinstance(wanted, int):
        if length != wanted:
            raise ValueError(text)
    elif lengths.setdefault(wanted, length) != length:
        raise ValueError(f"{text}. Symbol {wanted} was {lengths[wanted]} before")


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Does nothing: only ``check_numerics`` checks."""


def disable_check_numerics() -> None:
    """Does nothing."""


__getattr__ = missing("debugging")
