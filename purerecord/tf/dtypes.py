"""``tf.DType``, the dtypes such as ``tf.int64``, and ``tf.as_dtype``.

Each dtype is one object, so ``is`` works. It equals every value that ``as_dtype`` converts to it. Unlike in
TensorFlow, numpy accepts a ``DType`` for a dtype. This module does not know tensors.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType:
    """The type of a tensor's elements: ``tf.int64``, ``tf.string`` and so on."""

    __slots__ = ("_code", "_name", "_numpy")

    def __init__(self, name: str, code: int, numpy: Any) -> None:
        self._name = name
        self._code = code
        self._numpy = numpy

    @property
    def name(self) -> str:
        """The name, such as "int64"."""
        return self._name

    @property
    def as_numpy_dtype(self) -> Any:
        """The scalar type of numpy; ``object`` for strings."""
        if self._numpy is None:
            self._numpy = _from_ml_dtypes(self._name)
        return self._numpy

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of numpy. numpy uses this attribute, so ``np.zeros(3, tf.int64)`` works."""
        found: np.dtype[Any] = np.dtype(self.as_numpy_dtype)
        return found

    __numpy_dtype__ = dtype  # the attribute that newer versions of numpy use

    @property
    def as_datatype_enum(self) -> int:
        """The number of the type in TensorFlow's protobuf messages."""
        return self._code

    @property
    def base_dtype(self) -> DType:
        """This dtype: there are no reference types here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """For a complex type that of its real and imaginary parts, else this dtype."""
        return {"complex64": float32, "complex128": float64}.get(self._name, self)

    @property
    def size(self) -> int:
        """The size of one element in bytes; 0 for strings."""
        return 0 if self._name == "string" else self.dtype.itemsize

    @property
    def is_bool(self) -> builtins.bool:
        """Whether this is ``tf.bool``."""
        return self._name == "bool"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is an integer type, signed or unsigned."""
        return self._name.startswith(("int", "uint"))

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned integer type."""
        return self._name.startswith("uint")

    @property
    def is_floating(self) -> builtins.bool:
        """Whether this is a floating-point type."""
        return self._name in ("float16", "float32", "float64", "bfloat16")

    @property
    def is_complex(self) -> builtins.bool:
        """Whether this is a complex type."""
        return self._name.startswith("complex")

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """True: numpy has an equivalent of every dtype here."""
        return True

    @property
    def min(self) -> Any:
        """The least finite number of this type."""
        return self._limit("minimum", "min")

    @property
    def max(self) -> Any:
        """The greatest finite number of this type."""
        return self._limit("maximum", "max")

    def _limit(self, what: str, attribute: str) -> Any:
        if self.is_integer:
            return getattr(np.iinfo(self.dtype), attribute)
        if self._name in ("float16", "float32", "float64"):
            return getattr(np.finfo(self.dtype), attribute)
        if self._name == "bfloat16":
            greatest = float.fromhex("0x1.fep127")
            return self.as_numpy_dtype(greatest if attribute == "max" else -greatest)
        raise TypeError(f"Cannot find {what} value of {self} with type {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """``(min, max)`` for integers, ``(0, 1)`` for other types."""
        return (self.min, self.max) if self.is_integer else (0, 1)

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether ``other`` is the same dtype."""
        return self is as_dtype(other)

    def __eq__(self, other: object) -> builtins.bool:
        if other is None or isinstance(other, builtins.bool):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._code)

    def __int__(self) -> int:
        return self._code

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self._name,)


def _from_ml_dtypes(name: str) -> Any:
    """A scalar type of the package ml_dtypes, which numpy does not have itself."""
    try:
        import ml_dtypes  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError(f"tf.{name} needs the package ml_dtypes: pip install ml_dtypes") from None
    return getattr(ml_dtypes, name)


float16 = half = DType("float16", 19, np.float16)
float32 = DType("float32", 1, np.float32)
float64 = double = DType("float64", 2, np.float64)
bfloat16 = DType("bfloat16", 14, None)
int8 = DType("int8", 6, np.int8)
int16 = DType("int16", 5, np.int16)
int32 = DType("int32", 3, np.int32)
int64 = DType("int64", 9, np.int64)
uint8 = DType("uint8", 4, np.uint8)
uint16 = DType("uint16", 17, np.uint16)
uint32 = DType("uint32", 22, np.uint32)
uint64 = DType("uint64", 23, np.uint64)
complex64 = DType("complex64", 8, np.complex64)
complex128 = DType("complex128", 18, np.complex128)
bool = DType("bool", 10, np.bool_)  # noqa: A001 - TensorFlow's name
string = DType("string", 7, object)

_ALL = (
    float16,
    float32,
    float64,
    bfloat16,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    complex64,
    complex128,
    bool,
    string,
)
_BY_NAME: dict[Any, DType] = {dtype.name: dtype for dtype in _ALL}
_BY_NAME |= {"half": float16, "float": float32, "double": float64}
_BY_NUMBER = {dtype.as_datatype_enum: dtype for dtype in _ALL}
_BY_NUMPY: dict[Any, DType] = {np.dtype(dtype._numpy): dtype for dtype in _ALL if dtype is not bfloat16}
_BY_PYTHON: dict[Any, DType] = {float: float32, builtins.bool: bool, object: string}


def as_dtype(type_value: Any) -> DType:
    """The dtype for a ``DType``, a name, a number, or a type of numpy."""
    if isinstance(type_value, DType):
        return type_value
    try:
        found = _BY_PYTHON.get(type_value) or _BY_NAME.get(type_value) or _BY_NUMBER.get(type_value)
        if found is None and (isinstance(type_value, np.dtype) or _is_scalar_type(type_value)):
            return of_numpy(np.dtype(type_value))
    except TypeError:  # not hashable, or numpy does not know it
        found = None
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return found


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """The ``DType`` of arrays of ``dtype``."""
    found = _BY_NUMPY.get(dtype)
    if found is None and dtype.kind in "SUT":
        return string
    if found is None and dtype.name in _BY_NAME:  # another byte order, or a type of ml_dtypes
        found = _BY_NAME[dtype.name]
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType.")
    return found


def _is_scalar_type(value: Any) -> builtins.bool:
    return isinstance(value, type) and (issubclass(value, np.generic) or value.__module__ == "ml_dtypes")


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """``x`` with another dtype."""
    from ._values.casting import cast as cast_tensor  # noqa: PLC0415 - it imports this module

    return cast_tensor(x, dtype, name)
