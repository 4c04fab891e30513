"""Functions of each element: ``tf.abs``, ``tf.exp``, ``tf.floor``, ``tf.sigmoid``, ``tf.math.is_nan``, ...

The result has the dtype of the operand. This module does not know two operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import of_numpy
from ..errors import invalid
from .arithmetic import booleans, maximum, minimum
from .convert import Array
from .dispatch import each_element, stored_values
from .operators import check_kind, in_float32
from .tensor import EagerTensor, convert_to_tensor, of_array, to_numpy

Operation = Callable[..., Any]


def applied(op: str, function: Callable[[Array], Any], x: Any, kinds: str) -> EagerTensor:
    """``function`` of an array of one of these kinds; the result has its dtype."""
    array = to_numpy(x)
    check_kind(op, array, kinds)
    with np.errstate(all="ignore"):
        return of_array(np.asarray(in_float32(function, array)).astype(array.dtype, copy=False))


def _unary(
    op: str, function: Callable[..., Any], doc: str, kinds: str = "fc", sparse: bool = False
) -> Operation:
    def operation(x: Any, name: str | None = None) -> EagerTensor:
        return applied(op, function, x, kinds)

    operation.__doc__ = doc
    return stored_values(each_element(operation)) if sparse else each_element(operation)


def _scalars(function: Callable[[float], float]) -> Callable[[Array], Any]:
    """A function of Python floats, as one of arrays."""

    def of_arrays(array: Array) -> Array:
        values = [function(value) for value in array.reshape(-1).tolist()]
        return np.array(values, np.float64).reshape(array.shape)

    return of_arrays


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == int(x)):
        return math.inf
    return math.lgamma(x)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(x, 0) if x.dtype.kind == "f" else np.log1p(np.exp(x)))


def _sign(x: Array) -> Array:
    if x.dtype.kind != "c":
        return np.asarray(np.sign(x))
    size = np.abs(x)
    return np.asarray(np.where(size == 0, 0, x / np.where(size == 0, 1, size)))


def _reciprocal(x: Array) -> Array:
    if x.dtype.kind in "iu":
        if not x.all():
            raise invalid("Integer division by zero")
        return np.asarray(np.trunc(1 / x))
    return np.asarray(1 / x)


@stored_values
@each_element
def abs(x: Any, name: str | None = None) -> EagerTensor:  # noqa: A001 - TensorFlow's name
    """The absolute value; that of a complex number is real."""
    array = to_numpy(x)
    check_kind("Abs", array, "fic")
    return of_array(np.asarray(np.abs(array)))


negative = _unary("Neg", np.negative, "``-x``.", "fic", sparse=True)
sign = _unary("Sign", _sign, "-1, 0 or 1.", "fic", sparse=True)
square = _unary("Square", np.square, "``x * x``.", "fiuc", sparse=True)
sqrt = _unary("Sqrt", np.sqrt, "The square root.", sparse=True)
rsqrt = _unary("Rsqrt", lambda x: 1 / np.sqrt(x), "The reciprocal of the square root.")
reciprocal = _unary("Reciprocal", _reciprocal, "``1 / x``.", "fic")
exp = _unary("Exp", np.exp, "The exponential.")
expm1 = _unary("Expm1", np.expm1, "The exponential, without 1.")
log = _unary("Log", np.log, "The natural logarithm.")
log1p = _unary("Log1p", np.log1p, "The natural logarithm of ``1 + x``.")
sin = _unary("Sin", np.sin, "The sine.", sparse=True)
cos = _unary("Cos", np.cos, "The cosine.")
tan = _unary("Tan", np.tan, "The tangent.", sparse=True)
asin = _unary("Asin", np.arcsin, "The inverse of the sine.", sparse=True)
acos = _unary("Acos", np.arccos, "The inverse of the cosine.")
atan = _unary("Atan", np.arctan, "The inverse of the tangent.", sparse=True)
sinh = _unary("Sinh", np.sinh, "The hyperbolic sine.")
cosh = _unary("Cosh", np.cosh, "The hyperbolic cosine.")
tanh = _unary("Tanh", np.tanh, "The hyperbolic tangent.", sparse=True)
asinh = _unary("Asinh", np.arcsinh, "The inverse of the hyperbolic sine.", sparse=True)
acosh = _unary("Acosh", np.arccosh, "The inverse of the hyperbolic cosine.")
atanh = _unary("Atanh", np.arctanh, "The inverse of the hyperbolic tangent.", sparse=True)
sigmoid = _unary("Sigmoid", _sigmoid, "``1 / (1 + exp(-x))``.")
log_sigmoid = _unary("Softplus", lambda x: -_softplus(-x), "The logarithm of the sigmoid.", "f")
erf = _unary("Erf", _scalars(math.erf), "The error function.", "f", sparse=True)
erfc = _unary("Erfc", _scalars(math.erfc), "1 without the error function.", "f")
lgamma = _unary(
    "Lgamma", _scalars(_lgamma), "The logarithm of the absolute value of the gamma function.", "f"
)
floor = _unary("Floor", np.floor, "Rounded down.", "f")
ceil = _unary("Ceil", np.ceil, "Rounded up.", "f")
rint = _unary("Rint", np.rint, "Rounded; halves to the even number.", "f")
round = _unary("Round", np.round, "Rounded; halves to the even number.", "fiu")  # noqa: A001


@each_element
def reciprocal_no_nan(x: Any, name: str | None = None) -> EagerTensor:
    """``1 / x``, and 0 where ``x`` is 0."""
    array = to_numpy(x)
    check_kind("DivNoNan", array, "fc")
    with np.errstate(all="ignore"):
        return of_array(np.asarray(np.where(array == 0, 0, 1 / array)).astype(array.dtype))


@each_element
def softplus(features: Any, name: str | None = None) -> EagerTensor:
    """``log(exp(features) + 1)``."""
    return applied("Softplus", _softplus, features, "f")


@each_element
def softsign(features: Any, name: str | None = None) -> EagerTensor:
    """``features / (abs(features) + 1)``."""
    return applied("Softsign", lambda x: x / (np.abs(x) + 1), features, "f")


@each_element
def logical_not(x: Any, name: str | None = None) -> EagerTensor:
    """Whether the element is false."""
    return of_array(np.asarray(np.logical_not(booleans("LogicalNot", 0, x))))


@each_element
def invert(x: Any, name: str | None = None) -> EagerTensor:
    """The other bits."""
    return applied("Invert", np.invert, x, "iu")


# --- Complex numbers --------------------------------------------------------------------------------


def _part(input: Any, function: Callable[[Array], Any], otherwise: Callable[[Array], Any]) -> EagerTensor:  # noqa: A002
    array = to_numpy(input)
    return of_array(np.asarray((function if array.dtype.kind == "c" else otherwise)(array)))


@each_element
def real(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The real part."""
    array = to_numpy(input)
    if array.dtype.kind not in "fciu":
        raise TypeError(f"input must be a number, but got tensor with dtype {of_numpy(array.dtype)!r}")
    return _part(input, np.real, np.asarray)


@each_element
def imag(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The imaginary part; of real numbers 0."""
    return _part(input, np.imag, np.zeros_like)


@each_element
def angle(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The angle of a complex number; of a negative one pi."""
    return _part(input, np.angle, lambda x: np.where(x < 0, np.pi, 0).astype(x.dtype))


@each_element
def conj(x: Any, name: str | None = None) -> EagerTensor:
    """The complex conjugate."""
    array = to_numpy(x)
    if array.dtype.kind not in "fciu":
        raise TypeError(f"Expected numeric or variant tensor, got dtype {of_numpy(array.dtype)!r}.")
    return of_array(np.asarray(np.conj(array)))


# --- Tests and limits -------------------------------------------------------------------------------


def _test(op: str, function: Callable[..., Any], doc: str) -> Operation:
    def operation(x: Any, name: str | None = None) -> EagerTensor:
        array = to_numpy(x)
        check_kind(op, array, "f")
        return of_array(np.asarray(function(array)))

    operation.__doc__ = doc
    return each_element(operation)


is_nan = _test("IsNan", np.isnan, "Whether the element is NaN.")
is_inf = _test("IsInf", np.isinf, "Whether the element is infinite.")
is_finite = _test("IsFinite", np.isfinite, "Whether the element is a finite number.")


@each_element
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> EagerTensor:
    """The elements limited to the range from ``clip_value_min`` to ``clip_value_max``."""
    tensor = convert_to_tensor(t)
    clipped = tensor
    for function, limit in ((minimum, clip_value_max), (maximum, clip_value_min)):
        clipped = function(clipped, limit)
        if clipped.shape != tensor.shape:
            raise ValueError(f"Shapes {tensor.shape} and {clipped.shape} are incompatible")
    return clipped


@each_element
def check_numerics(tensor: Any, message: str, name: str | None = None) -> EagerTensor:
    """The tensor itself; an error with ``message`` if it has NaN or an infinite number."""
    array = to_numpy(tensor)
    check_kind("CheckNumerics", array, "f")
    found = [what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if bool(test(array).any())]
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
    return of_array(array)
