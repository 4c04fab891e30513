"""``tf.TensorArray``: a list of tensors of one dtype, written and read by index.

This module does not know loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import public
from ..dtypes import DType, as_dtype
from ..errors import InvalidArgumentError, OutOfRangeError, invalid
from .joining import concat, split, unstack
from .joining import stack as stacked
from .shapes import TensorShape
from .tensor import EagerTensor, convert_to_tensor, of_array


@public
class TensorArray:
    """A list of tensors of one dtype, written and read by index."""

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        """An array of ``size`` tensors that are not written yet."""
        self._dtype = as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clears = clear_after_read is None or clear_after_read
        self._infers = infer_shape
        self._shape = TensorShape(element_shape)
        self._parts: list[EagerTensor | None] = [None] * int(size or 0)
        self._read: set[int] = set()
        self.handle = handle
        self.flow = of_array(np.float32(0))

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing beyond the end makes the array longer."""
        return self._dynamic

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._shape

    def size(self, name: str | None = None) -> EagerTensor:
        """The number of elements."""
        return of_array(np.int32(len(self._parts)))

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Drop all elements."""
        self._parts.clear()

    def mark_used(self) -> None:
        """Does nothing."""

    def read(self, index: Any, name: str | None = None) -> EagerTensor:
        """The element at ``index``, which can be read once unless ``clear_after_read`` is False."""
        place = int(index)
        if place < 0:
            raise OutOfRangeError(
                None, None, f"Reading from negative indices (index {place}) is not allowed."
            )
        if place >= len(self._parts):
            raise OutOfRangeError(
                None, None, f"Tried to read from index {place} but array size is: {len(self._parts)} "
            )
        part = self._parts[place]
        if part is None and place in self._read:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read index {place} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)",
            )
        part = self._element(place)
        if self._clears:
            self._parts[place] = None
            self._read.add(place)
        return part

    def _element(self, place: int) -> EagerTensor:
        part = self._parts[place]
        if part is not None:
            return part
        if not self._shape.is_fully_defined():
            raise ValueError(
                f"Could not read index {place}, which was not written: the element "
                f"shape {self._shape} is not known"
            )
        dims: Any = self._shape.as_list()
        zero = (
            np.full(dims, b"", object)
            if self._dtype.name == "string"
            else np.zeros(dims, self._dtype.as_numpy_dtype)
        )
        return of_array(zero)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the element at ``index``; the array itself is returned."""
        place = int(index)
        if place < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {place}) is not allowed.")
        if place >= len(self._parts):
            if not self._dynamic:
                raise OutOfRangeError(
                    None,
                    None,
                    f"Tried to write to index {place} but array is not resizeable and "
                    f"size is: {len(self._parts)} ",
                )
            self._parts += [None] * (place + 1 - len(self._parts))
        self._parts[place] = self._checked(value)
        return self

    def _checked(self, value: Any) -> EagerTensor:
        tensor = convert_to_tensor(value, dtype_hint=self._dtype)
        if tensor.dtype != self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write "
                f"dtype {tensor.dtype.name} "
            )
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Incompatible shape for value ({tensor.shape}), expected ({self._shape})")
        if self._infers:
            self._shape = self._shape.merge_with(tensor.shape)
        return tensor

    def stack(self, name: str | None = None) -> EagerTensor:
        """All elements, stacked."""
        if not self._parts:
            dims: Any = self._shape.as_list() if self._shape.is_fully_defined() else []
            return of_array(np.zeros((0, *dims), self._dtype.as_numpy_dtype))
        return stacked([self._element(place) for place in range(len(self._parts))])

    def gather(self, indices: Any, name: str | None = None) -> EagerTensor:
        """The elements at ``indices``, stacked."""
        places = convert_to_tensor(indices)._array.tolist()
        return stacked([self._element(place) for place in places])

    def concat(self, name: str | None = None) -> EagerTensor:
        """All elements, concatenated."""
        return concat([self._element(place) for place in range(len(self._parts))], 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of ``value``."""
        rows = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        if len(rows) > len(self._parts) and not self._dynamic:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {len(self._parts)} "
            )
        self._parts = [self._checked(row) for row in rows]
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of ``value`` at ``indices``."""
        rows = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        for place, row in zip(convert_to_tensor(indices)._array.tolist(), rows, strict=False):
            self.write(place, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Write the parts of ``value`` of these lengths."""
        tensor = convert_to_tensor(value, dtype_hint=self._dtype)
        sizes = convert_to_tensor(lengths)._array
        total = int(sizes.sum())
        if sizes.ndim != 1:
            raise invalid(f"Expected lengths to be a vector, received shape: {list(sizes.shape)} ")
        if not tensor.ndim:
            raise invalid("Expected value to be at least a vector, but received shape: []")
        if total != tensor.shape[0]:
            raise invalid(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and "
                f"value's shape is: {tensor.shape}"
            )
        if not self._dynamic and len(sizes) != len(self._parts):
            raise invalid(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(self._parts)} vs. {len(sizes)}), "
                "and the TensorArray is not marked as dynamically resizeable."
            )
        self._parts = list(split(tensor, sizes))
        self._shape = TensorShape([None, *tensor.shape[1:]]) if self._infers else self._shape
        return self
