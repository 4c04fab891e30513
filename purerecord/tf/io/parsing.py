"""``parse_example`` and its relatives, with TensorFlow's results and TensorFlow's words for mismatches.

The core parses; what it gives becomes tensors, and what it says about a feature that is not as its spec
wants it is put into TensorFlow's sentence. Where TensorFlow would lose values or move them from one example
to another, the core's error stays: see docs/tensorflow.md. This module does not know how messages look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors import DecodeError, PureRecordError, SchemaError
from ...payload.parse import examples as core
from ...payload.parse.sequences import parse_sequence_example as core_parse_sequence_example
from .._values.ragged_sparse import wrap
from .._values.tensor import convert_to_tensor, of_array, to_numpy
from ..errors import InvalidArgumentError, join
from .specs import checked

_UNKNOWN = "<unknown>"
_CONTEXT = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
_SEQUENCE = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")


def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of serialized Examples, a vector of them or one, as ``features`` specifies them."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    payloads = _payloads(serialized)
    if payloads.ndim > 1:
        shape = _shown(payloads.shape)
        raise _invalid(f"Expected serialized to be a scalar or vector, got shape: {shape}")
    names = None if example_names is None else to_numpy(example_names)
    if names is not None and names.size and names.shape != payloads.shape:
        raise _invalid(
            "Expected names have the same shape as serialized: "
            f"name.shape={_shown(names.shape)}, serialized.shape={_shown(payloads.shape)}"
        )
    return _parse(payloads, features, names if names is not None and names.size else None)


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example, as ``features`` specifies them."""
    if features is None:
        raise ValueError("Invalid argument: features cannot be None.")
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    payload = _payloads(serialized)
    if payload.ndim:
        raise ValueError("Input serialized must be a scalar")
    return _parse(payload, features, None)


def _parse(payloads: Any, features: Mapping[str, Any], names: Any) -> dict[str, Any]:
    specs = checked(features)
    for spec in specs.values():
        if getattr(spec, "allow_missing", True) is False:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    single = not payloads.ndim
    source = payloads[()] if single else payloads
    with _mismatches(_ExampleWords(specs, single)):
        parsed = core.parse_example(source, specs, None if names is None or single else _texts(names))
    return {key: wrap(parsed[key]) for key in specs}


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Serialized SequenceExamples, a vector of them or one, as (context, sequence, lengths)."""
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should "
            "have values."
        )
    context = checked(context_features or {}, _CONTEXT)
    sequence = checked(sequence_features or {}, _SEQUENCE)
    for key, spec in sequence.items():
        if getattr(spec, "default_value", None) is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    payloads = _payloads(serialized)
    single = not payloads.ndim
    source = payloads[()] if single else payloads
    names = None
    if example_names is not None and not single:
        names = _texts(to_numpy(example_names))
        if len(names) not in (0, len(payloads)):
            raise _invalid("example_names must be empty or have the correct number of elements")
    with _mismatches(_SequenceWords(context, sequence, len(payloads) if payloads.ndim else 1)):
        parts = core_parse_sequence_example(source, context, sequence, names or None)
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
    context, sequence, _ = parse_sequence_example(serialized, context_features, sequence_features)
    return context, sequence


def _payloads(serialized: Any) -> Any:
    """An array of ``bytes`` objects."""
    array = (of_array if isinstance(serialized, bytes) else convert_to_tensor)(serialized)._array
    if array.dtype.kind != "O":
        raise ValueError(
            "Tensor conversion requested dtype string for Tensor with dtype "
            f"{array.dtype.name}: serialized examples are strings"
        )
    return array


def _texts(names: Any) -> list[str]:
    return [name.decode(errors="replace") for name in names.reshape(-1).tolist()]


def _shown(shape: Any) -> str:
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def _kind(kind: Any) -> Any:
    """TensorFlow's name for what the core calls a kind of list."""
    return "string" if kind == "bytes" else kind


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


@contextmanager
def _mismatches(words: _ExampleWords | _SequenceWords) -> Iterator[None]:
    """What the core finds wrong, in TensorFlow's words."""
    try:
        yield
    except SchemaError as error:
        raise join(InvalidArgumentError, error, words.of(error)) from error
    except DecodeError as error:
        text = f"Could not parse example input: {error}"
        raise join(InvalidArgumentError, error, text) from error
    except PureRecordError as error:
        raise join(InvalidArgumentError, error, str(error)) from error


class _ExampleWords:
    """What TensorFlow says about a feature of an Example."""

    def __init__(self, specs: Mapping[str, Any], single: bool) -> None:
        self._specs = specs
        self._single = single

    def of(self, error: SchemaError) -> str:
        """TensorFlow's sentence; our own where it has none."""
        key, spec = error.feature, self._specs.get(error.feature or "")
        name = error.name or _UNKNOWN
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
            return self._count(error, spec, prefix)
        return str(error)

    def _count(self, error: SchemaError, spec: Any, prefix: str) -> str:
        kind = error.reason.split()[1]  # "3 int64 values, but ..."
        if hasattr(spec, "allow_missing"):
            if self._single:
                return (
                    f"Error while parsing feature with key {error.feature}: number of elements should be "
                    f"divisible by {spec.count}, found {error.found} instead"
                )
            return (
                f"{prefix}Number of {kind} values is not a multiple of stride length. "
                f"Saw {error.found} values but output shape is: {_shown((None, *spec.shape))}"
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
            f"Values size: {error.found} but output shape: {_shown(spec.shape)}"
        )


class _SequenceWords:
    """What TensorFlow says about a feature of a SequenceExample."""

    def __init__(self, context: Mapping[str, Any], sequence: Mapping[str, Any], size: int) -> None:
        self._context = context
        self._sequence = sequence
        self._size = size

    def of(self, error: SchemaError) -> str:
        """TensorFlow's sentence; our own where it has none."""
        listed = error.step is not None or "feature list" in error.reason
        if error.problem not in ("kind", "missing", "count"):
            return str(error)
        return self._of_list(error) if listed else self._of_context(error)

    def _of_list(self, error: SchemaError) -> str:
        key, name = error.feature or "", error.name or _UNKNOWN
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
            f"values size: {error.found} but output shape: {_shown(self._sequence[key].shape)}"
        )

    def _of_context(self, error: SchemaError) -> str:
        key, name = error.feature or "", error.name or _UNKNOWN
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
