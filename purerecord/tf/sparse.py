"""``tf.sparse``: functions of sparse tensors, and conversions to dense ones and back.

This module only gathers the functions of ``_values/sparse_operations`` and ``sparse_dense``.
"""

from __future__ import annotations

from ._missing import missing
from ._values.sparse_dense import (
    add,
    from_dense,
    map_values,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    softmax,
    sparse_dense_matmul,
    to_dense,
    to_indicator,
)
from ._values.sparse_operations import (
    concat,
    expand_dims,
    eye,
    fill_empty_rows,
    reorder,
    reset_shape,
    reshape,
    retain,
    slice,  # noqa: A004
    split,
    transpose,
)
from ._values.sparse_tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]

__getattr__ = missing("sparse")
