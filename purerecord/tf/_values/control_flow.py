"""Choices and loops as functions: ``tf.case``, ``tf.switch_case``, ``tf.scan``, ``tf.foldl``, ``tf.foldr``.

Everything runs eagerly, as plain Python. This module does not know datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import invalid
from .eager import wrap_value
from .joining import stack
from .list_nest import apply, flatten
from .map_fn import map_fn
from .seeds import bodies
from .tensor import EagerTensor


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition is true, or of ``default``."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("'pred_fn_pairs' must be a list, tuple, or dict.")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        predicate, function = pair
        if isinstance(predicate, EagerTensor):
            if not predicate.dtype.is_bool:
                raise TypeError(f"pred must be Tensor of type bool: {predicate}")
        else:
            raise TypeError(f"pred must be a Tensor, got: {predicate}")
        if not callable(function):
            raise TypeError(f"fn for pred {predicate} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("Argument 'default' must be callable.")
    if not pairs:
        raise ValueError("'pred_fn_pairs' must not be empty")
    chosen = [number for number, (predicate, _) in enumerate(pairs) if bool(predicate)]
    if not chosen and default is None:
        raise invalid("None of the conditions evaluated as True.")
    functions = [function for _, function in pairs] + ([default] if default else [])
    return bodies(*functions)[chosen[0] if chosen else -1]()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case"
) -> Any:
    """The result of the function with this number, or of ``default``, or else of the last one."""
    if not isinstance(branch_index, EagerTensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if isinstance(branch_fns, Mapping):
        numbered = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        paired = all(isinstance(part, tuple) for part in branch_fns)
        numbered = list(branch_fns if paired and branch_fns else enumerate(branch_fns))
    else:
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict. Received {branch_fns}.")
    if not numbered:
        raise ValueError("Argument 'branch_fns' must provide at least one item.")
    for number, function in numbered:
        if not isinstance(number, int):
            raise TypeError(f"key must be a Python `int`, got {number!r}")
        if not callable(function):
            raise TypeError(f"fn for key {number} must be callable.")
    if sorted(number for number, _ in numbered) != list(range(len(numbered))):
        raise ValueError(
            "branch indices (keys) must form contiguous range of [0 to "
            f"{len(numbered)}) but found {dict(numbered)}"
        )
    wanted = int(branch_index)
    known = dict(numbered)
    functions = [*known.values(), default] if default else [*known.values()]
    numbers = list(known)
    if wanted in known:
        place = numbers.index(wanted)
    else:
        place = len(functions) - 1 if default else numbers.index(max(numbers))
    return bodies(*functions)[place]()


def _rows(elems: Any) -> list[Any]:
    leaves = [wrap_value(leaf) for leaf in flatten(elems)]
    if not leaves:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors")
    for leaf in leaves:
        if not len(leaf.shape):
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = leaves[0].shape[0]
    for leaf in leaves:
        if leaf.shape[0] != count:
            raise ValueError(f"Dimensions {count} and {leaf.shape[0]} are not compatible")
    wrapped = apply(wrap_value, elems)
    return [apply(lambda leaf, row=row: leaf[row], wrapped) for row in range(count or 0)]


def _fold(fn: Callable[[Any, Any], Any], rows: list[Any], initializer: Any) -> tuple[list[Any], Any]:
    """The states after each row, and the last one."""
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable")
    (step,) = bodies(fn)
    states = []
    state = initializer if initializer is None else apply(wrap_value, initializer)
    for row in rows:
        state = row if state is None else step(state, row)
        states.append(state)
    if not states and state is None:
        raise invalid("there are no elements and no initializer")
    return states, state


def foldl(  # noqa: PLR0917 - TensorFlow's signature
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last state of ``state = fn(state, row)`` from the first row to the last."""
    return _fold(fn, _rows(elems), initializer)[1]


def foldr(  # noqa: PLR0917 - TensorFlow's signature
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last state of ``state = fn(state, row)`` from the last row to the first."""
    return _fold(fn, _rows(elems)[::-1], initializer)[1]


def scan(  # noqa: PLR0917 - TensorFlow's signature
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All states of ``state = fn(state, row)``, stacked."""
    rows = _rows(elems)
    states, last = _fold(fn, rows[::-1] if reverse else rows, initializer)
    if not states:
        return apply(lambda leaf: stack([leaf])[:0], last)
    return apply(lambda *leaves: stack(list(leaves)), *(states[::-1] if reverse else states))


def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """The stacked results of ``fn`` for each row, of any types."""
    first = fn(_rows(elems)[0])
    return map_fn(fn, elems, fn_output_signature=apply(lambda leaf: wrap_value(leaf).dtype, first))
