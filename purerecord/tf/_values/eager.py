"""TensorFlow's functions about graphs: ``tf.function``, ``tf.cond``, ``tf.py_function`` and so on.

Everything runs eagerly, as plain Python. This module does not know datasets.
"""

from __future__ import annotations

import functools
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
    combined_error,
    invalid,
)
from .nest import apply
from .operators import kernel_name
from .ragged_sparse import RaggedTensor, SparseTensor, wrap
from .seeds import bodies, eager, traced
from .tensor import EagerTensor, Tensor, convert_to_tensor


def executing_eagerly() -> bool:
    """True: everything runs eagerly."""
    return True


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Does nothing: everything runs eagerly."""


def enable_v2_behavior() -> None:
    """Does nothing: this is the behaviour already."""


def disable_v2_behavior() -> None:
    """Does nothing: everything runs eagerly, and there are no ``Session`` and placeholders."""


def function(func: Callable[..., Any] | None = None, *args: Any, **options: Any) -> Any:
    """A decorator, with or without arguments, that leaves the function as plain Python."""
    if func is None or not callable(func):
        return function

    run = traced(func)
    run.python_function = func  # type: ignore[attr-defined]
    run.get_concrete_function = lambda *values, **named: run  # type: ignore[attr-defined]
    return run


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """Does nothing: only graphs name operations."""
    yield f"{name or default_name}/"


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Does nothing: everything runs on the CPU."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Does nothing: everything runs in program order."""
    yield


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def _results(func: Callable[..., Any], values: list[Any], types: Any, convert: Callable[..., Any]) -> Any:
    """The results of ``func(*values)``, each converted to its type. Its errors become TensorFlow's."""
    try:
        with eager():
            result = func(*values)
    except OpError:
        raise
    except Exception as error:
        raise _as_tensorflow(error) from error
    if not isinstance(types, (list, tuple)):
        return None if types is None else convert(result, types)
    parts = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(parts) != len(types):
        raise invalid(f"pyfunc_0 returns {len(parts)} values, but expects to see {len(types)} values.")
    return [convert(part, dtype) for part, dtype in zip(parts, types, strict=True)]


_TENSORFLOW_CLASSES: dict[type[Exception], type[OpError]] = {
    TypeError: InvalidArgumentError,
    ValueError: InvalidArgumentError,
    StopIteration: OutOfRangeError,
    MemoryError: ResourceExhaustedError,
    NotImplementedError: UnimplementedError,
}


def _as_tensorflow(error: Exception) -> Exception:
    """TensorFlow's error for an error of a Python function; if possible, it is of both classes."""
    kind = next(
        (kind for known, kind in _TENSORFLOW_CLASSES.items() if isinstance(error, known)), UnknownError
    )
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, StopIteration):  # an error that is one would end iterators on its way
        return kind(None, None, text)
    try:
        return combined_error(kind, error, text)
    except TypeError:  # the class cannot be combined, or its constructor needs other arguments
        return kind(None, None, text)


def _converted(value: Any, dtype: Any) -> Any:
    """``value`` converted to a tensor of this type."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value
    try:
        return convert_to_tensor(value, as_dtype(dtype))
    except (TypeError, ValueError) as error:
        raise _as_tensorflow(error) from error


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
) -> Any:
    """Calls ``func`` with tensors and converts its results to the dtypes ``Tout``."""
    if func is None:
        return functools.partial(_decorated, call=py_function, Tout=Tout)
    return _results(func, [wrap_value(value) for value in inp or []], Tout, _converted)


def _decorated(func: Callable[..., Any], call: Any, Tout: Any = None) -> Callable[..., Any]:  # noqa: N803
    @functools.wraps(func)
    def run(*values: Any) -> Any:
        return call(func, values, Tout)

    return run


def wrap_value(value: Any) -> Any:
    """``value`` as a dense, ragged or sparse tensor."""
    return value if isinstance(value, Tensor) else wrap(convert_to_tensor(value))


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls ``func`` with arrays; its results must have the dtypes ``Tout``.

    Without ``func``, a decorator of a function that is called so.
    """
    if func is None:
        return functools.partial(_decorated, call=numpy_function, Tout=Tout)
    arrays = [wrap_value(value).numpy() for value in inp or []]
    return _results(func, arrays, Tout, _checked)


py_func = numpy_function


def _checked(result: Any, dtype: Any) -> EagerTensor:
    """``result`` as a tensor. It must have this type already."""
    tensor = convert_to_tensor(result if isinstance(result, (bytes, str)) else np.asarray(result))
    if tensor.dtype != dtype:
        raise invalid(
            f"0-th value returned by pyfunc_0 is {kernel_name(tensor.dtype)}, "
            f"but expects {kernel_name(as_dtype(dtype))}"
        )
    return tensor


def _cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """``true_fn()`` if ``pred`` is true, else ``false_fn()``."""
    for what, branch in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(branch):
            raise TypeError(f"{what} must be callable.")
    if pred is None:
        convert_to_tensor(pred)
    if_true, if_false = bodies(true_fn, false_fn)
    return if_true() if pred else if_false()


def _with_older_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """``cond`` that also takes the parameters of TensorFlow 1."""

    @functools.wraps(function)
    def cond(*args: Any, strict: bool = False, fn1: Any = None, fn2: Any = None, **named: Any) -> Any:
        given = {name: branch for name, branch in (("true_fn", fn1), ("false_fn", fn2)) if branch is not None}
        return function(*args, **named, **given)

    cond.__name__ = "cond"
    return cond


cond = _with_older_names(_cond)


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, **options: Any) -> Any:  # noqa: A002, RUF100
    """Calls ``body`` with its own results while ``cond`` of them is true."""
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{what}' must be callable.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    most = options.get("maximum_iterations")
    left = None if most is None else int(most)
    single = not isinstance(loop_vars, (list, tuple))
    values: Any = (loop_vars,) if single else loop_vars
    made = apply(_loop_value, tuple(values))
    values = type(values)(*made) if hasattr(values, "_fields") else type(values)(made)
    test, step = bodies(cond, body)
    while test(*values) and (left is None or left > 0):
        result = step(*values)
        values = result if isinstance(result, (list, tuple)) else [result]
        left = None if left is None else left - 1
    return values[0] if single else values


def _loop_value(value: Any) -> Any:
    """A number, text or array as a tensor; a list, a ``TensorArray`` and other objects stay as they are."""
    plain = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)
    return wrap_value(value) if isinstance(value, plain) else value
