"""Nested structures: the tuples, named tuples and dictionaries of tensors that datasets are made of.

A leaf is anything else; a list is a leaf too, since it stands for a tensor. Here structures are taken apart
and put together, function results become tensors, and tensors become the specs that describe them. This
module does not know datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._values.ragged_sparse import SparseTensor, type_spec_from_value, unwrap
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TypeSpec
from .._values.tensor import Tensor, convert_to_tensor

Element = Any  # a structure of tensors
Spec = Any  # a structure of TypeSpecs


def is_nested(value: Any) -> bool:
    """Whether ``value`` is a structure, not a leaf."""
    return isinstance(value, (tuple, Mapping))


def flatten(structure: Any) -> list[Any]:
    """The leaves; those of a dictionary in the order of its sorted keys."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A structure like the given one, of other leaves, which come as ``flatten`` gives them."""
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        parts = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        ordered = {key: parts[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    if isinstance(structure, tuple):
        fields = [_packed(part, leaves) for part in structure]
        return type(structure)(*fields) if hasattr(structure, "_fields") else tuple(fields)
    return next(leaves)


def apply(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """``function`` of the leaves of ``first``, and of what the others have in the same places."""
    if not isinstance(first, (tuple, Mapping)):
        return function(first, *others)
    return pack(first, map(function, *map(flatten, (first, *others))))


def same(one: Any, other: Any) -> bool:
    """Whether two structures have their leaves in the same places."""
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, tuple):
        return (
            isinstance(other, tuple)
            and len(one) == len(other)
            and all(same(*pair) for pair in zip(one, other, strict=True))
        )
    return not is_nested(other)


def call(function: Callable[..., Any], element: Element) -> Any:
    """``function`` of an element: a plain tuple is several arguments, anything else is one."""
    return function(*element) if type(element) is tuple else function(element)


def as_element(value: Any, origin: str = "") -> Element:
    """What a function returned, as a structure of tensors; a list is the tuple that it meant to be."""
    if isinstance(value, list):
        value = tuple(value)
    try:
        return apply(as_leaf, value)
    except (TypeError, ValueError) as error:
        if origin and not any(hasattr(leaf, "__array__") for leaf in flatten(value)):
            text = f"Unsupported return value from function passed to {origin}: {value}."
            raise TypeError(text) from error
        raise


def as_leaf(value: Any) -> Any:
    """A tensor, dense, sparse or ragged."""
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


def numpy_of(leaf: Any) -> Any:
    """What ``as_numpy_iterator`` gives for a tensor."""
    return unwrap(leaf).to_dense() if isinstance(leaf, SparseTensor) else leaf.numpy()


# --- Specs ------------------------------------------------------------------------------------------


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a tensor; how large a sparse one is, is not known before."""
    if isinstance(leaf, SparseTensor):
        return SparseTensorSpec([None] * len(leaf.shape), leaf.dtype)
    return type_spec_from_value(leaf)


def with_shape(spec: TypeSpec, shape: Any) -> TypeSpec:
    """``spec`` with another shape; a ragged one has as many more ragged dimensions as it gets dimensions."""
    if isinstance(spec, RaggedTensorSpec):
        shape = TensorShape(shape)
        more = 0 if shape.rank is None or spec.shape.rank is None else shape.rank - spec.shape.rank
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + more, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)  # type: ignore[call-arg]


def common_spec(one: Spec, other: Spec) -> Spec:
    """What two specs have in common; an error if their elements cannot follow one another."""
    if not compatible(one, other):
        raise TypeError(f"Incompatible dataset elements:\n  {one!r} vs.   {other!r}")
    return apply(lambda a, b: with_shape(a, a.shape.most_specific_compatible_shape(b.shape)), one, other)


def compatible(one: Spec, other: Spec) -> bool:
    """Whether elements of both specs can follow one another."""
    if not same(one, other):
        return False
    pairs = zip(flatten(one), flatten(other), strict=True)
    return all(type(a) is type(b) and a.dtype == b.dtype and _equal_rank(a, b) for a, b in pairs)


def _equal_rank(one: TypeSpec, other: TypeSpec) -> bool:
    ranks = {one.shape.rank, other.shape.rank} - {None}
    return len(ranks) < 2
