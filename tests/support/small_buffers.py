"""The sizes in which the readers read, to be made small in tests: then edges fall everywhere."""

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
    """The modules of the package that read by a size of that name."""
    names = [f"purerecord.{module}" for module in READERS]
    modules = [import_module(module) for module in names if find_spec(module)]
    return [module for module in modules if name in vars(module)]


@contextmanager
def buffers(**sizes: int) -> Iterator[None]:
    """Has the readers read in such pieces."""
    before = [(module, name, getattr(module, name)) for name in sizes for module in owners(name)]
    assert {name for _, name, _ in before} == set(sizes), "some module reads by each of these sizes"
    try:
        for module, name, _ in before:
            setattr(module, name, sizes[name])
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
