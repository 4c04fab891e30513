"""The sources of datasets: tensors, ranges, generators, file names, and the lines and records of files.

Each function returns a ``Source``, which holds the arguments of a dataset's constructor. This module does
not know datasets, except that one may be given as a list of file names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...container.looks_like import open_source
from ...storage.paths import is_stream
from ...storage.url import local_path
from .._values.convert import to_array
from .._values.eager import wrap_value
from .._values.nest import apply, flatten, is_nested, pack
from .._values.ragged_sparse import RaggedTensor, SparseTensor
from .._values.rows import RecordTensor
from .._values.shapes import TensorShape, TensorSpec, TypeSpec
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..dtypes import DType, as_dtype, int64, string
from ..errors import UnknownError, invalid, translated
from ..io import matching_files
from ..io.record_files import TFRecordIterator
from .batches import ObjectBatch, row_count, rows_of
from .elements import UNKNOWN
from .iterators import Chain, Interleave, MakeIterator
from .run import Run
from .structure import Spec, as_leaf, has_spec, spec_of, unbatched_spec, with_shape

_STRING_SCALAR = TensorSpec((), string)


class Source(NamedTuple):
    """The arguments of a dataset's constructor."""

    make_iterator: MakeIterator
    spec: Spec
    cardinality: int
    kind: str


def slices(tensors: Any) -> Source:
    """The rows of a structure of tensors."""
    element = _as_tensors(tensors)
    count = row_count(flatten(element))
    spec = apply(lambda leaf: unbatched_spec(_full_spec(leaf)), element)
    return Source(lambda _: rows_of(element), spec, count, "TensorSlice")


def single(tensors: Any) -> Source:
    """One element."""
    element = _as_tensors(tensors)
    # The spec of a dataset may depend on a function, which runs only when the spec is needed.
    lazy = any(map(has_spec, flatten(element)))
    spec = (lambda: apply(_full_spec, element)) if lazy else apply(_full_spec, element)
    return Source(lambda _: iter((element,)), spec, 1, "Tensor")


def _as_tensors(tensors: Any) -> Any:
    if tensors is None or (is_nested(tensors) and not flatten(tensors)):
        raise ValueError("Invalid `element`. `element` should not be empty.")
    return apply(_as_leaf, tensors)


def _as_leaf(value: Any) -> Any:
    if isinstance(value, list) and value and all(map(has_spec, value)):
        return ObjectBatch(tuple(value))
    return as_leaf(value)


def _full_spec(leaf: Any) -> TypeSpec:
    """The spec of a tensor with its whole shape, also if it is sparse."""
    spec = spec_of(leaf)
    return with_shape(spec, leaf.shape) if isinstance(leaf, SparseTensor) else spec


def numbers(args: tuple[Any, ...], output_type: Any) -> Source:
    """Integers, as Python's ``range``."""
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
        )
    bounds = [int(to_array(arg, int64)) for arg in args]
    if len(bounds) == 3 and not bounds[2]:
        raise invalid("step must be a non-zero integer.")
    dtype = as_dtype(output_type)
    values = range(*bounds)
    numpy_dtype = dtype.as_numpy_dtype

    def make(_: Run) -> Iterator[EagerTensor]:
        return (EagerTensor(np.array(value, numpy_dtype)) for value in values)

    return Source(make, TensorSpec((), dtype), len(values), "Range")


def files(pattern: Any) -> Source:
    """The names of the files that match a pattern or several."""
    names = matching_files(pattern)
    if not len(names):
        shown = ", ".join(os.fsdecode(one) for one in to_numpy(pattern).reshape(-1).tolist())
        raise invalid(f"No files matched pattern: {shown}")
    return slices(names)


# --- Generators -------------------------------------------------------------------------------------


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Spec:
    """The specs that the arguments of ``from_generator`` describe."""
    if output_signature is None:
        if output_types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the `output_signature` argument "
                "or the `output_types` argument."
            )
        shapes: Any = apply(lambda _: None, output_types)
        if output_shapes is not None:
            shapes = _shapes_like(output_types, output_shapes)
        return apply(lambda dtype, shape: TensorSpec(shape, dtype), output_types, shapes)
    for name, given in (("output_types", output_types), ("output_shapes", output_shapes)):
        if given is not None:
            raise TypeError(
                f"The `{name}` argument can not be used together with the `output_signature` argument."
            )
    for spec in flatten(output_signature):
        if not isinstance(spec, TypeSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                f"{type(spec)} which is not."
            )
    return output_signature


def _shapes_like(types: Any, shapes: Any) -> Any:
    """``shapes`` in the structure of ``types``. A tuple in the place of a single type is a shape."""
    if not is_nested(types):
        return TensorShape(shapes)
    keys = list(types) if hasattr(types, "keys") else range(len(types))
    parts = {key: _shapes_like(types[key], shapes[key]) for key in keys}
    return parts if hasattr(types, "keys") else type(types)(parts.values())


def generated(generator: Callable[..., Any], signature: Spec, args: Any) -> Source:
    """The elements that a generator yields, checked against ``signature``."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    given = tuple(wrap_value(arg).numpy() for arg in args or ())

    def make(_: Run) -> Iterator[Any]:
        try:
            iterator = iter(generator(*given))
        except Exception as error:
            raise _as_tensorflow(error) from error
        return _CheckedIterator(iterator, signature)

    return Source(make, signature, UNKNOWN, "FlatMap")


def _as_tensorflow(error: Exception) -> Exception:
    """The error that TensorFlow raises for an error in a user's generator."""
    if isinstance(error, (TypeError, ValueError)):
        return invalid(f"{type(error).__name__}: {error}")
    return UnknownError(None, None, f"{type(error).__name__}: {error}")


class _CheckedIterator(Iterator[Any]):
    """The values of an iterator as tensors, each of which must match a signature."""

    def __init__(self, values: Iterator[Any], signature: Spec) -> None:
        self._values = values
        self._signature = signature
        self._specs = flatten(signature)

    def __next__(self) -> Any:
        try:
            value = next(self._values)
        except StopIteration:
            raise
        except Exception as error:
            raise _as_tensorflow(error) from error
        leaves = self._leaves(self._signature, value, value)
        tensors = [self._tensor(leaf, spec) for leaf, spec in zip(leaves, self._specs, strict=True)]
        return pack(self._signature, tensors)

    def _leaves(self, spec: Any, part: Any, whole: Any) -> list[Any]:
        """The parts of a value at the signature's leaves, in their order."""
        if hasattr(spec, "keys"):
            if hasattr(part, "keys") and spec.keys() == part.keys():
                return [leaf for key in sorted(spec) for leaf in self._leaves(spec[key], part[key], whole)]
        elif not isinstance(spec, tuple):
            return [part]
        elif isinstance(part, tuple) and len(part) == len(spec):
            pairs = zip(spec, part, strict=True)
            return [leaf for pair in pairs for leaf in self._leaves(*pair, whole)]
        types = apply(lambda leaf: leaf.dtype, self._signature)
        raise invalid(
            "TypeError: `generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {types}, but the yielded element was {whole}."
        )

    def _tensor(self, leaf: Any, spec: TypeSpec) -> Any:
        if isinstance(leaf, (RaggedTensor, SparseTensor)):
            return leaf
        try:
            array = _converted(leaf, spec.dtype)
        except (TypeError, ValueError) as error:
            raise invalid(
                "TypeError: `generator` yielded an element that did not match the expected structure. The "
                f"expected structure was {self._signature}, but the yielded element was {leaf}."
            ) from error
        if not spec.shape.is_compatible_with(array.shape):
            raise invalid(
                f"TypeError: `generator` yielded an element of shape {array.shape} where an element of shape "
                f"{spec.shape} was expected."
            )
        return EagerTensor(array)


def _converted(value: Any, dtype: DType) -> Any:
    if hasattr(value, "__array__"):
        array = to_array(np.asarray(value))
        if (array.dtype.kind == "O") != (dtype is string):
            raise TypeError(f"{array.dtype} cannot become {dtype.name}")
        return array.astype(dtype.as_numpy_dtype, copy=False)
    return to_array(value, dtype)


# --- Files ------------------------------------------------------------------------------------------


def names_of(filenames: Any) -> Callable[[Run], Iterator[str]]:
    """A function that iterates over file names, given as one name, several, or a dataset of names."""
    if hasattr(filenames, "_iterate"):
        spec = filenames.element_spec
        if is_nested(spec) or spec.dtype != string:
            raise _not_names(spec, "a dataset of ")
        return lambda run: (
            os.fsdecode(name) for part in filenames._iterate(run) for name in part._array.reshape(-1).tolist()
        )
    tensor = to_numpy(_path_texts(filenames)) if not _is_empty(filenames) else np.empty(0, object)
    if tensor.dtype.kind != "O":
        raise _not_names(TensorSpec(tensor.shape, tensor.dtype))
    names = [os.fsdecode(name) for name in tensor.reshape(-1).tolist()]
    return lambda _: iter(names)


def _is_empty(filenames: Any) -> bool:
    return isinstance(filenames, (list, tuple)) and not filenames


def _not_names(spec: Any, what: str = "") -> TypeError:
    return TypeError(
        f"The `filenames` argument must contain `tf.string` elements. Got {what}"
        f"`{getattr(spec, 'dtype', spec)!r}` elements."
    )


def _path_texts(filenames: Any) -> Any:
    if isinstance(filenames, os.PathLike):
        return os.fspath(filenames)
    if isinstance(filenames, (list, tuple)):
        flat: list[Any] = []
        for name in filenames:
            texts = _path_texts(name)
            flat += texts if isinstance(texts, list) else [texts]
        return flat
    return filenames


def file_elements(
    filenames: Any, open_file: Callable[[str], Iterator[EagerTensor]], parallel_reads: Any, kind: str
) -> Source:
    """The contents of files: file after file or, with ``parallel_reads``, interleaved."""
    names = names_of(filenames)
    cycle = None if parallel_reads is None else int(parallel_reads)
    if cycle is not None and cycle != -1 and cycle < 1:
        raise invalid("`cycle_length` must be > 0")

    def make(run: Run) -> Iterator[EagerTensor]:
        if cycle is None or cycle == -1:
            return Chain(names(run), open_file)
        return Interleave(names(run), open_file, cycle, 1, parallel=True)

    return Source(make, _STRING_SCALAR, UNKNOWN, kind)


def records(path: str, compression: str) -> Iterator[EagerTensor]:
    """The records of a file."""
    # Records of a stream are not read ahead: the next one may not be written before this one is handed out.
    tensor = of_array if is_stream(path) else RecordTensor
    return map(tensor, TFRecordIterator(path, compression))


def lines(path: str, compression: str) -> Iterator[EagerTensor]:
    """The lines of a file, without line ends."""
    return map(of_array, _lines(path, compression))


def _lines(path: str, compression: str) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks(path, compression):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line.removesuffix(b"\r") for line in whole)
    if rest:
        yield rest


def fixed_length_records(
    path: str, compression: str, size: int, header: int, footer: int
) -> Iterator[EagerTensor]:
    """The records of ``size`` bytes between the header and the footer of a file."""
    return map(of_array, _fixed_length_records(path, compression, size, header, footer))


def _fixed_length_records(
    path: str, compression: str, size: int, header: int, footer: int
) -> Iterator[bytes]:
    data = b"".join(chunks(path, compression))
    length = len(data) - header - footer
    if length < 0 or length % size:
        raise invalid(
            f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{path}" has '
            f"body length {length} bytes, which is not an exact multiple of the record length ({size} bytes)."
        )
    yield from (data[at : at + size] for at in range(header, header + length, size))


def chunks(path: str, compression: str) -> Iterable[bytes]:
    """The plain bytes of a file."""
    with translated(compressed=bool(compression)):
        opened = open_source(local_path(path), compression)
        try:
            while chunk := opened.read(1 << 18):
                yield chunk
        finally:
            opened.close()
