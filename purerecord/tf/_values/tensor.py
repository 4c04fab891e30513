"""``EagerTensor``, ``tf.constant`` and ``tf.convert_to_tensor``.

As in TensorFlow, a tensor wraps an array and is not a subclass of it: its ``dtype`` is a ``tf.DType``, which
numpy's own functions (``np.save``, ``np.testing``) reject in an array. ``__array__`` converts it wherever
numpy needs an array. Operators follow TensorFlow: the other operand must have the tensor's dtype or be
convertible to it; there is no promotion. A tensor is immutable. Code that only reads the array calls
``to_numpy``.

This module does not know ragged and sparse tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ... import public
from ..dtypes import DType, as_dtype, of_numpy, string
from ..errors import invalid
from . import operators
from .convert import Array, to_array
from .shapes import TensorShape, TensorSpec


@public
class Tensor:
    """The base class of tensors, for ``isinstance`` and annotations."""

    __slots__ = ()

    @classmethod
    def _of_array(cls, array: Array) -> EagerTensor:
        """The tensor of an array. A pickle of a tensor names this public class, not ``EagerTensor``."""
        return EagerTensor(array)


class EagerTensor(Tensor):
    """A dense tensor with its values."""

    __slots__ = ("__weakref__", "_array")
    __array_priority__ = 100  # numpy leaves ``array + tensor`` to the tensor

    def __init__(self, array: Array) -> None:
        """A tensor of ``array``, which must not change any more. Strings are ``bytes`` objects."""
        self._array = array

    # --- Properties -----------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape.of(self._array.shape)

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise an error unless the tensor has this shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}."
            )

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return of_numpy(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def device(self) -> str:
        """The device of the values: always the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    backing_device = device

    def numpy(self) -> Any:
        """A copy of the values as an array; a scalar as a numpy scalar or ``bytes``."""
        return self._array.copy() if self._array.ndim else self._array[()]

    def cpu(self) -> EagerTensor:
        """This tensor."""
        return self

    def ref(self) -> Reference:
        """A hashable reference, equal to others of the same tensor object."""
        return Reference(self)

    experimental_ref = ref

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "op", "graph"):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        hint = ""
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            hint = f"; numpy's arrays have: tensor.numpy().{name}"
        raise AttributeError(f"EagerTensor object has no attribute {name!r}{hint}")

    # --- Conversion to Python and numpy ---------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if dtype is not None and np.dtype(dtype) != self._array.dtype:
            return self._array.astype(dtype)
        if copy:
            return cast(Array, self._array.copy())
        view: Array = self._array.view()
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[EagerTensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (EagerTensor(_element(self._array, row)) for row in range(len(self._array)))

    def __bool__(self) -> bool:
        value = self.numpy()
        return bool(value.size and value) if isinstance(value, np.ndarray) else bool(value)

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        return operator.index(self._scalar())

    def _scalar(self) -> Any:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._array[()]

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __format__(self, spec: str) -> str:
        return cast(str, self.numpy().__format__(spec))

    def __str__(self) -> str:
        return f"tf.Tensor({self._text(str)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._text(repr)}>"

    def _text(self, show: Callable[[Any], str]) -> str:
        if not self._array.ndim:
            value = self._array[()]
            # numpy's repr of a scalar names the type, which the repr of the tensor names already.
            plain = value.item() if show is repr and isinstance(value, np.generic) else value
            return show(plain)
        text = show(self._array)
        return f"\n{text}" if "\n" in text else text

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor._of_array, (self._array,)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        return self

    def __getitem__(self, key: Any) -> EagerTensor:
        return EagerTensor(operators.sliced(self._array, key))

    # --- Operators ------------------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return _equality("Equal", np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return _equality("NotEqual", np.not_equal, self, other)

    def __lt__(self, other: Any) -> EagerTensor:
        return _operate("Less", np.less, self, other)

    def __le__(self, other: Any) -> EagerTensor:
        return _operate("LessEqual", np.less_equal, self, other)

    def __gt__(self, other: Any) -> EagerTensor:
        return _operate("Greater", np.greater, self, other)

    def __ge__(self, other: Any) -> EagerTensor:
        return _operate("GreaterEqual", np.greater_equal, self, other)

    def __add__(self, other: Any) -> EagerTensor:
        return _operate("AddV2", np.add, self, other)

    def __radd__(self, other: Any) -> EagerTensor:
        return _operate("AddV2", np.add, self, other, reverse=True)

    def __sub__(self, other: Any) -> EagerTensor:
        return _operate("Sub", np.subtract, self, other)

    def __rsub__(self, other: Any) -> EagerTensor:
        return _operate("Sub", np.subtract, self, other, reverse=True)

    def __mul__(self, other: Any) -> EagerTensor:
        return _operate("Mul", np.multiply, self, other)

    def __rmul__(self, other: Any) -> EagerTensor:
        return _operate("Mul", np.multiply, self, other, reverse=True)

    def __truediv__(self, other: Any) -> EagerTensor:
        return _divide(self, other)

    def __rtruediv__(self, other: Any) -> EagerTensor:
        return _divide(self, other, reverse=True)

    def __floordiv__(self, other: Any) -> EagerTensor:
        return _operate("FloorDiv", np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> EagerTensor:
        return _operate("FloorDiv", np.floor_divide, self, other, reverse=True)

    def __mod__(self, other: Any) -> EagerTensor:
        return _operate("FloorMod", np.mod, self, other)

    def __rmod__(self, other: Any) -> EagerTensor:
        return _operate("FloorMod", np.mod, self, other, reverse=True)

    def __pow__(self, other: Any) -> EagerTensor:
        return _operate("Pow", np.power, self, other)

    def __rpow__(self, other: Any) -> EagerTensor:
        return _operate("Pow", np.power, self, other, reverse=True)

    def __matmul__(self, other: Any) -> EagerTensor:
        return _operate("MatMul", np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> EagerTensor:
        return _operate("MatMul", np.matmul, self, other, reverse=True)

    def __and__(self, other: Any) -> EagerTensor:
        return _operate("BitwiseAnd", np.bitwise_and, self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> EagerTensor:
        return _operate("BitwiseOr", np.bitwise_or, self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> EagerTensor:
        return _operate("BitwiseXor", np.bitwise_xor, self, other)

    __rxor__ = __xor__

    def __neg__(self) -> EagerTensor:
        return EagerTensor(operators.unary("Neg", np.negative, self._array))

    def __abs__(self) -> EagerTensor:
        return EagerTensor(operators.unary("Abs", np.abs, self._array))

    def __invert__(self) -> EagerTensor:
        return EagerTensor(operators.unary("Invert", np.invert, self._array))


def _element(array: Array, row: int) -> Array:
    """Row ``row``, as an array even if it is a scalar."""
    return array[row, ...]


class Reference:
    """A tensor compared by identity: ``tensor.ref()``."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: EagerTensor) -> None:
        self._tensor = tensor

    def deref(self) -> EagerTensor:
        """The tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"


# --- Operators with any other operand ---------------------------------------------------------------


def _operand(other: Any, dtype: DType, lenient: bool) -> Array:
    """The array of the other operand. A value that is no tensor takes ``dtype``.

    If it cannot, that is an error, or with ``lenient`` it gets its own dtype.
    """
    if isinstance(other, EagerTensor):
        return other._array
    try:
        return _pack(other, dtype)
    except (TypeError, ValueError):
        if not lenient:
            raise
    return _pack(other, None)


def _operate(
    op: str, function: Callable[..., Any], one: EagerTensor, other: Any, reverse: bool = False
) -> EagerTensor:
    if hasattr(other, "nested_row_splits"):
        return NotImplemented  # type: ignore[no-any-return]
    array = _operand(other, one.dtype, lenient=op == "AddV2" and not reverse)
    x, y = (array, one._array) if reverse else (one._array, array)
    return EagerTensor(operators.binary(op, function, x, y))


def _divide(one: EagerTensor, other: Any, reverse: bool = False) -> EagerTensor:
    if hasattr(other, "nested_row_splits"):
        return NotImplemented  # type: ignore[no-any-return]
    array = _operand(other, one.dtype, lenient=not reverse)
    x, y = (array, one._array) if reverse else (one._array, array)
    return EagerTensor(operators.divide(x, y))


def _equality(op: str, function: Callable[..., Any], one: EagerTensor, other: Any) -> Any:
    """Like ``_operate``, but nothing equals None, and incompatible shapes are unequal."""
    if other is None:
        return op == "NotEqual"
    if hasattr(other, "nested_row_splits"):
        return NotImplemented
    array = _operand(other, one.dtype, lenient=False)
    try:
        np.broadcast_shapes(one._array.shape, array.shape)
    except ValueError:
        return EagerTensor(np.array(op == "NotEqual"))
    result = operators.binary(op, function, one._array, array)
    return EagerTensor(result.astype(np.bool_, copy=False))


# --- Conversion -------------------------------------------------------------------------------------


def _pack(value: Any, dtype: DType | None) -> Array:
    """``value`` as an array. Tensors in a list are stacked, and the first of them decides the dtype."""
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        value = value.as_list()
    if isinstance(value, (list, tuple)):
        inner = _first_tensor(value)
        if inner is not None:
            return np.stack([_as_part(part, dtype or inner.dtype) for part in value])
    return to_array(value, dtype)


def _first_tensor(values: Sequence[Any]) -> EagerTensor | None:
    for value in values:
        if isinstance(value, EagerTensor):
            return value
        if isinstance(value, (list, tuple)):
            found = _first_tensor(value)
            if found is not None:
                return found
    return None


def _as_part(value: Any, dtype: DType) -> Array:
    return convert_to_tensor(value, dtype)._array


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> EagerTensor:
    """``value`` as a tensor: a tensor as it is, an array with its dtype, Python numbers as int32 or float32.

    A tensor of another dtype is an error. ``dtype_hint`` is tried first and ignored if it does not fit.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, EagerTensor):
        if wanted not in (None, value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if wanted is None and dtype_hint is not None:
        try:
            return EagerTensor(_pack(value, as_dtype(dtype_hint)))
        except (TypeError, ValueError):
            pass
    return EagerTensor(_pack(value, wanted))


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> EagerTensor:
    """A tensor of ``value``, reshaped to ``shape``; a scalar is repeated."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, EagerTensor) and wanted not in (None, value.dtype):
        raise TypeError(
            f"Expected tensor {value.numpy()} with dtype {wanted!r}, but got dtype {value.dtype!r}."
        )
    made = convert_to_tensor(value, wanted)
    if shape is None:
        return made
    target = TensorShape(shape)
    array = made._array
    if array.size == target.num_elements():
        return EagerTensor(array.reshape(target.as_list()))
    if array.size == 1 and not array.ndim:
        return EagerTensor(np.array(np.broadcast_to(array, tuple(cast(Any, target)))))
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value}) has "
        f"{array.size} elements, but got `shape` {target} with {target.num_elements()} elements)."
    )


def to_numpy(value: Any) -> Array:
    """The array of ``convert_to_tensor(value)``. It is not a copy: do not write to it."""
    return convert_to_tensor(value)._array


def arrays_of_one_dtype(op: str, values: Any) -> list[Array]:
    """The arrays of tensors, which must have one dtype. Other values take that of the first tensor."""
    parts = list(values)
    first = next((part for part in parts if isinstance(part, EagerTensor)), None)
    hint = first.dtype if first is not None else convert_to_tensor(parts[0]).dtype
    arrays = [
        (part if isinstance(part, EagerTensor) else convert_to_tensor(part, hint))._array for part in parts
    ]
    for number, array in enumerate(arrays):
        if array.dtype != arrays[0].dtype:
            wanted, found = (operators.kernel_name(of_numpy(one.dtype)) for one in (arrays[0], array))
            raise invalid(
                f"cannot compute {op} as input #{number}(zero-based) was expected to be a {wanted} tensor "
                f"but is a {found} tensor"
            )
    return arrays


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """A shape, or other whole numbers, given as a tensor, a TensorShape, a list or a number."""
    if isinstance(shape, TensorShape):
        return tuple(to_numpy(shape).tolist())
    if isinstance(shape, Mapping) and not shape:
        return ()
    numbers = to_numpy(shape)
    if numbers.dtype not in (np.int32, np.int64):
        numbers = _as_whole_numbers(numbers, isinstance(shape, (EagerTensor, np.ndarray, np.generic)))
    return tuple(numbers.reshape(-1).tolist())


def axis_number(axis: Any) -> int:
    """An axis that is given as a number or a tensor of one number. Any other is TensorFlow's error."""
    numbers = to_numpy(axis)
    if numbers.dtype.kind not in "iu":
        if numbers.dtype.kind == "f" and not numbers.ndim and not isinstance(axis, EagerTensor):
            raise TypeError(f"Cannot convert {axis} to EagerTensor of dtype int32")
        name = operators.kernel_name(of_numpy(numbers.dtype))
        raise invalid(f"Value for attr 'Taxis' of {name} is not in the list of allowed values: int32, int64")
    if numbers.size != 1:
        raise invalid(f"axis must be one number, not {numbers.tolist()}")
    return int(numbers.reshape(-1)[0])


def _as_whole_numbers(numbers: Array, has_dtype: bool) -> Array:
    """Python's booleans and empty lists as whole numbers. Other values are TensorFlow's errors."""
    if not has_dtype and (numbers.dtype == np.bool_ or not numbers.size):
        return numbers.astype(np.int32)
    if numbers.dtype.kind == "f" and not has_dtype and not numbers.ndim:
        raise TypeError(f"Cannot convert {numbers.tolist()} to EagerTensor of dtype int32")
    name = operators.kernel_name(of_numpy(numbers.dtype))
    raise invalid(f"Value for attr 'Tshape' of {name} is not in the list of allowed values: int32, int64")


def of_array(array: Any) -> EagerTensor:
    """A tensor of an array or scalar that purerecord made. Nothing is copied; strings are ``bytes``."""
    if isinstance(array, np.ndarray):
        return EagerTensor(array)
    if isinstance(array, bytes):
        scalar = np.empty((), object)
        scalar[()] = array
        return EagerTensor(scalar)
    if isinstance(array, str):
        return EagerTensor(to_array(array, string))
    return EagerTensor(np.asarray(array))


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is a dense, ragged or sparse tensor."""
    return isinstance(x, Tensor)


def spec_of(value: EagerTensor) -> TensorSpec:
    """The ``TensorSpec`` of a tensor."""
    return TensorSpec(value.shape, value.dtype)
