"""``parse_example``, ``parse_sequence_example`` and their variants for one example.

The core parses. Its results become tensors, and its errors about features get the texts of TensorFlow. Where
TensorFlow would lose values or move them from one example to another, the core's error stays: see
docs/tensorflow.md. This module does not know the encoding of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors import DecodeError, PureRecordError, SchemaError
from ...payload.parse import examples as core
from ...payload.parse.sequences import parse_sequence_example as core_parse_sequence_example
from .._values.ragged_sparse import wrap
from .._values.rows import RecordTensor, Row
from .._values.tensor import convert_to_tensor, of_array
from ..dtypes import string
from ..errors import InvalidArgumentError, combined_error, invalid
from .specs import CONTEXT_SPECS, SEQUENCE_SPECS, core_specs

_NO_NAME = "<unknown>"


def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example or of a vector of them, by the specs ``features``."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    payloads = _payloads(serialized)
    if payloads.ndim > 1:
        shape = _shape_text(payloads.shape)
        raise invalid(f"Expected serialized to be a scalar or vector, got shape: {shape}")
    names = _names(example_names)
    if names is not None and names.size and names.shape != payloads.shape:
        raise invalid(
            "Expected names have the same shape as serialized: "
            f"name.shape={_shape_text(names.shape)}, serialized.shape={_shape_text(payloads.shape)}"
        )
    return _parse_to_tensors(payloads, features, names if names is not None and names.size else None)


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example, by the specs ``features``."""
    if features is None:
        raise ValueError("Invalid argument: features cannot be None.")
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    if type(serialized) is RecordTensor:
        specs = core_specs(features)
        row = serialized.parsed(specs)
        return Row.alone(specs, _parse(serialized._bytes, specs, None)) if row is None else row
    payload = _payloads(serialized)
    if payload.ndim:
        raise ValueError("Input serialized must be a scalar")
    return _parse_to_tensors(payload, features, None)


def _parse_to_tensors(payloads: Any, features: Mapping[str, Any], names: Any) -> dict[str, Any]:
    if not isinstance(features, Mapping):
        features = dict(features)
    if any(isinstance(key, bytes) for key in features):
        keys = {key.decode() if isinstance(key, bytes) else key: key for key in features}
        found = _parse_to_tensors(payloads, {text: features[key] for text, key in keys.items()}, names)
        return {keys[text]: value for text, value in found.items()}
    specs = core_specs(features)
    single = not payloads.ndim
    parsed = _parse(
        payloads[()] if single else payloads, specs, None if names is None or single else _texts(names)
    )
    return {key: wrap(parsed[key]) for key in specs}


def _parse(source: Any, specs: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """The core's values for a payload or an array of them."""
    try:
        return core.parse_example(source, specs, names)
    except PureRecordError:
        with _tensorflow_errors(_ExampleMessages(specs, isinstance(source, bytes))):
            raise


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """One serialized SequenceExample or a vector of them, as (context, sequence, lengths)."""
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should "
            "have values."
        )
    context = core_specs(context_features or {}, CONTEXT_SPECS)
    sequence = core_specs(sequence_features or {}, SEQUENCE_SPECS)
    for key, spec in sequence.items():
        if getattr(spec, "default_value", None) is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    payloads = _payloads(serialized)
    single = not payloads.ndim
    source = payloads[()] if single else payloads
    given = _names(example_names)
    names = [] if given is None else _texts(given)
    if len(names) not in (0, payloads.size):
        raise invalid("example_names must be empty or have the correct number of elements")
    own = names[0] if single and names else _NO_NAME
    with _tensorflow_errors(_SequenceMessages(context, sequence, payloads.size if not single else 1, own)):
        parts = core_parse_sequence_example(
            source, context, sequence, (names or None) if not single else None
        )
    order = (context, sequence, parts[2])
    return tuple({key: wrap(part[key]) for key in keys} for part, keys in zip(parts, order, strict=True))  # type: ignore[return-value]


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One serialized SequenceExample as (context, sequence)."""
    if not (context_features or sequence_features):
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have values."
        )
    if _payloads(serialized).ndim:
        raise ValueError("Input serialized must be a scalar")
    parts = parse_sequence_example(serialized, context_features, sequence_features, example_name)
    context, sequence, _ = parts
    return context, sequence


def _payloads(serialized: Any) -> Any:
    """An array of ``bytes`` objects."""
    array = (of_array if isinstance(serialized, bytes) else convert_to_tensor)(serialized)._array
    if array.dtype.kind != "O":
        raise ValueError(
            f"Tensor conversion requested dtype string for Tensor with dtype {of_array(array).dtype.name}: "
            f"{of_array(array)!r}"
        )
    return array


def _names(example_names: Any) -> Any:
    return None if example_names is None else convert_to_tensor(example_names, string)._array


def _texts(names: Any) -> list[str]:
    return [name.decode(errors="replace") for name in names.reshape(-1).tolist()]


def _shape_text(shape: Any) -> str:
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def _kind(kind: Any) -> Any:
    """TensorFlow's name for a kind of list."""
    return "string" if kind == "bytes" else kind


@contextmanager
def _tensorflow_errors(messages: _ExampleMessages | _SequenceMessages) -> Iterator[None]:
    """Raise the core's errors as TensorFlow's, with the texts of ``messages``."""
    try:
        yield
    except SchemaError as error:
        raise combined_error(InvalidArgumentError, error, messages.text(error)) from error
    except DecodeError as error:
        text = f"Could not parse example input: {error}"
        raise combined_error(InvalidArgumentError, error, text) from error
    except PureRecordError as error:
        raise combined_error(InvalidArgumentError, error, str(error)) from error


class _ExampleMessages:
    """TensorFlow's error messages about a feature of an Example."""

    def __init__(self, specs: Mapping[str, Any], single: bool) -> None:
        self._specs = specs
        self._single = single

    def text(self, error: SchemaError) -> str:
        """TensorFlow's message, or the core's if TensorFlow has none."""
        key, spec = error.feature, self._specs.get(error.feature or "")
        name = error.name or _NO_NAME
        prefix = f"Key: {key}.  " if self._single else f"Name: {name}, Key: {key}, Index: {error.row}.  "
        expected, found = _kind(error.expected), _kind(error.found)
        dense = hasattr(spec, "shape")
        if error.problem == "missing":
            required = f"Feature: {key} (data type: {expected}) is required but could not be found."
            return required if self._single else f"Name: {name}, {required}"
        if error.problem == "kind":
            if dense:
                return f"{prefix}Data types don't match. Data type: {found} but expected type: {expected}"
            return f"{prefix}Data types don't match. Expected type: {expected}, Actual type: {found}"
        if error.problem == "count" and dense:
            return self._count_text(error, spec, prefix)
        return str(error)

    def _count_text(self, error: SchemaError, spec: Any, prefix: str) -> str:
        kind = error.reason.split()[1]  # "3 int64 values, but ..."
        if hasattr(spec, "allow_missing"):
            if self._single:
                return (
                    f"Error while parsing feature with key {error.feature}: number of elements should be "
                    f"divisible by {spec.count}, found {error.found} instead"
                )
            return (
                f"{prefix}Number of {kind} values is not a multiple of stride length. "
                f"Saw {error.found} values but output shape is: {_shape_text((None, *spec.shape))}"
            )
        too_many_strings = kind == "bytes" and error.found > spec.count
        if self._single:
            what = (
                "Parsing bytes_list failed" if too_many_strings else f"Some {kind}_list slice was not parsed"
            )
            return f"{prefix}Can't parse serialized Example: {what}."
        if too_many_strings:
            return f"{prefix}Can't parse serialized Example."
        return (
            f"{prefix}Number of {kind} values != expected.  "
            f"Values size: {error.found} but output shape: {_shape_text(spec.shape)}"
        )


class _SequenceMessages:
    """TensorFlow's error messages about a feature of a SequenceExample."""

    def __init__(self, context: Mapping[str, Any], sequence: Mapping[str, Any], size: int, name: str) -> None:
        self._context = context
        self._sequence = sequence
        self._size = size
        self._name = name

    def text(self, error: SchemaError) -> str:
        """TensorFlow's message, or the core's if TensorFlow has none."""
        listed = error.step is not None or "feature list" in error.reason
        if error.problem not in ("kind", "missing", "count"):
            return str(error)
        return self._list_text(error) if listed else self._context_text(error)

    def _list_text(self, error: SchemaError) -> str:
        key, name = error.feature or "", error.name or self._name
        if error.problem == "kind":
            where = f"Name: {name}, Feature list: {key}, Index: {error.step}"
            return f"{where}.  Data types don't match. Expected type: {_kind(error.expected)}"
        if error.problem == "missing":
            return (
                f"Name: {name}, Feature list '{key}' is required but could not be found.  Did you mean to "
                "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        return (
            f"Name: {name}, Key: {key}, Index: {error.step}.  Number of values != expected.  "
            f"values size: {error.found} but output shape: {_shape_text(self._sequence[key].shape)}"
        )

    def _context_text(self, error: SchemaError) -> str:
        key, name = error.feature or "", error.name or self._name
        if error.problem == "kind":
            where = f"Name: {name}, Context feature: {key}"
            return f"{where}.  Data types don't match. Expected type: {_kind(error.expected)}"
        if self._size == 1:
            count, found = self._context[key].count, error.found or 0
            return (
                f"Inconsistent max number of elements for feature {key}: expected {count}, but found {found}"
            )
        if error.problem == "missing":
            return f"Feature: {key} (data type: {_kind(error.expected)}) is required but could not be found."
        return f"Unexpected number of elements in example {name}"
