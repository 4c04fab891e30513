"""``Dataset.fingerprint``: a number that tells datasets apart, also in other processes.

A dataset is what its iterators are made of: functions, with what they refer to, and plain values. The
fingerprint covers all of it: code, constants, defaults, closures, global functions and values, attributes of
objects. It may change without need; then ``snapshot``, which uses it, computes elements again. What cannot
be told apart by its content gets a number that never comes again.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import secrets
import types
from typing import Any

import numpy as np

from .._values.tensor import EagerTensor

# Attributes that say what was computed so far, and nothing about the dataset.
_PASSING = {"_elements", "_iteration", "_spec"}


def fingerprint_of(dataset: Any) -> int:
    """The fingerprint of a dataset: 64 bits."""
    walk = _Walk()
    walk.add(dataset)
    return int.from_bytes(walk.digest.digest()[:8], "little")


class _Walk:
    """Hashes an object and everything that it refers to."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._seen: dict[int, int] = {}  # the number of each object that was met
        self._alive: list[Any] = []  # so that no id is used twice

    def _note(self, *texts: Any) -> None:
        for text in texts:
            data = text if isinstance(text, bytes) else repr(text).encode()
            self.digest.update(len(data).to_bytes(8, "little") + data)

    def add(self, value: Any) -> None:
        """Hash ``value``."""
        if value is None or type(value) in (bool, int, float, complex, str, bytes, type(Ellipsis)):
            self._note(type(value).__name__, value)
            return
        if id(value) in self._seen:
            self._note("again", self._seen[id(value)])
            return
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        self._note(type(value).__module__, type(value).__qualname__)
        self._add_content(value)

    def _add_content(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            self._add_all(value)
        elif isinstance(value, (dict, types.MappingProxyType)):
            self._add_all([part for pair in value.items() for part in pair])
        elif isinstance(value, (set, frozenset)):
            self._add_all(sorted(value, key=repr))
        elif isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, types.MethodType):
            self._add_all([value.__func__, value.__self__])
        elif isinstance(value, functools.partial):
            self._add_all([value.func, value.args, value.keywords])
        elif isinstance(value, types.CodeType):
            self._add_all(
                [value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars]
            )
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
            self._note(getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
        elif isinstance(value, (np.ndarray, np.generic, EagerTensor)):
            self._add_array(np.asarray(getattr(value, "_array", value)))
        else:
            self._add_object(value)

    def _add_all(self, values: Any) -> None:
        self._note(len(values))
        for value in values:
            self.add(value)

    def _add_array(self, array: Any) -> None:
        self._note(
            array.dtype.str,
            array.shape,
            pickle.dumps(array.tolist()) if array.dtype.hasobject else array.tobytes(),
        )

    def _add_function(self, function: types.FunctionType) -> None:
        self.add(function.__code__)
        cells = [cell.cell_contents if _is_filled(cell) else None for cell in function.__closure__ or ()]
        self._add_all([function.__defaults__, function.__kwdefaults__, *cells])
        if not _is_ours(function.__module__):
            names = [name for name in _names_in(function.__code__) if name in function.__globals__]
            self._add_all([(name, function.__globals__[name]) for name in names])

    def _add_object(self, value: Any) -> None:
        kind = type(value)
        if _is_ours(kind.__module__) or "__reduce__" not in kind.__dict__:
            state = {
                name: part for name, part in getattr(value, "__dict__", {}).items() if name not in _PASSING
            }
            slots = [
                name
                for base in kind.__mro__
                for name in getattr(base, "__slots__", ())
                if name != "__weakref__"
            ]
            state |= {name: getattr(value, name) for name in slots if hasattr(value, name)}
            if state or _is_ours(kind.__module__):
                self._add_all([state])
                return
        try:
            self._note(pickle.dumps(value))
        except Exception:  # it can be told apart only from itself
            self._note(secrets.token_bytes(16))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - asking is the test
    except ValueError:
        return False
    return True


def _is_ours(module: str | None) -> bool:
    return (module or "").startswith("purerecord")


def _names_in(code: types.CodeType) -> list[str]:
    """The global names that a function may use, and the functions inside of it."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return sorted({*code.co_names, *(name for part in inner for name in _names_in(part))})
