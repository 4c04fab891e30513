"""``tf.strings.format``: a template with tensors in it.

This module does not know how elements are written; ``printing`` does.
"""

from __future__ import annotations

from typing import Any

from .._values.printing import tensor_text
from .._values.ragged_sparse import RaggedTensor
from .._values.tensor import EagerTensor, Tensor, convert_to_tensor, of_array


def format(  # noqa: A001 - TensorFlow's name
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> EagerTensor:
    """``template`` with the tensors ``inputs`` in the places of the placeholders."""
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    parts = template.split(placeholder)
    if len(inputs) != len(parts) - 1:
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has {len(inputs)}. Please "
            "ensure the number of placeholders in template matches inputs length."
        )
    texts = [_text(value, summarize) for value in inputs]
    pieces = [piece for pair in zip(parts, texts, strict=False) for piece in pair]
    return of_array("".join([*pieces, parts[-1]]))


def _text(value: Any, summarize: int) -> str:
    if isinstance(value, RaggedTensor):
        return _ragged_text(value.to_list(), summarize)
    return tensor_text(convert_to_tensor(value), summarize)


def _ragged_text(value: Any, summarize: int) -> str:
    if isinstance(value, list):
        rows = [_ragged_text(row, summarize) for row in value]
        if 0 < 2 * summarize < len(rows):
            rows[summarize:-summarize] = ["..."]
        return f"[{', '.join(rows)}]"
    if isinstance(value, bytes):
        text = value.decode(errors="replace").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{text}'"
    return tensor_text(convert_to_tensor(value), summarize)
