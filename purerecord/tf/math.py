"""``tf.math``: functions of each element, and reductions along dimensions.

An operand that is not a tensor takes the dtype of the other. Sums of float32 may differ from TensorFlow's in
the last bits, because they are added in another order. As in TensorFlow, the mean of integers is an integer.
This module does not know datasets.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ._missing import missing
from ._values import operators
from ._values.convert import Array
from ._values.operators import check_kind, normalized_axis
from ._values.tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor, of_array, to_numpy
from .dtypes import as_dtype, int64
from .errors import invalid

__all__ = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "argmin",
    "ceil",
    "clip_by_value",
    "cos",
    "count_nonzero",
    "cumsum",
    "divide",
    "divide_no_nan",
    "equal",
    "exp",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "is_finite",
    "is_inf",
    "is_nan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tanh",
    "truediv",
]

# --- Two operands -----------------------------------------------------------------------------------


def _binary(op: str, function: Callable[..., Any], doc: str) -> Callable[..., EagerTensor]:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = arrays_of_one_dtype(op, [x, y])
        return of_array(operators.binary(op, function, one, two))

    operation.__doc__ = doc
    return operation


add = _binary("AddV2", np.add, "``x + y``.")
subtract = _binary("Sub", np.subtract, "``x - y``.")
multiply = _binary("Mul", np.multiply, "``x * y``.")
floordiv = _binary("FloorDiv", np.floor_divide, "``x // y``.")
floormod = mod = _binary("FloorMod", np.mod, "``x % y``.")
pow = _binary("Pow", np.power, "``x ** y``.")  # noqa: A001 - TensorFlow's name
maximum = _binary("Maximum", np.maximum, "The greater of each two elements.")
minimum = _binary("Minimum", np.minimum, "The lesser of each two elements.")
less = _binary("Less", np.less, "``x < y``.")
less_equal = _binary("LessEqual", np.less_equal, "``x <= y``.")
greater = _binary("Greater", np.greater, "``x > y``.")
greater_equal = _binary("GreaterEqual", np.greater_equal, "``x >= y``.")


def divide(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x / y``: integers become floats."""
    one, two = arrays_of_one_dtype("RealDiv", [x, y])
    return of_array(operators.divide(one, two))


truediv = divide


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x / y``, and 0 where ``y`` is 0."""
    one, two = arrays_of_one_dtype("DivNoNan", [x, y])
    quotient = operators.divide(one, two)
    return of_array(np.asarray(np.where(two == 0, quotient.dtype.type(0), quotient)))


def squared_difference(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """The square of ``x - y``; of complex numbers, that of the absolute value."""
    difference = subtract(x, y)
    return multiply(difference, of_array(np.conj(difference._array)))


def equal(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x == y``, element by element."""
    one, two = arrays_of_one_dtype("Equal", [x, y])
    return of_array(operators.binary("Equal", np.equal, one, two).astype(np.bool_))


def not_equal(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x != y``, element by element."""
    one, two = arrays_of_one_dtype("NotEqual", [x, y])
    return of_array(operators.binary("NotEqual", np.not_equal, one, two).astype(np.bool_))


def _booleans(op: str, number: int, operand: Any) -> Array:
    """The booleans of an operand. A tensor must be of ``tf.bool``; other values are converted."""
    if isinstance(operand, EagerTensor) and not operand.dtype.is_bool:
        raise invalid(
            f"cannot compute {op} as input #{number}(zero-based) was expected to be a bool tensor "
            f"but is a {operators.kernel_name(operand.dtype)} tensor"
        )
    return convert_to_tensor(operand, "bool")._array


def _logical(op: str, function: Callable[..., Any], doc: str) -> Callable[..., EagerTensor]:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = (_booleans(op, number, operand) for number, operand in enumerate((x, y)))
        return of_array(operators.binary("Equal", function, one, two))

    operation.__doc__ = doc
    return operation


logical_and = _logical("LogicalAnd", np.logical_and, "Whether both elements are true.")
logical_or = _logical("LogicalOr", np.logical_or, "Whether at least one element is true.")
logical_xor = _logical("LogicalXor", np.logical_xor, "Whether exactly one element is true.")


# --- One operand ------------------------------------------------------------------------------------


def logical_not(x: Any, name: str | None = None) -> EagerTensor:
    """Whether the element is false."""
    return of_array(np.asarray(np.logical_not(_booleans("LogicalNot", 0, x))))


def _unary(op: str, function: Callable[..., Any], doc: str, kinds: str = "fc") -> Callable[..., EagerTensor]:
    def operation(x: Any, name: str | None = None) -> EagerTensor:
        array = to_numpy(x)
        check_kind(op, array, kinds)
        with np.errstate(all="ignore"):
            return of_array(np.asarray(function(array)).astype(array.dtype, copy=False))

    operation.__doc__ = doc
    return operation


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


abs = _unary("Abs", np.abs, "The absolute value.", "fi")  # noqa: A001 - TensorFlow's name
negative = _unary("Neg", np.negative, "``-x``.", "fic")
sign = _unary("Sign", np.sign, "-1, 0 or 1.", "fic")
square = _unary("Square", np.square, "``x * x``.", "fiuc")
sqrt = _unary("Sqrt", np.sqrt, "The square root.")
rsqrt = _unary("Rsqrt", lambda x: 1 / np.sqrt(x), "The reciprocal of the square root.")
exp = _unary("Exp", np.exp, "The exponential.")
log = _unary("Log", np.log, "The natural logarithm.")
log1p = _unary("Log1p", np.log1p, "The natural logarithm of ``1 + x``.")
sin = _unary("Sin", np.sin, "The sine.")
cos = _unary("Cos", np.cos, "The cosine.")
tanh = _unary("Tanh", np.tanh, "The hyperbolic tangent.")
sigmoid = _unary("Sigmoid", _sigmoid, "``1 / (1 + exp(-x))``.")
floor = _unary("Floor", np.floor, "Rounded down.", "f")
ceil = _unary("Ceil", np.ceil, "Rounded up.", "f")
round = _unary("Round", np.round, "Rounded; halves to the even number.", "fiu")  # noqa: A001


def _test(function: Callable[..., Any], doc: str) -> Callable[..., EagerTensor]:
    def operation(x: Any, name: str | None = None) -> EagerTensor:
        return of_array(np.asarray(function(to_numpy(x))))

    operation.__doc__ = doc
    return operation


is_nan = _test(np.isnan, "Whether the element is NaN.")
is_inf = _test(np.isinf, "Whether the element is infinite.")
is_finite = _test(np.isfinite, "Whether the element is a finite number.")


# --- Along dimensions -------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce; all if ``axis`` is None."""
    if axis is None:
        return tuple(range(ndim))
    places = np.atleast_1d(to_numpy(axis)).astype(np.int64).tolist()
    for place in places:
        if not -ndim <= place < ndim:
            raise invalid(f"Invalid reduction dimension ({place} for input with {ndim} dimension(s)")
    axes = [place % ndim for place in places]
    for place in axes:
        if axes.count(place) > 1:
            raise invalid(f"Invalid reduction arguments: Axes contains duplicate dimension: {place}")
    return tuple(axes)


def _reduction(
    op: str, function: Callable[..., Any], doc: str, kinds: str = "fiuc"
) -> Callable[..., EagerTensor]:
    def operation(
        input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
    ) -> EagerTensor:
        array = _booleans(op, 0, input_tensor) if kinds == "b" else to_numpy(input_tensor)
        check_kind(op, array, kinds)
        axes = _axes(axis, array.ndim)
        with np.errstate(all="ignore"):
            result = np.asarray(function(array, axes, bool(keepdims)))
        return of_array(result.astype(array.dtype, copy=False))

    operation.__doc__ = doc
    return operation


def _sum(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.sum(array, axes, dtype=array.dtype, keepdims=keepdims)


def _prod(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(array, axes, dtype=array.dtype, keepdims=keepdims)


def _mean(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    if array.dtype.kind == "f":
        if not all(array.shape[axis] for axis in axes):
            return np.sum(array, axes, keepdims=keepdims) * np.nan
        return np.mean(array, axes, dtype=array.dtype, keepdims=keepdims)
    count = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    return np.trunc(np.sum(array, axes, dtype=array.dtype, keepdims=keepdims) / max(count, 1))


def _limit(array: Array, greatest: builtins.bool) -> Any:
    if array.dtype.kind == "f":
        return np.inf if greatest else -np.inf
    return np.iinfo(array.dtype).max if greatest else np.iinfo(array.dtype).min


def _max(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.max(array, axes, keepdims=keepdims, initial=_limit(array, False))


def _min(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.min(array, axes, keepdims=keepdims, initial=_limit(array, True))


def _variance(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.var(array, axes, dtype=array.dtype, keepdims=keepdims)


def _std(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.std(array, axes, dtype=array.dtype, keepdims=keepdims)


def _any(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.any(array, axes, keepdims=keepdims)


def _all(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.all(array, axes, keepdims=keepdims)


reduce_sum = _reduction("Sum", _sum, "The sum along dimensions, or of all elements.")
reduce_prod = _reduction("Prod", _prod, "The product along dimensions, or of all elements.")
reduce_mean = _reduction(
    "Mean", _mean, "The mean along dimensions, or of all elements; of integers an integer."
)
reduce_max = _reduction("Max", _max, "The maximum along dimensions, or of all elements.", "fiu")
reduce_min = _reduction("Min", _min, "The minimum along dimensions, or of all elements.", "fiu")
reduce_variance = _reduction("Variance", _variance, "The variance along dimensions, or of all elements.", "f")
reduce_std = _reduction("Std", _std, "The standard deviation along dimensions, or of all elements.", "f")
reduce_any = _reduction("Any", _any, "Whether at least one element is true.", "b")
reduce_all = _reduction("All", _all, "Whether all elements are true.", "b")


def _index_along(
    op: str, function: Callable[..., Any], array: Array, axis: Any, output_type: Any
) -> EagerTensor:
    """The indices that ``function`` finds along a dimension."""
    check_kind(op, array, "fiub")
    dimension = normalized_axis(0 if axis is None else axis, array.ndim)
    if not array.shape[dimension]:
        raise invalid(f"Reduction axis {dimension} is empty in shape {operators.shape_text(array.shape)}")
    indices = np.asarray(function(array, dimension))
    return of_array(indices.astype(as_dtype(output_type).as_numpy_dtype))


def argmax(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The index of the maximum along a dimension; of the first if there are several."""
    return _index_along("ArgMax", np.argmax, to_numpy(input), axis, output_type)


def argmin(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The index of the minimum along a dimension; of the first if there are several."""
    return _index_along("ArgMin", np.argmin, to_numpy(input), axis, output_type)


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> EagerTensor:
    """The cumulative sum along a dimension; ``exclusive`` leaves out the element itself."""
    array = to_numpy(x)
    check_kind("Cumsum", array, "fiuc")
    axis = normalized_axis(axis, array.ndim)
    if reverse:
        array = np.flip(array, axis)
    sums = np.cumsum(array, axis, dtype=array.dtype)
    if exclusive:
        sums = sums - array
    return of_array(np.flip(sums, axis) if reverse else sums)


def count_nonzero(
    input: Any,  # noqa: A002 - TensorFlow's name
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = int64,
    name: str | None = None,
) -> EagerTensor:
    """The number of elements that are not zero or an empty string."""
    array = to_numpy(input)
    counts = np.sum(array.astype(np.bool_), _axes(axis, array.ndim), keepdims=keepdims)
    return of_array(np.asarray(counts).astype(as_dtype(dtype).as_numpy_dtype))


def add_n(inputs: Any, name: str | None = None) -> EagerTensor:
    """The sum of tensors."""
    total, *rest = map(convert_to_tensor, inputs)
    for tensor in rest:
        total = total + tensor
    return total


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> EagerTensor:
    """The elements limited to the range from ``clip_value_min`` to ``clip_value_max``."""
    tensor = convert_to_tensor(t)
    clipped = tensor
    for function, limit in ((minimum, clip_value_max), (maximum, clip_value_min)):
        clipped = function(clipped, limit)
        if clipped.shape != tensor.shape:
            raise ValueError(f"Shapes {tensor.shape} and {clipped.shape} are incompatible")
    return clipped


__getattr__ = missing("math")
