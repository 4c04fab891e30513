"""``Dataset.save``, ``load`` and ``snapshot``: datasets in folders, in TensorFlow's format.

A folder holds ``dataset_spec.pb`` (the element spec), ``snapshot.metadata`` and, in a folder for each time
that it was written, TFRecord files. Each record is a component of an element: a TensorProto. A ragged tensor
is a TensorProto of variants, which hold its row splits and values; a sparse tensor is one of three.
TensorFlow reads these folders, and its folders are read here.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import DecodeError, SchemaError
from ...payload import tensor as core
from ...payload.varint import read_varint, varint
from ...payload.wire import delimited, fields
from .._values.nest import flatten, pack
from .._values.operators import kernel_name
from .._values.ragged_sparse import RaggedTensor, SparseTensor
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TypeSpec
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import as_dtype, int64
from ..errors import DataLossError, NotFoundError, combined_error, invalid
from ..io.record_files import TFRecordIterator, compression_of
from ..io.writer import TFRecordWriter
from .batches import stacked
from .fingerprints import fingerprint_of
from .iterators import Failure, events, resumable
from .run import Run
from .spec_messages import decoded_spec, encoded_spec
from .structure import Element, NoneTensorSpec, Spec

_SPEC_FILE = "dataset_spec.pb"
_METADATA_FILE = "snapshot.metadata"
_VARIANT = 21
_SECONDS_BETWEEN_TRIES = 5


# --- Writing ----------------------------------------------------------------------------------------


def save(
    path: Any,
    elements: Iterator[Element],
    spec: Spec,
    compression: Any,
    shard_of: Callable[[Element], Any] | None,
) -> None:
    """Store all elements in a folder. What it held before is kept, but not read any more."""
    folder = os.fspath(path)
    os.makedirs(folder, exist_ok=True)
    message = encoded_spec(spec)
    with open(os.path.join(folder, _SPEC_FILE), "wb") as file:
        file.write(message)
    with SavedRun(folder, spec, compression, shard_of) as saved:
        for element in elements:
            saved.write(element)
        saved.finish()


class SavedRun:
    """Writes elements into a new folder inside of ``folder``. It counts only after ``finish``."""

    def __init__(
        self, folder: str, spec: Spec, compression: Any, shard_of: Callable[[Element], Any] | None
    ) -> None:
        self._folder = folder
        self._specs = flatten(spec)
        self._compression = "" if compression == "AUTO" else compression_of(compression)
        self._shard_of = shard_of
        self._name = str(secrets.randbits(63))
        self._writers: dict[int, TFRecordWriter] = {}
        self._count = 0
        self._finished = False

    def __enter__(self) -> SavedRun:
        return self

    def __exit__(self, *_: Any) -> None:
        for writer in self._writers.values():
            writer.close()
        if not self._finished:
            shutil.rmtree(os.path.join(self._folder, self._name), ignore_errors=True)

    def write(self, element: Element) -> None:
        """Store one element."""
        writer = self._writer(0 if self._shard_of is None else _shard(self._shard_of(element)))
        for spec, leaf in zip(self._specs, flatten(element), strict=True):
            if leaf is not None:
                writer.write(_encoded(spec, leaf))
        self._count += 1

    def _writer(self, shard: int) -> TFRecordWriter:
        if shard not in self._writers:
            folder = os.path.join(self._folder, self._name, f"{shard:08d}.shard")
            os.makedirs(folder)
            self._writers[shard] = TFRecordWriter(
                os.path.join(folder, "00000000.snapshot"), self._compression or None
            )
        return self._writers[shard]

    def finish(self) -> None:
        """Make the elements the content of the folder."""
        os.makedirs(self._folder, exist_ok=True)
        for writer in self._writers.values():
            writer.close()
        codes = b"".join(varint(_code(spec)) for spec in self._specs if not isinstance(spec, NoneTensorSpec))
        message = (
            delimited(2, self._name.encode())
            + (b"\x18" + varint(time.time_ns() // 1000) + b"\x20\x02")
            + delimited(5, codes)
            + (b"\x30" + varint(self._count) if self._count else b"")
            + (varint(1000 << 3) + b"\x01")
        )
        target = os.path.join(self._folder, _METADATA_FILE)
        with open(f"{target}.{self._name}", "wb") as file:
            file.write(message)
        os.replace(file.name, target)
        self._finished = True


def _shard(number: Any) -> int:
    tensor = convert_to_tensor(number)
    if tensor.ndim or tensor.dtype != int64:
        raise invalid("`shard_func` must return a scalar int64.")
    return int(tensor)


def _code(spec: TypeSpec) -> int:
    return _VARIANT if isinstance(spec, (RaggedTensorSpec, SparseTensorSpec)) else spec.dtype.as_datatype_enum


def _encoded(spec: TypeSpec, leaf: Any) -> bytes:
    """A component of an element as a TensorProto."""
    if isinstance(leaf, SparseTensor):
        parts = [leaf.indices, leaf.values, leaf.dense_shape]
        return _variants((3,), [_variant("tensorflow::Tensor", [part]) for part in parts])
    if isinstance(leaf, RaggedTensor):
        return _variants((), [_variant("RaggedTensorVariant", [*leaf.nested_row_splits, leaf.flat_values])])
    if isinstance(spec, RaggedTensorSpec):  # a row of a ragged tensor
        return _variants((), [_variant("RaggedTensorVariant", [leaf])])
    return core.serialize_tensor(leaf._array)


def _variant(name: str, tensors: list[EagerTensor]) -> bytes:
    parts = [delimited(3, core.serialize_tensor(tensor._array)) for tensor in tensors]
    return delimited(1, name.encode()) + b"".join(parts)


def _variants(shape: tuple[int, ...], variants: list[bytes]) -> bytes:
    dims = b"".join(delimited(2, b"\x08" + varint(size)) for size in shape)
    content = b"".join([*(varint(len(variant)) for variant in variants), *variants])
    return b"\x08" + varint(_VARIANT) + delimited(2, dims) + delimited(4, content)


# --- Reading ----------------------------------------------------------------------------------------


def load(  # noqa: PLR0917
    dataset_class: Any,
    path: Any,
    element_spec: Spec | None,
    compression: Any,
    reader_func: Callable[[Any], Any] | None,
    wait: bool,
) -> Any:
    """The dataset of ``dataset_class`` that a folder holds."""
    folder = os.fspath(path)
    while wait and not os.path.exists(os.path.join(folder, _METADATA_FILE)):
        time.sleep(_SECONDS_BETWEEN_TRIES)
    spec = _stored_spec(folder) if element_spec is None else element_spec
    return stored(
        dataset_class, folder, spec, "" if compression == "AUTO" else compression_of(compression), reader_func
    )


def _stored_spec(folder: str) -> Spec:
    name = os.path.join(folder, _SPEC_FILE)
    text = "tf.data snapshot element_spec file not found"
    try:
        with open(name, "rb") as file:
            return decoded_spec(file.read())
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{text}: {name}.") from None
    except (DecodeError, LookupError, TypeError, ValueError) as error:
        raise combined_error(NotFoundError, error, f"{text} or invalid: {name}: {error}") from error


def stored(
    dataset_class: Any,
    folder: str,
    spec: Spec,
    compression: str,
    reader_func: Callable[[Any], Any] | None = None,
) -> Any:
    """The dataset of the elements that were stored in ``folder`` last."""
    metadata = metadata_of(folder)
    if metadata is None:
        raise NotFoundError(None, None, f"Could not find metadata file [{folder}]")
    name, codes, count = metadata
    wanted = [leaf for leaf in flatten(spec) if not isinstance(leaf, NoneTensorSpec)]
    run_folder = os.path.join(folder, name)

    def shard(shard_folder: str) -> Any:
        def make(_: Run) -> Iterator[Element]:
            return _elements(os.path.join(run_folder, shard_folder), spec, wanted, codes, compression)

        return dataset_class(make, spec, -2, "Variant")

    shards = [shard(one) for one in sorted(os.listdir(run_folder)) if one.endswith(".shard")] if count else []
    datasets = dataset_class(lambda _: iter(shards), shard("")._type_spec, len(shards), "Variant")
    read = (reader_func or _interleaved)(datasets)
    return dataset_class(read._iterate, spec, count, "Load")


def _interleaved(datasets: Any) -> Any:
    return datasets.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1)


def metadata_of(folder: str) -> tuple[str, list[int], int] | None:
    """The name of the folder that was written last, the codes of the dtypes, the number of elements."""
    name = os.path.join(folder, _METADATA_FILE)
    try:
        with open(name, "rb") as file:
            message = file.read()
    except FileNotFoundError:
        return None
    run, codes, count = "", b"", 0
    try:
        for field in fields(message, 0, len(message), 0):
            if field.number == 2:
                run = message[field.begin : field.end].decode()
            elif field.number == 5:
                codes += message[field.begin : field.end] if field.type else varint(field.value)
            elif field.number == 6:
                count = field.value
        return run, _varints(codes), count
    except (DecodeError, UnicodeDecodeError) as error:
        raise combined_error(DataLossError, error, f"{name} is damaged: {error}") from error


def _varints(data: bytes) -> list[int]:
    found, position = [], 0
    while position < len(data):
        value, position = read_varint(data, position, len(data))
        found.append(value)
    return found


def _elements(
    folder: str, spec: Spec, wanted: list[TypeSpec], codes: list[int], compression: str
) -> Iterator[Element]:
    """The elements in the files of one shard."""
    for number, (leaf, code) in enumerate(zip(wanted, codes, strict=False)):
        if _code(leaf) != code:
            expected, found = (
                kernel_name(as_dtype(one)) if one != _VARIANT else "variant" for one in (_code(leaf), code)
            )
            raise invalid(f"Data type mismatch at component {number}: expected {expected} but got {found}.")
    if len(wanted) != len(codes):
        raise invalid(f"Number of components mismatch: expected {len(wanted)} but got {len(codes)}.")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with contextlib.closing(TFRecordIterator(path, compression)) as records:
            while True:
                parts = [record for _, record in zip(wanted, records, strict=False)]
                if not parts:
                    break
                if len(parts) < len(wanted):
                    raise DataLossError(None, None, f"{path} ends within an element")
                leaves = iter([_decoded(*pair) for pair in zip(wanted, parts, strict=True)])
                yield pack(
                    spec, [None if isinstance(one, NoneTensorSpec) else next(leaves) for one in flatten(spec)]
                )


def _decoded(spec: TypeSpec, record: bytes) -> Any:
    try:
        if isinstance(spec, SparseTensorSpec):
            _, parts = _decoded_variants(record)
            return SparseTensor(*(of_array(part[0]) for part in parts))
        if isinstance(spec, RaggedTensorSpec):
            return _decoded_ragged(spec, *_decoded_variants(record))
        return of_array(core.parse_tensor(record))
    except (DecodeError, SchemaError, ValueError, LookupError) as error:
        raise combined_error(DataLossError, error, f"a stored tensor is damaged: {error}") from error


def _decoded_variants(record: bytes) -> tuple[list[int], list[list[Any]]]:
    """The shape of a tensor of variants, and the arrays in each of them."""
    shape: list[int] = []
    content = b""
    for field in fields(record, 0, len(record), 0):
        data = record[field.begin : field.end]
        if field.number == 2:
            for dim in fields(data, 0, len(data), 0):
                sizes = [part.value for part in fields(data, dim.begin, dim.end, 0) if part.number == 1]
                shape.append(sizes[0] if sizes else 0)
        elif field.number == 4:
            content = data
    count = int(np.prod(shape, dtype=np.int64))
    sizes, position = [], 0
    for _ in range(count):
        size, position = read_varint(content, position, len(content))
        sizes.append(size)
    variants = []
    for size in sizes:
        end = position + size
        parts = [field for field in fields(content, position, end, 0) if field.number == 3]
        variants.append([core.parse_tensor(content[part.begin : part.end]) for part in parts])
        position = end
    return shape, variants


def _decoded_ragged(spec: RaggedTensorSpec, shape: list[int], variants: list[list[Any]]) -> Any:
    """A ragged tensor of variants; those of a batch are its rows."""
    dtype = spec.row_splits_dtype.as_numpy_dtype
    rows = []
    for *splits, values in variants:
        row: Any = of_array(values)
        for row_splits in reversed(splits):
            row = RaggedTensor.from_row_splits(row, of_array(row_splits.astype(dtype)))
        rows.append(row)
    flat = RaggedTensorSpec(None, spec.dtype, 0, spec.row_splits_dtype)
    for length in reversed(shape):
        rows = [stacked(rows[at : at + length], lambda: flat) for at in range(0, len(rows), length)]
    return rows[0]


# --- Snapshots --------------------------------------------------------------------------------------


class Snapshot:
    """Makes iterators over the elements of the first complete iteration, which are stored in a folder.

    Inside of ``path`` each dataset has a folder of its own, named by its fingerprint.
    """

    def __init__(
        self,
        dataset: Any,
        path: Any,
        compression: Any,
        reader_func: Callable[[Any], Any] | None,
        shard_of: Callable[[Run], Callable[[Element], Any]] | None,
    ) -> None:
        self._dataset = dataset
        self._folder = os.path.join(os.fspath(path), str(fingerprint_of(dataset)))
        self._compression = "" if compression in ("AUTO", "SNAPPY") else compression_of(compression)
        self._reader_func = reader_func
        self._shard_of = shard_of

    def __call__(self, run: Run) -> Iterator[Element]:
        dataset = self._dataset
        if run.probe:
            elements: Iterator[Element] = dataset._iterate(run)
        elif metadata_of(self._folder) is None:
            elements = self._written(dataset._iterate(run), run)
        else:
            kept = stored(
                type(dataset), self._folder, dataset.element_spec, self._compression, self._reader_func
            )
            elements = kept._iterate(run)
        return elements

    @resumable
    def _written(self, elements: Iterator[Element], run: Run) -> Iterator[Element]:
        shard_of = None if self._shard_of is None else self._shard_of(run)
        with SavedRun(self._folder, self._dataset.element_spec, self._compression, shard_of) as saved:
            complete = True
            for event in events(elements):
                if isinstance(event, Failure):
                    complete = False  # as a cache, it never holds an iteration with errors
                elif complete:
                    saved.write(event)
                yield event
            if complete:
                saved.finish()
