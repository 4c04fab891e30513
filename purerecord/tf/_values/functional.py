"""Python in the place of graphs: ``tf.function``, ``tf.py_function``, ``tf.print``, ``tf.cond`` and so on.

Everything runs at once and as it is written, which is what TensorFlow calls eager.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    join,
)
from .nest import apply
from .operators import invalid, kernel_name
from .ragged_sparse import RaggedTensor, SparseTensor, wrap
from .tensor import EagerTensor, Tensor, convert_to_tensor


def executing_eagerly() -> bool:
    """True: there is no other way here."""
    return True


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Nothing to do: TensorFlow 1 had to be told."""


def enable_v2_behavior() -> None:
    """Nothing to do: this is how things are."""


def disable_v2_behavior() -> None:
    """Nothing: everything runs eagerly; ``Session`` and placeholders are not here."""


def function(func: Callable[..., Any] | None = None, *args: Any, **options: Any) -> Any:
    """A decorator, with or without arguments: the function simply runs, as it is written."""
    if func is None or not callable(func):
        return function

    @functools.wraps(func)
    def run(*values: Any, **named: Any) -> Any:
        return func(*values, **named)

    run.python_function = func  # type: ignore[attr-defined]
    run.get_concrete_function = lambda *values, **named: run  # type: ignore[attr-defined]
    return run


@contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Does nothing; names of operations are for graphs."""
    yield f"{name}/"


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Does nothing; everything is on the CPU."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Does nothing; everything runs in the order in which it is written."""
    yield


def no_op(name: str | None = None) -> None:
    """Nothing."""


def _results(func: Callable[..., Any], values: list[Any], types: Any, convert: Callable[..., Any]) -> Any:
    """What ``func`` gives for the values, each part converted to its type; its errors as TensorFlow's."""
    try:
        result = func(*values)
    except OpError:
        raise
    except Exception as error:
        raise _raised(error) from error
    if not isinstance(types, (list, tuple)):
        return None if types is None else convert(result, types)
    parts = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(parts) != len(types):
        raise invalid(f"pyfunc_0 returns {len(parts)} values, but expects to see {len(types)} values.")
    return [convert(part, dtype) for part, dtype in zip(parts, types, strict=True)]


_KINDS: dict[type[Exception], type[OpError]] = {
    TypeError: InvalidArgumentError,
    ValueError: InvalidArgumentError,
    StopIteration: OutOfRangeError,
    MemoryError: ResourceExhaustedError,
    NotImplementedError: UnimplementedError,
}


def _raised(error: Exception) -> Exception:
    """TensorFlow's error for one that a Python function raised, which it is as well where that can be."""
    kind = next((kind for known, kind in _KINDS.items() if isinstance(error, known)), UnknownError)
    text = f"{type(error).__name__}: {error}"
    try:
        return join(kind, error, text)
    except TypeError:  # a class that cannot be combined, or that wants other arguments
        return kind(None, None, text)


def _of_type(value: Any, dtype: Any) -> Any:
    """A result as a tensor of this type."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value
    try:
        return convert_to_tensor(value, as_dtype(dtype))
    except (TypeError, ValueError) as error:
        raise _raised(error) from error


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
) -> Any:
    """Calls ``func`` with tensors; its results get the dtypes ``Tout``."""
    if func is None:
        return functools.partial(_called, Tout=Tout)
    return _results(func, [wrap_value(value) for value in inp or []], Tout, _of_type)


def _called(func: Callable[..., Any], Tout: Any = None) -> Callable[..., Any]:  # noqa: N803
    @functools.wraps(func)
    def run(*values: Any) -> Any:
        return py_function(func, values, Tout)

    return run


def wrap_value(value: Any) -> Any:
    """A value as a tensor, whatever kind."""
    return value if isinstance(value, Tensor) else wrap(convert_to_tensor(value))


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls ``func`` with arrays; its results must have the dtypes ``Tout``."""
    if func is None:
        raise ValueError("func argument cannot be None")
    arrays = [wrap_value(value).numpy() for value in inp or []]
    return _results(func, arrays, Tout, _checked)


py_func = numpy_function


def _checked(result: Any, dtype: Any) -> EagerTensor:
    """A result as a tensor, which must be of this type."""
    tensor = convert_to_tensor(result if isinstance(result, (bytes, str)) else np.asarray(result))
    if tensor.dtype != dtype:
        raise invalid(
            f"0-th value returned by pyfunc_0 is {kernel_name(tensor.dtype)}, "
            f"but expects {kernel_name(as_dtype(dtype))}"
        )
    return tensor


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """One of the two functions' results."""
    return true_fn() if pred else false_fn()


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, **options: Any) -> Any:  # noqa: A002, RUF100
    """Calls ``body`` with its own results as long as ``cond`` of them is true."""
    values = type(loop_vars)(apply(wrap_value, tuple(loop_vars)))
    while cond(*values):
        values = body(*values)
    return values


def print(*inputs: Any, **options: Any) -> None:  # noqa: A001 - TensorFlow's name
    """Prints values without what surrounds them, to standard error; ``output_stream`` says where else."""
    stream = options.get("output_stream", sys.stderr)
    summarize = options.get("summarize", 3)
    text = options.get("sep", " ").join(_printed(value, summarize) for value in inputs)
    if len(inputs) == 1 and isinstance(inputs[0], EagerTensor) and not inputs[0].ndim:
        text = _scalar(inputs[0]._array[()])  # a lone string has no quotes
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            builtins.print(text, end=options.get("end", "\n"), file=file)
    else:
        builtins.print(text, end=options.get("end", "\n"), file=stream)


def _printed(value: Any, summarize: int) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_quoted(key)}: {_printed(item, summarize)}" for key, item in value.items())
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(
            _quoted(item) if isinstance(item, str) else _printed(item, summarize) for item in value
        )
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, EagerTensor):
        return _plain(value._array, summarize)
    return str(value)


def _quoted(value: Any) -> str:
    return repr(value)


def _plain(array: Any, summarize: int) -> str:
    """An array as TensorFlow's print op writes it: the first and last few of each dimension."""
    if not array.ndim:
        value = array[()]
        return f'"{_scalar(value)}"' if isinstance(value, bytes) else _scalar(value)
    rows = [_plain(array[i, ...], summarize).replace("\n", "\n ") for i in _shown(len(array), summarize)]
    if summarize >= 0 and len(array) > 2 * summarize:
        rows.insert(summarize, "...")
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " "
    return f"[{gap.join(rows)}]"


def _shown(length: int, summarize: int) -> list[int]:
    if summarize < 0 or length <= 2 * summarize:
        return list(range(length))
    return [*range(summarize), *range(length - summarize, length)]


def _scalar(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.bool_):
        return str(int(value))
    if isinstance(value, np.floating):
        text = f"{value:.9g}" if isinstance(value, np.float32) else repr(float(value))
        return np.format_float_positional(value, trim="-") if "e" not in text else text
    return str(value)
