"""Functions of each two elements: ``tf.add``, ``tf.maximum``, ``tf.equal``, ``tf.logical_and`` and so on.

Operands have one dtype and are broadcast. An operand that is not a tensor takes the dtype of the other. This
module does not know reductions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import invalid
from . import operators
from .convert import Array
from .dispatch import each_pair, for_ragged
from .operators import check_kind, is_kind
from .ragged_operations import each_value
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor, of_array

Operation = Callable[..., Any]


def _pair(x: Any, y: Any) -> tuple[Array, Array]:
    """The arrays of two operands, of which the second takes the dtype of the first if it can."""
    one = convert_to_tensor(x)
    return one._array, convert_to_tensor(y, dtype_hint=one.dtype)._array


def _second_as_first(x: Any, y: Any) -> tuple[Array, Array]:
    """The arrays of two operands, of which the second must have the dtype of the first or get it."""
    one = convert_to_tensor(x)
    return one._array, convert_to_tensor(y, one.dtype)._array


def _binary(op: str, function: Callable[..., Any], doc: str, kinds: str = "", pair: Any = None) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = pair(x, y) if pair else arrays_of_one_dtype(op, [x, y])
        if kinds:
            check_kind(op, one, kinds)
        return of_array(operators.binary(op, function, one, two))

    operation.__doc__ = doc
    return each_pair(operation)


add = _binary("AddV2", np.add, "``x + y``.", pair=_pair)
subtract = _binary("Sub", np.subtract, "``x - y``.")
floordiv = _binary("FloorDiv", np.floor_divide, "``x // y``.")
floormod = mod = _binary("FloorMod", np.mod, "``x % y``.")
pow = _binary("Pow", np.power, "``x ** y``.")  # noqa: A001 - TensorFlow's name
maximum = _binary("Maximum", np.maximum, "The greater of each two elements.")
minimum = _binary("Minimum", np.minimum, "The lesser of each two elements.")
less = _binary("Less", np.less, "``x < y``.")
less_equal = _binary("LessEqual", np.less_equal, "``x <= y``.")
greater = _binary("Greater", np.greater, "``x > y``.")
greater_equal = _binary("GreaterEqual", np.greater_equal, "``x >= y``.")


@each_pair
def atan2(y: Any, x: Any, name: str | None = None) -> EagerTensor:
    """The angle of the point ``(x, y)``."""
    one, two = arrays_of_one_dtype("Atan2", [y, x])
    check_kind("Atan2", one, "f")
    return of_array(operators.binary("Atan2", np.arctan2, one, two))


@each_pair
def nextafter(x1: Any, x2: Any, name: str | None = None) -> EagerTensor:
    """The number next to ``x1`` in the direction of ``x2``."""
    one, two = arrays_of_one_dtype("NextAfter", [x1, x2])
    check_kind("NextAfter", one, "f")
    return of_array(operators.binary("NextAfter", np.nextafter, one, two))


@each_pair
def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """``x * y``."""
    if isinstance(x, SparseTensor):
        return x * y
    if isinstance(y, SparseTensor):
        return y * x
    one, two = arrays_of_one_dtype("Mul", [x, y])
    check_kind("Mul", one, "fiuc")
    return of_array(operators.binary("Mul", np.multiply, one, two))


@each_pair
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """``x`` multiplied by a scalar."""
    tensor = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, tensor.dtype)
    if factor.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    return multiply(factor, tensor)


@each_pair
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y``: integers become floats."""
    if isinstance(x, SparseTensor):
        return x / y
    if not isinstance(x, EagerTensor) and isinstance(y, EagerTensor):
        x = convert_to_tensor(x, y.dtype)
    return of_array(operators.divide(*_pair(x, y)))


@each_pair
def truediv(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x / y``: integers become floats."""
    return of_array(operators.divide(*_pair(x, y)))


realdiv = _binary("RealDiv", np.true_divide, "``x / y`` of floats.", "fc")


@each_pair
def div(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x / y``, of integers rounded down, in TensorFlow 1."""
    one, two = _second_as_first(x, y)
    if is_kind(one.dtype, "iu"):
        return of_array(operators.binary("FloorDiv", np.floor_divide, one, two))
    return of_array(operators.binary("RealDiv", np.true_divide, one, two))


def _without_zeros(x: Array, y: Array, result: Array) -> EagerTensor:
    """The result, and 0 where ``x`` is 0."""
    return of_array(np.asarray(np.where(x == 0, result.dtype.type(0), result)))


@each_pair
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x / y``, and 0 where ``y`` is 0."""
    one, two = _pair(x, y)
    quotient = operators.divide(one, two)
    return of_array(np.asarray(np.where(two == 0, quotient.dtype.type(0), quotient)))


@each_pair
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x * y``, and 0 where ``y`` is 0, also if ``x`` is infinite or NaN."""
    one, two = _second_as_first(x, y)
    check_kind("MulNoNan", one, "fc")
    product = operators.binary("Mul", np.multiply, one, two)
    return of_array(np.asarray(np.where(two == 0, product.dtype.type(0), product)))


def _of_zero(op: str, function: Callable[[Array, Array], Any], doc: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = arrays_of_one_dtype(op, [x, y])
        check_kind(op, one, "fc")
        return _without_zeros(one, two, operators.binary(op, function, one, two))

    operation.__doc__ = doc
    return each_pair(operation)


xdivy = _of_zero("Xdivy", np.true_divide, "``x / y``, and 0 where ``x`` is 0.")
xlogy = _of_zero("Xlogy", lambda x, y: x * np.log(y), "``x * log(y)``, and 0 where ``x`` is 0.")
xlog1py = _of_zero("Xlog1py", lambda x, y: x * np.log1p(y), "``x * log1p(y)``, and 0 where ``x`` is 0.")


def _truncated(op: str, function: Callable[[Array, Array], Any], doc: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = arrays_of_one_dtype(op, [x, y])
        check_kind(op, one, "fiu")
        if is_kind(one.dtype, "iu") and not two.all():
            raise invalid("Integer division by zero")
        return of_array(operators.binary(op, function, one, two).astype(one.dtype, copy=False))

    operation.__doc__ = doc
    return each_pair(operation)


def _quotient(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        signs = np.sign(x.astype(np.float64)) * np.sign(y.astype(np.float64))
        return np.asarray(np.where(signs < 0, -(-x // y) if x.dtype.kind == "i" else x // y, x // y))
    return np.asarray(np.trunc(x / y))


truncatediv = _truncated("TruncateDiv", _quotient, "``x / y`` rounded towards zero.")
truncatemod = _truncated("TruncateMod", np.fmod, "The remainder of ``x / y``, with the sign of ``x``.")


@each_pair
def squared_difference(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """The square of ``x - y``; of complex numbers, that of the absolute value."""
    difference = subtract(x, y)
    check_kind("SquaredDifference", difference._array, "fic")
    return of_array(
        operators.binary("Mul", np.multiply, difference._array, np.asarray(np.conj(difference._array)))
    )


@each_pair
def equal(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x == y``, element by element."""
    one, two = arrays_of_one_dtype("Equal", [x, y])
    return of_array(operators.binary("Equal", np.equal, one, two).astype(np.bool_))


@each_pair
def not_equal(x: Any, y: Any, name: str | None = None) -> EagerTensor:
    """``x != y``, element by element."""
    one, two = arrays_of_one_dtype("NotEqual", [x, y])
    return of_array(operators.binary("NotEqual", np.not_equal, one, two).astype(np.bool_))


def booleans(op: str, number: int, operand: Any) -> Array:
    """The booleans of an operand. A tensor must be of ``tf.bool``; other values are converted."""
    if isinstance(operand, EagerTensor) and not operand.dtype.is_bool:
        raise invalid(
            f"cannot compute {op} as input #{number}(zero-based) was expected to be a bool tensor "
            f"but is a {operators.kernel_name(operand.dtype)} tensor"
        )
    return convert_to_tensor(operand, "bool")._array


def _logical(op: str, function: Callable[..., Any], doc: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = (booleans(op, number, operand) for number, operand in enumerate((x, y)))
        return of_array(operators.binary("Equal", function, one, two))

    operation.__doc__ = doc
    return each_pair(operation)


logical_and = _logical("LogicalAnd", np.logical_and, "Whether both elements are true.")
logical_or = _logical("LogicalOr", np.logical_or, "Whether at least one element is true.")
logical_xor = _logical("LogicalXor", np.logical_xor, "Whether exactly one element is true.")


@each_pair
def complex(real: Any, imag: Any, name: str | None = None) -> EagerTensor:  # noqa: A001
    """Complex numbers of real and imaginary parts."""
    one, two = convert_to_tensor(real)._array, convert_to_tensor(imag)._array
    kinds = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}
    if one.dtype != two.dtype or one.dtype not in kinds:
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {one.dtype} {two.dtype}. They must be "
            "consistent, and one of [tf.float32, tf.float64]"
        )
    operators.check_shapes("Complex", one, two)
    return of_array(np.asarray(one + 1j * two).astype(kinds[one.dtype]))


@for_ragged(each_value)
def add_n(inputs: Any, name: str | None = None) -> EagerTensor:
    """The sum of tensors."""
    parts = list(inputs)
    if not parts:
        raise ValueError("inputs must be an iterable of at least one Tensor with the same dtype and shape.")
    arrays = arrays_of_one_dtype("AddN", parts)
    if len(parts) == 1:
        return of_array(arrays[0])
    check_kind("AddN", arrays[0], "fiuc")
    for array in arrays:
        if array.shape != arrays[0].shape:
            shapes = " vs. ".join(map(operators.shape_text, (arrays[0].shape, array.shape)))
            raise invalid(f"Inputs to operation AddN must have the same size and shape: {shapes}")
    total = arrays[0]
    for array in arrays[1:]:
        total = operators.binary("AddV2", np.add, total, array)
    return of_array(total)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> EagerTensor:
    """The sum of tensors."""
    made: EagerTensor = add_n(inputs)
    return made


# --- Bits -------------------------------------------------------------------------------------------


def _bits(op: str, function: Callable[..., Any], doc: str) -> Operation:
    def operation(x: Any, y: Any, name: str | None = None) -> EagerTensor:
        one, two = arrays_of_one_dtype(op, [x, y])
        check_kind(op, one, "iu")
        return of_array(operators.binary("Mul", function, one, two))

    operation.__doc__ = doc
    return each_pair(operation)


def _shift_right(x: Array, y: Array) -> Array:
    return np.asarray(np.right_shift(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype)))


def _shift_left(x: Array, y: Array) -> Array:
    return np.asarray(np.left_shift(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype)))


bitwise_and = _bits("BitwiseAnd", np.bitwise_and, "The bits that are set in both.")
bitwise_or = _bits("BitwiseOr", np.bitwise_or, "The bits that are set in at least one.")
bitwise_xor = _bits("BitwiseXor", np.bitwise_xor, "The bits that are set in exactly one.")
left_shift = _bits("LeftShift", _shift_left, "The bits moved to the left.")
right_shift = _bits("RightShift", _shift_right, "The bits moved to the right.")
