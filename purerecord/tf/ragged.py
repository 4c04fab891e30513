"""``tf.ragged``: functions that create ragged tensors.

This module does not know Examples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._missing import missing
from ._values.ragged_sparse import RaggedTensor
from ._values.ragged_sparse import ragged_constant as constant
from ._values.tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor

__all__ = ["constant", "stack"]


def stack(values: Any, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """A ragged tensor whose rows are the given tensors."""
    if axis:
        raise NotImplementedError("ragged.stack is in purerecord.tf for axis 0 only")
    rows: list[EagerTensor] = [convert_to_tensor(value) for value in values]
    arrays = arrays_of_one_dtype("Pack", rows)
    lengths = np.array([len(array) for array in arrays], np.int32)
    return RaggedTensor.from_row_lengths(np.concatenate(arrays), lengths)


__getattr__ = missing("ragged")
