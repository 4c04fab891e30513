"""``tf.Variable``: a tensor whose value can be replaced. There are no gradients.

This module does not know training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import public
from ..dtypes import DType, as_dtype
from .convert import Array
from .shapes import TensorShape
from .tensor import EagerTensor, constant, convert_to_tensor

_OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "radd",
    "rsub",
    "rmul",
    "rtruediv",
    "rfloordiv",
    "rmod",
    "rpow",
    "rmatmul",
    "rand",
    "ror",
    "rxor",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
]


def _operator(name: str) -> Callable[[Variable, Any], Any]:
    def apply(self: Variable, other: Any) -> Any:
        value = other.value() if isinstance(other, Variable) else other
        return getattr(self._value, name)(value)

    return apply


@public
class Variable:
    """A tensor whose value can be replaced; there are no gradients."""

    __array_priority__ = 100

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        **options: Any,
    ) -> None:
        """A variable with an initial value, or with that which a function returns."""
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except "
                "when you are not providing a "
                "`variable_def`. You provided neither."
            )
        first = initial_value() if callable(initial_value) else initial_value
        if isinstance(first, Variable):
            first = first.value()
        self._value = convert_to_tensor(first, None if dtype is None else as_dtype(dtype))
        self._shape = self._value.shape if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(self._value.shape):
            raise ValueError(
                "In this `tf.Variable` creation, the initial value's shape "
                f"({self._value.shape}) is not compatible "
                f"with the explicitly supplied `shape` argument ({self._shape})."
            )
        self.name = f"{name or 'Variable'}:0"
        self.trainable = trainable is None or trainable

    # --- Properties -----------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._value.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    def numpy(self) -> Any:
        """A copy of the values as an array."""
        return self._value.numpy()

    def value(self) -> EagerTensor:
        """The value as a tensor."""
        return self._value

    read_value = value
    initialized_value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self._value.__array__(dtype, copy)

    # --- Changes --------------------------------------------------------------------------------

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replace the value; the variable itself is returned."""
        new = convert_to_tensor(value.value() if isinstance(value, Variable) else value, self.dtype)
        if not self._shape.is_compatible_with(new.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The "
                f"variable shape {self._shape}, "
                f"and the assigned value shape {new.shape} are incompatible."
            )
        self._value = constant(new)
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add ``delta`` to the value."""
        return self.assign(self._value + convert_to_tensor(delta, self.dtype), read_value=read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract ``delta`` from the value."""
        return self.assign(self._value - convert_to_tensor(delta, self.dtype), read_value=read_value)

    # --- As a tensor ----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> EagerTensor:
        return self._value[key]

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[EagerTensor]:
        return iter(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __index__(self) -> int:
        return self._value.__index__()

    def __neg__(self) -> EagerTensor:
        return -self._value

    def __abs__(self) -> EagerTensor:
        return abs(self._value)

    def __invert__(self) -> EagerTensor:
        return ~self._value

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def ref(self) -> Any:
        """A hashable reference, equal to others of the same variable."""
        return _Reference(self)

    def __repr__(self) -> str:
        shown = self._value._text(repr)
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}, numpy={shown}>"


class _Reference:
    """A variable compared by identity."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def deref(self) -> Variable:
        """The variable."""
        return self._variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reference) and self._variable is other._variable

    def __hash__(self) -> int:
        return id(self._variable)


for _name in _OPERATORS:
    setattr(Variable, f"__{_name}__", _operator(f"__{_name}__"))
