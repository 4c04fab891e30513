"""Elements and element specs: nested structures of tensors, and of the type specs that describe them.

The results of functions become elements here, and elements become specs. Beside tensors, an element may hold
None and *objects with a spec*: datasets and optionals, which have a ``_type_spec``. This module does not know
what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import public
from .._values.nest import apply, flatten, same
from .._values.ragged_sparse import RaggedTensor, SparseTensor, type_spec_from_value, unwrap
from .._values.rows import Row
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TensorSpec, TypeSpec
from .._values.tensor import EagerTensor, Tensor, convert_to_tensor

Element = Any  # a structure of tensors, None, and objects with a spec
Spec = Any  # a structure of TypeSpecs


def as_element(value: Any, origin: str = "") -> Element:
    """What a function returned, as an element. A list counts as a tuple."""
    if isinstance(value, list):
        value = tuple(value)
    try:
        return apply(as_leaf, value)
    except (TypeError, ValueError) as error:
        if origin and not any(hasattr(leaf, "__array__") for leaf in flatten(value)):
            text = f"Unsupported return value from function passed to {origin}: {value}."
            raise TypeError(text) from error
        raise


def as_mapped(value: Any, origin: str) -> Element:
    """``as_element`` that leaves parsed records as they are, alone or in a tuple."""
    if type(value) is Row and value._intact:
        return value.alias()
    if type(value) in (tuple, list) and Row in map(type, value):
        try:
            return tuple(
                [
                    part.alias() if type(part) is Row and part._intact else apply(as_leaf, part)
                    for part in value
                ]
            )
        except (TypeError, ValueError):
            pass  # ``as_element`` words it
    return as_element(value, origin)


def without_rows(element: Element) -> Element:
    """An element as users get it: with plain dictionaries."""
    if type(element) is tuple:
        return tuple([part.copy() if type(part) is Row else part for part in element])
    return element.copy() if type(element) is Row else element


def as_leaf(value: Any) -> Any:
    """``value`` as a dense, sparse or ragged tensor; None and objects with a spec as they are."""
    if isinstance(value, Tensor) or value is None or has_spec(value):
        return value
    return convert_to_tensor(value)


def has_spec(value: Any) -> bool:
    """Whether ``value`` is an object that knows its own spec: a dataset or an optional."""
    return hasattr(type(value), "_type_spec") and not isinstance(value, Tensor)


def int64_scalar(value: int) -> EagerTensor:
    """``value`` as a scalar tensor of int64."""
    return EagerTensor(np.array(value, np.int64))


def numpy_of(leaf: Any) -> Any:
    """The value that ``as_numpy_iterator`` yields for a tensor. Arrays are read-only."""
    if leaf is None:
        return None
    if has_spec(leaf):
        raise TypeError(
            "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
            f"{leaf._type_spec.value_type}"
        )
    value = unwrap(leaf).to_dense() if isinstance(leaf, SparseTensor) else leaf.numpy()
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


# --- Specs ------------------------------------------------------------------------------------------


@public
class NoneTensorSpec(TypeSpec):
    """The spec of None in an element."""

    __slots__ = ()

    def __init__(self) -> None:
        self._arguments = ()

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return type(None)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether this is None, or the spec of it."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def is_tensor_spec(spec: Any) -> bool:
    """Whether this is the spec of a dense, sparse or ragged tensor."""
    return isinstance(spec, (TensorSpec, SparseTensorSpec, RaggedTensorSpec))


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a leaf. Of a sparse tensor only the rank is fixed, since its size varies."""
    if leaf is None:
        return NoneTensorSpec()
    if has_spec(leaf):
        spec: TypeSpec = leaf._type_spec
        return spec
    if isinstance(leaf, SparseTensor):
        return SparseTensorSpec([None] * len(leaf.shape), leaf.dtype)
    return type_spec_from_value(leaf)


def dtype_of(spec: TypeSpec) -> Any:
    """The dtype of a tensor's spec. As in TensorFlow 1, any other spec stands for itself."""
    return spec.dtype if is_tensor_spec(spec) else spec


def shape_of(spec: TypeSpec) -> Any:
    """The shape of a tensor's spec. As in TensorFlow 1, any other spec stands for itself."""
    return spec.shape if is_tensor_spec(spec) else spec


def with_shape(spec: TypeSpec, shape: Any) -> TypeSpec:
    """``spec`` with another shape. Each dimension that a ragged spec gains is ragged."""
    if isinstance(spec, RaggedTensorSpec):
        shape = TensorShape(shape)
        more = 0 if shape.rank is None or spec.shape.rank is None else shape.rank - spec.shape.rank
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + more, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)  # type: ignore[call-arg]


def batched_spec(spec: TypeSpec, length: int | None) -> TypeSpec:
    """The spec of a batch of ``length`` values of ``spec``."""
    if is_tensor_spec(spec):
        return with_shape(spec, TensorShape([length]).concatenate(spec.shape))
    if isinstance(spec, NoneTensorSpec):
        return spec
    batched: TypeSpec = spec._batch(length)  # type: ignore[attr-defined]
    return batched


def unbatched_spec(spec: TypeSpec) -> TypeSpec:
    """The spec of the rows of a value of ``spec``."""
    if is_tensor_spec(spec):
        return with_shape(spec, spec.shape[1:] if spec.shape.rank is not None else None)
    if isinstance(spec, NoneTensorSpec):
        return spec
    row: TypeSpec = spec._unbatch()  # type: ignore[attr-defined]
    return row


def common_spec(one: Spec, other: Spec) -> Spec:
    """The most specific spec of which both are cases. Raises TypeError if they are incompatible."""
    if not compatible(one, other):
        raise TypeError(f"Incompatible dataset elements:\n  {one!r} vs.   {other!r}")
    return apply(_common_leaf, one, other)


def _common_leaf(one: TypeSpec, other: TypeSpec) -> TypeSpec:
    if is_tensor_spec(one):
        return with_shape(one, one.shape.most_specific_compatible_shape(other.shape))
    if isinstance(one, NoneTensorSpec):
        return one
    common: TypeSpec = type(one)(common_spec(one.element_spec, other.element_spec))  # type: ignore[attr-defined, call-arg]
    return common


def compatible(one: Spec, other: Spec) -> bool:
    """Whether one dataset can have elements of both specs: equal structure, types, dtypes and ranks."""
    return same(one, other) and all(map(_compatible_leaves, flatten(one), flatten(other)))


def _compatible_leaves(one: TypeSpec, other: TypeSpec) -> bool:
    if type(one) is not type(other):
        return False
    if is_tensor_spec(one):
        return one.dtype == other.dtype and len({one.shape.rank, other.shape.rank} - {None}) < 2
    if isinstance(one, NoneTensorSpec):
        return True
    return compatible(one.element_spec, other.element_spec)  # type: ignore[attr-defined]


# --- Elements made of specs ---------------------------------------------------------------------------


def placeholder(spec: Spec, length: int) -> Element:
    """An element of ``spec`` for functions of which only the result's spec counts.

    Unknown lengths become ``length``. Numbers become 0 or, if the length is odd, 1.
    """
    return apply(lambda leaf: _placeholder_leaf(leaf, length), spec)


def _placeholder_leaf(spec: TypeSpec, length: int) -> Any:
    if isinstance(spec, NoneTensorSpec):
        return None
    if not is_tensor_spec(spec):
        return spec._placeholder(length)  # type: ignore[attr-defined]
    if spec.shape.dims is None:
        raise ValueError(f"nothing is known about the rank of {spec!r}")
    shape = [length if size is None else size for size in spec.shape.dims]
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor(np.zeros((0, len(shape)), np.int64), _filled([0], spec.dtype, 0), shape)
    if not isinstance(spec, RaggedTensorSpec) or not spec.ragged_rank:
        return _filled(shape, spec.dtype, length % 2)
    rows, splits = shape[0], []
    for size in shape[1 : spec.ragged_rank + 1]:
        splits.append(np.arange(rows + 1, dtype=spec.row_splits_dtype.as_numpy_dtype) * size)
        rows *= size
    value: Any = _filled([rows, *shape[spec.ragged_rank + 1 :]], spec.dtype, length % 2)
    for row_splits in reversed(splits):
        value = RaggedTensor.from_row_splits(value, row_splits)
    return value


def _filled(shape: list[int], dtype: Any, number: int) -> EagerTensor:
    value: Any = b"" if dtype.as_numpy_dtype is object else number
    return EagerTensor(np.full(shape, value, dtype.as_numpy_dtype))
