"""``parse_example``, ``parse_single_example`` and ``decode_examples``: serialized Examples in, arrays out.

Two steps: ``columns`` decodes many Examples into columns (``wire`` decodes a single one), then
``dense_sparse`` and ``partitions`` build what each spec asks for. ``sequences`` does the same for
SequenceExamples. This module does not know the wire format, nor that files exist.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple, Union, cast

import numpy as np

from ... import public
from ...bytes_column import BytesColumn, BytesLike
from ...errors import SchemaError
from ...records import Records
from ..columns.gather import Column, gather
from ..dtypes import array_dtype
from ..ragged import Ragged
from ..similar_rows import Row, decode_row
from ..sparse import Sparse
from ..specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    as_features,
)
from ..values import Array, object_array
from ..wire import ABSENT, BYTES, INT64, UNSET, Value
from .announced import parsed_with_others
from .checked_columns import KIND_NAMES, KINDS, CheckedColumns, Origin
from .chosen_columns import ChosenColumns, Given, text_and_bytes_columns
from .dense_sparse import Output, fixed_len, fixed_len_sequence, sparse, unbatch, var_len
from .partitions import ragged
from .text import no_strings, text_column

Serialized = Union[BytesLike, Records, Iterable[BytesLike]]
Builder = Callable[[CheckedColumns, str, Any], Output]

_BUILDERS: dict[type, Builder] = {
    FixedLenFeature: fixed_len,
    VarLenFeature: var_len,
    FixedLenSequenceFeature: fixed_len_sequence,
    RaggedFeature: ragged,
    SparseFeature: sparse,
}
_ABSENT: Value = (ABSENT, None)
_REQUESTS_KEPT = 4
_DTYPES = {kind: array_dtype(dtype) for dtype, kind in KINDS.items()}


@public
def parse_example(
    serialized: Serialized,
    features: Mapping[str, Any],
    example_names: Sequence[Any] | None = None,
    name: str | None = None,
    *,
    bytes_columns: Given = False,
) -> dict[str, Output]:
    """The features of a batch of serialized Examples, as ``features`` specifies them.

    ``FixedLenFeature`` gives an array of ``(batch, *shape)``, ``FixedLenSequenceFeature`` one padded to
    the longest, ``VarLenFeature`` and ``SparseFeature`` a ``Sparse``, ``RaggedFeature`` a ``Ragged``.
    Strings come as object arrays of ``bytes``; with ``bytes_columns=True``, or in the features that it names,
    a ``FixedLenFeature`` of one string gives a ``BytesColumn``, and a ``RaggedFeature`` a ``Ragged`` of one.
    No ``bytes`` are made then, and large strings are not even copied. Other specs give objects.

    A feature that does not fit its spec is a ``SchemaError``, which names the feature and the first record at
    fault, and the one of ``example_names`` if given. A dtype's name is short for a ``FixedLenFeature`` of one
    value: ``{"label": "int64"}``. A single payload gives what ``parse_single_example`` gives. ``name`` only
    completes TensorFlow's signature.
    """
    request = request_of(features)
    chosen = _in_place(request.specs, bytes_columns)
    payload, records = payload_or_records(serialized)
    if records is None:
        return _parse_single(payload, request, example_names)
    origin = Origin(records, checked_names(example_names, len(records)))
    columns = gather(records, request.kinds, in_place={*chosen.values()})
    outputs = build(CheckedColumns(columns, len(records), origin), request.specs, _BUILDERS)
    if chosen:
        outputs.update((name, with_objects(outputs[name])) for name in outputs.keys() - chosen.keys())
    return outputs


def check_bytes_columns(specs: Mapping[str, FeatureSpec], bytes_columns: Given) -> None:
    """Raise a ValueError if ``bytes_columns`` names a feature that gives no ``BytesColumn``."""
    _in_place(specs, bytes_columns)


def _in_place(specs: Mapping[str, FeatureSpec], bytes_columns: Given) -> dict[str, str]:
    """Which of ``specs`` give a ``BytesColumn``, with the keys of their values."""
    if bytes_columns is False:
        return {}
    names = ChosenColumns("bytes_columns", bytes_columns)
    for name in names.names:
        if name not in specs or not holds_bytes_column(specs[name]):
            reason = "is not asked for" if name not in specs else f"is asked for as {specs[name]}"
            raise ValueError(
                f"bytes_columns names {name!r}, which {reason}; a BytesColumn needs a FixedLenFeature of one "
                "string or a RaggedFeature of strings"
            )
    chosen = {name: spec for name, spec in specs.items() if name in names and holds_bytes_column(spec)}
    return {name: getattr(spec, "value_key", None) or name for name, spec in chosen.items()}


def holds_bytes_column(spec: FeatureSpec) -> bool:
    """Whether ``parse_example`` can give a ``BytesColumn`` for ``spec``, or a Ragged of one."""
    if isinstance(spec, RaggedFeature):
        uniform = (isinstance(part, RaggedFeature.UniformRowLength) for part in spec.partitions)
        return spec.dtype is bytes and not any(uniform)
    return isinstance(spec, FixedLenFeature) and spec.dtype is bytes and not spec.shape


def with_objects(output: Output) -> Output:
    """``output`` with an array of ``bytes`` objects in place of a ``BytesColumn``."""
    if isinstance(output, Ragged) and isinstance(output.flat_values, BytesColumn):
        return Ragged(with_objects(output.values), output.row_splits, output.missing, output.untyped)
    return np.asarray(output) if isinstance(output, BytesColumn) else output


@public
def parse_single_example(
    serialized: BytesLike,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Output]:
    """The features of one serialized Example, as ``features`` specifies them.

    The same as ``parse_example``, without the batch dimension: a scalar ``FixedLenFeature`` gives a numpy
    scalar or ``bytes``, and a ``RaggedFeature`` without partitions a plain vector.
    """
    request = request_of(features)
    payload, records = payload_or_records(serialized)
    if records is not None:
        raise ValueError("serialized must be one payload; use parse_example for a batch")
    return _parse_single(payload, request, example_names)


@public
def decode_examples(
    records: Serialized,
    features: Mapping[str, Any] | None = None,
    *,
    text: Given = False,
    bytes_columns: Given = False,
) -> dict[str, Output]:
    """All features of many serialized Examples as columns; with ``features``, the same as ``parse_example``.

    Every feature of any record becomes a column: an array of ``(n,)`` if each record has one value, an
    array of ``(n, k)`` if each has ``k`` values, and otherwise a ``Ragged``, with an empty row for a record
    that lacks the feature; its mask ``missing`` tells that row from an empty list. ``encode_examples`` makes
    the same Examples of these columns. If a feature is of different kinds in different records, it is a
    ``SchemaError``, so that a single deviating record cannot go unnoticed.

    Strings are ``bytes``; with ``text=True``, or in the columns that ``text`` names, they are ``str``, and
    one that is not UTF-8 is a ``SchemaError``. With ``bytes_columns=True``, or in the columns that it names,
    a column of one string each is a ``BytesColumn``, and a ``Ragged`` of strings has one as its values.
    """
    strings, in_place = text_and_bytes_columns(text, bytes_columns)
    payload, batch = payload_or_records(records)
    if features is not None:
        one = payload if batch is None else batch
        outputs = parse_example(one, features, bytes_columns=bytes_columns)
    elif batch is None:
        raise TypeError("expected a sequence of payloads, got one payload; put it in a list")
    else:
        columns = natural_columns(batch, in_place=in_place)
        outputs = {name: _natural_output(column, len(batch)) for name, column in columns.items()}
        for name in in_place.names:
            if name in columns and columns[name].kind not in (BYTES, UNSET):
                raise no_strings(name, columns[name].values.dtype)
    if text is not False:
        origin = CheckedColumns({}, 1 if batch is None else len(batch), Origin(batch))
        for name, output in outputs.items():
            if name in strings:
                outputs[name] = text_column(name, output, origin, required=name in strings.names)
    return outputs


def natural_columns(
    records: Records, names: Iterable[str] | None = None, *, in_place: Container[str] = ()
) -> dict[str, Column]:
    """Every feature of ``records`` as a column, or those of the given names, even if no record has them;
    SchemaError if one is of more than one kind. ``in_place`` is that of ``gather``."""
    columns = gather(records, None if names is None else dict.fromkeys(names), in_place=in_place)
    raise_first_error(mixed_kinds(CheckedColumns(columns, len(records), Origin(records))))
    return columns


def mixed_kinds(batch: CheckedColumns) -> list[SchemaError]:
    """An error for each column that holds more than one kind."""
    errors = []
    for name, column in batch.columns.items():
        if column.kinds is not None:
            odd = (column.kinds > 0) & (column.kinds != column.kind)
            if odd.any():
                errors.append(_mixed_kind(batch, name, int(odd.argmax())))
    return errors


def _mixed_kind(batch: CheckedColumns, name: str, row: int) -> SchemaError:
    expected = KIND_NAMES[batch.columns[name].kind]
    found = KIND_NAMES[int(batch.kinds(name)[row])]
    reason = f"holds a list of {found} where other records hold {expected}, so it cannot be one column"
    return batch.mismatch(name, row, "kind", reason, expected=expected, found=found)


def _natural_output(column: Column, size: int) -> Output:
    """What ``decode_examples`` gives for a column of ``size`` records."""
    if column.uniform == 1:
        return column.values
    if column.uniform:
        return np.asarray(column.values).reshape(size, column.uniform)
    return Ragged(column.values, column.row_splits, *column.masks)


def _parse_single(payload: BytesLike, request: Request, name: Any) -> dict[str, Output]:
    """One example, parsed as a batch of one, except for the values that fit their spec as decoded."""
    together = parsed_with_others(payload, request)
    if together is not None:
        return together
    specs, kinds, _ = request
    found = decode_row(bytes(payload))
    if isinstance(found, Row):
        outputs = _single_values(found, specs)
        if outputs is not None:
            return outputs
        found = found.features()
    outputs = {name: _fitting_value(spec, *found.get(name, _ABSENT)) for name, spec in specs.items()}
    rest = {name: specs[name] for name, output in outputs.items() if output is None}
    if rest:
        columns = {key: _single_row(kind, *found.get(key, _ABSENT)) for key, kind in kinds.items()}
        built = build(CheckedColumns(columns, 1, single_origin(name)), rest, _BUILDERS)
        outputs.update((name, unbatch(output)) for name, output in built.items())
    return outputs


def _single_values(row: Row, specs: Mapping[str, FeatureSpec]) -> dict[str, Output] | None:
    """The outputs if every spec asks for a single value and the record has it; else None."""
    remembered = row.layout.remembered
    if remembered is None or remembered[0] is not specs:
        places = row.layout.places
        fit = all(
            type(spec) is FixedLenFeature
            and not spec.shape
            and places.get(name, _ABSENT)[0] == KINDS[spec.dtype]
            for name, spec in specs.items()
        )
        numbers = [(name, row.number(name)) for name in specs] if fit else None
        remembered = row.layout.remembered = specs, numbers
    if remembered[1] is None:
        return None
    values = row.singles()
    outputs: dict[str, Output] = {name: values[number] for name, number in remembered[1]}
    for name, (kind, others) in row.others.items():
        if name in outputs:
            if kind != row.layout.places[name][0] or len(others) != 1:
                return None
            outputs[name] = others[0]
    return outputs


def _fitting_value(spec: FeatureSpec, kind: int, values: Any) -> Output:
    """The output for a FixedLenFeature or a VarLenFeature that the values fit, else None."""
    if type(spec) is FixedLenFeature and kind == KINDS[spec.dtype] and len(values) == spec.count:
        return _as_array(kind, values).reshape(spec.shape) if spec.shape else values[0]
    if type(spec) is VarLenFeature and kind == KINDS[spec.dtype]:
        return Sparse(np.arange(len(values))[:, None], _as_array(kind, values), (len(values),))
    return None


def _as_array(kind: int, values: Any) -> Array:
    return object_array(values) if kind == BYTES else cast(Array, values)


def _single_row(kind: int, found: int, values: Any) -> Column:
    """A feature of one example as a column of ``kind`` with one row; ``found`` is the kind it really has."""
    if found != kind:
        return Column(kind, np.array([found], np.int8), np.empty(0, _DTYPES[kind]), 1, 0, None)
    return Column(kind, None, _as_array(kind, values), 1, len(values), None)


def build(
    batch: CheckedColumns, specs: Mapping[str, FeatureSpec], builders: Mapping[type, Builder]
) -> dict[str, Output]:
    """The output of every spec, by name. Of several mismatches, that in the first record is raised."""
    outputs, errors = {}, []
    for name, spec in specs.items():
        try:
            outputs[name] = builders[type(spec)](batch, name, spec)
        except SchemaError as error:
            errors.append(error)
    raise_first_error(errors)
    return outputs


def raise_first_error(errors: Sequence[SchemaError]) -> None:
    """Raise the error of the first record, if there are any errors."""
    if errors:
        raise min(errors, key=lambda error: error.row or 0)


def kinds_by_key(specs: Mapping[str, FeatureSpec]) -> dict[str, int]:
    """The keys to decode for ``specs``, with the kind that each must have."""
    kinds: dict[str, int] = {}
    for name, spec in specs.items():
        for key, kind in _keys(name, spec):
            if kinds.setdefault(key, kind) != kind:
                raise ValueError(
                    f"feature {key!r} is asked for both as {KIND_NAMES[kinds[key]]} and as {KIND_NAMES[kind]}"
                )
    return kinds


def _keys(name: str, spec: FeatureSpec) -> list[tuple[str, int]]:
    if isinstance(spec, SparseFeature):
        return [(spec.value_key, KINDS[spec.dtype]), *((key, INT64) for key in spec.index_keys)]
    if isinstance(spec, RaggedFeature):
        partitions = [partition.key for partition in spec.partitions if hasattr(partition, "key")]
        return [(spec.value_key or name, KINDS[spec.dtype]), *((key, INT64) for key in partitions)]
    return [(name, KINDS[spec.dtype])]


class Request(NamedTuple):
    """What a caller asks for: checked specs, and the keys to decode with their kinds."""

    specs: dict[str, FeatureSpec]
    kinds: dict[str, int]
    given: dict[str, Any]  # the specs, with short ones as the caller gave them


# The latest requests, newest first: a program that parses batch after batch repeats the same request.
_requests: list[Request] = []


def request_of(features: Mapping[str, Any]) -> Request:
    """The request for ``features``: the same object for the same specs, most of the time."""
    for request in tuple(_requests):
        # Specs are immutable, so the same objects need no second check.
        if _is_same_spec_dict(features, request.given):
            return request
    if not features:
        raise ValueError("features must name at least one feature; use decode_examples to get all of them")
    specs = as_features(features)
    for name, spec in specs.items():
        if isinstance(spec, FixedLenSequenceFeature) and not spec.allow_missing:
            raise ValueError(f"FixedLenSequenceFeature {name!r} must have allow_missing=True in an Example")
    short = {name: spec for name, spec in features.items() if isinstance(spec, str)}
    request = Request(specs, kinds_by_key(specs), {**specs, **short})
    _requests[:] = [request, *_requests][:_REQUESTS_KEPT]
    return request


def _is_same_spec_dict(features: Any, specs: dict[str, Any]) -> bool:
    """Whether ``features`` holds the identical spec objects under the same names, in the same order."""
    return (
        type(features) is dict
        and len(features) == len(specs)
        and all(map(is_, features.values(), specs.values()))
        and list(features) == list(specs)
    )


def payload_or_records(serialized: Any) -> tuple[BytesLike, None] | tuple[bytes, Records]:
    """(payload, None) if ``serialized`` is a single payload, else (b"", Records)."""
    if isinstance(serialized, Records):
        return b"", serialized
    if isinstance(serialized, (bytes, bytearray, memoryview)):
        return serialized, None
    if hasattr(serialized, "__array__"):
        array = np.asarray(serialized)
        if array.dtype.kind == "S":
            raise TypeError(
                "an array of fixed-width bytes has lost its payloads' trailing NULs; use dtype=object"
            )
        if array.ndim > 1:
            raise ValueError(f"serialized must be one payload or a vector, not of shape {array.shape}")
        if array.ndim == 0:
            return payload_or_records(array.item())
        serialized = array.tolist()
    return b"", Records.of(serialized)


def single_origin(name: Any) -> Origin:
    """The origin of a single payload, whose name may be given as it is or in a list."""
    names = [name] if isinstance(name, (str, bytes)) else name
    return Origin(names=checked_names(names, 1))


def checked_names(names: Sequence[Any] | None, size: int) -> Sequence[Any] | None:
    """``names``; ValueError if there are not as many as examples."""
    if names is not None and len(names) != size:
        raise ValueError(f"{len(names)} example_names for {size} examples")
    return names
