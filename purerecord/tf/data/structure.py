"""Elements and element specs: nested structures of tensors, and of the type specs that describe them.

The results of functions become elements here, and elements become specs. This module does not know datasets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.nest import apply, flatten, same
from .._values.ragged_sparse import SparseTensor, type_spec_from_value, unwrap
from .._values.rows import Row
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TypeSpec
from .._values.tensor import EagerTensor, Tensor, convert_to_tensor

Element = Any  # a structure of tensors
Spec = Any  # a structure of TypeSpecs


def as_element(value: Any, origin: str = "") -> Element:
    """What a function returned, as a structure of tensors. A list counts as a tuple."""
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
    """``value`` as a dense, sparse or ragged tensor."""
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


def int64_scalar(value: int) -> EagerTensor:
    """``value`` as a scalar tensor of int64."""
    return EagerTensor(np.array(value, np.int64))


def numpy_of(leaf: Any) -> Any:
    """The value that ``as_numpy_iterator`` yields for a tensor."""
    return unwrap(leaf).to_dense() if isinstance(leaf, SparseTensor) else leaf.numpy()


# --- Specs ------------------------------------------------------------------------------------------


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a tensor. Of a sparse tensor only the rank is fixed, since its size varies."""
    if isinstance(leaf, SparseTensor):
        return SparseTensorSpec([None] * len(leaf.shape), leaf.dtype)
    return type_spec_from_value(leaf)


def with_shape(spec: TypeSpec, shape: Any) -> TypeSpec:
    """``spec`` with another shape. Each dimension that a ragged spec gains is ragged."""
    if isinstance(spec, RaggedTensorSpec):
        shape = TensorShape(shape)
        more = 0 if shape.rank is None or spec.shape.rank is None else shape.rank - spec.shape.rank
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + more, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)  # type: ignore[call-arg]


def common_spec(one: Spec, other: Spec) -> Spec:
    """The most specific spec of which both are cases. Raises TypeError if they are incompatible."""
    if not compatible(one, other):
        raise TypeError(f"Incompatible dataset elements:\n  {one!r} vs.   {other!r}")
    return apply(lambda a, b: with_shape(a, a.shape.most_specific_compatible_shape(b.shape)), one, other)


def compatible(one: Spec, other: Spec) -> bool:
    """Whether one dataset can have elements of both specs: equal structure, types, dtypes and ranks."""
    if not same(one, other):
        return False
    pairs = zip(flatten(one), flatten(other), strict=True)
    return all(type(a) is type(b) and a.dtype == b.dtype and _ranks_agree(a, b) for a, b in pairs)


def _ranks_agree(one: TypeSpec, other: TypeSpec) -> bool:
    ranks = {one.shape.rank, other.shape.rank} - {None}
    return len(ranks) < 2
