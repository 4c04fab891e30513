"""Small read sizes for tests: with them, the edges of buffers fall everywhere in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

READERS = ("container.frame_stream", "container.small_frames", "recovery.fast_verify")


@cache
def owners(name: str) -> list[ModuleType]:
    """The reading modules that have a constant of that name."""
    names = [f"purerecord.{module}" for module in READERS]
    modules = [import_module(module) for module in names if find_spec(module)]
    return [module for module in modules if name in vars(module)]


@contextmanager
def buffers(**sizes: int) -> Iterator[None]:
    """Sets these constants in the reading modules, for the duration of a block."""
    before = [(module, name, getattr(module, name)) for name in sizes for module in owners(name)]
    assert {name for _, name, _ in before} == set(sizes), "some module reads by each of these sizes"
    try:
        for module, name, _ in before:
            setattr(module, name, sizes[name])
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
