"""Whole files and file names: ``read_file``, ``write_file``, ``matching_files``.

This module does not know what a file holds.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import gfile
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..errors import invalid
from .tensors import string_array


def read_file(filename: Any, name: str | None = None) -> EagerTensor:
    """All bytes of a file, as a scalar string."""
    with gfile.GFile(_name(filename), "rb") as file:
        return of_array(file.read())


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a whole file; its folder is created if it does not exist."""
    path = _name(filename)
    folder = os.path.dirname(path)
    if folder and not gfile.exists(folder):
        gfile.makedirs(folder)
    with gfile.GFile(path, "wb") as file:
        file.write(string_array(contents)[()])


def matching_files(pattern: Any, name: str | None = None) -> EagerTensor:
    """The names of the files that match a pattern or several, sorted, as a vector of strings."""
    patterns = [os.fsdecode(one) for one in string_array(pattern).reshape(-1).tolist()]
    return convert_to_tensor(np.array([path.encode() for path in sorted(gfile.glob(patterns))], object))


def _name(filename: Any) -> str:
    """A file name given as a path object, a string or a scalar tensor."""
    if isinstance(filename, os.PathLike):
        return os.fsdecode(filename)
    array = string_array(filename)
    if array.ndim:
        shape = ",".join(map(str, array.shape))
        raise invalid(f"Input filename tensor must be scalar, but had shape: [{shape}]")
    return os.fsdecode(array[()])
