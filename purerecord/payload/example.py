"""One Example or SequenceExample at a time: a mapping to bytes and back.

The type of a Python value decides how it is stored: integers and booleans become an Int64List, floats a
FloatList (float32, as everywhere in TensorFlow), strings a BytesList. A value that the format cannot hold
is an ``EncodeError``, which names the feature; nothing is cut, wrapped or guessed. The same mapping always
gives the same bytes. This module does not know batches and feature specs.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import public
from ..errors import EncodeError
from . import wire
from .exact_floats import check_exact, is_exact
from .similar_rows import Row, decode_row
from .values import as_array, is_extra, object_array, to_bytes, to_float32
from .varint import varint
from .wire import BYTES, FLOAT, INT64, UNSET

MAX_DEPTH = 32  # of nested lists; a list that contains itself runs into it, too

_NAMES = {UNSET: "nothing", BYTES: "strings", FLOAT: "floats", INT64: "integers"}
_PLAIN = {bool: INT64, int: INT64, float: FLOAT, bytes: BYTES, str: BYTES, bytearray: BYTES}
_MESSAGES = {"BytesList": BYTES, "FloatList": FLOAT, "Int64List": INT64}

Shaped = tuple[int, Any, tuple[int, ...]]  # (kind, flat values, shape)


# --- Public -----------------------------------------------------------------------------------------


@public
def encode_example(features: Mapping[str, Any], *, floats: str = "round") -> bytes:
    """The serialized Example that holds ``features``, sorted by name.

    A value is a number, a boolean, a string (``str`` is stored as UTF-8), a bytes-like object, a numpy
    array or scalar, any object with ``__array__`` (a torch, jax or TensorFlow tensor), a list or tuple of
    these, or a ``Feature`` message. Arrays and nested lists are stored flat, in row-major order, without
    their shape. Floats are rounded to float32; with ``floats="exact"`` one that would change is an
    ``EncodeError``. An empty list has no kind; an empty array has the kind of its dtype.

    >>> decode_example(encode_example({"label": 3, "name": "a.jpg"}))
    {'label': array([3]), 'name': array([b'a.jpg'], dtype=object)}
    """
    payload = wire.delimited(1, _encode_features(features))
    if floats != "round":
        _check_floats(floats, features)
    return payload


@public
def decode_example(payload: Any) -> dict[str, Any]:
    """The features of a serialized Example, or of an Example message: name -> vector.

    The vectors are numpy arrays of int64, of float32, or, for strings, of ``bytes`` objects. A feature
    without a kind, as a plain ``[]`` is stored, gives ``[]``.
    """
    found = decode_row(bytes(_serialized(payload, "Example")))
    features = found.features() if isinstance(found, Row) else found
    return {name: _decoded(*value) for name, value in features.items()}


@public
def encode_sequence_example(
    context: Mapping[str, Any], sequence: Mapping[str, Sequence[Any]], *, floats: str = "round"
) -> bytes:
    """The serialized SequenceExample with a ``context``, as for ``encode_example``, and a ``sequence``.

    The sequence maps names to steps: a list with a value for each step, an array whose first axis is the
    steps, or a ``Ragged`` whose rows are the steps. Steps may differ in length, but not in kind; integers
    beside floats become floats. A step that is ``[]`` has no kind. An empty context or sequence is not
    stored. ``floats`` is that of ``encode_example``.
    """
    lists = {checked_name(name): _encode_steps(name, steps) for name, steps in _items(sequence)}
    parts = (_encode_features(context), wire.encode_map(lists))
    if floats != "round":
        _check_floats(floats, context, sequence)
    return b"".join([wire.delimited(number, part) for number, part in enumerate(parts, 1) if part])


@public
def decode_sequence_example(payload: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The context and the sequence of a serialized SequenceExample, or of such a message.

    Values are as in ``decode_example``; the sequence has one value for every step.
    """
    context, lists = wire.decode_sequence(_serialized(payload, "SequenceExample"))
    return (
        {name: _decoded(*value) for name, value in context.items()},
        {name: [_decoded(*step) for step in steps] for name, steps in lists.items()},
    )


def to_list(value: Any, name: str) -> tuple[int, Any]:
    """``value`` as the list of a feature: (kind, values), as ``wire.decode_features`` gives them."""
    if _message_name(value) in ("Feature", *_MESSAGES):
        return wire.decode_feature(_encode(value, name))
    kind, values, _ = _convert(value, name, 0)
    return kind, values


# --- Decoding ---------------------------------------------------------------------------------------


def _decoded(kind: int, values: Any) -> Any:
    """The values of a feature in the form that callers get."""
    if kind == BYTES:
        return object_array(values)
    return [] if kind == UNSET else values


def _serialized(payload: Any, message: str) -> Any:
    """The bytes of a payload, or of a message from any library."""
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return payload
    if _message_name(payload) == message:
        return payload.SerializeToString()
    raise TypeError(f"expected bytes or a message {message}, got {type(payload).__name__}")


def _message_name(value: Any) -> str | None:
    """The name of a protobuf message; None if ``value`` is none."""
    return value.DESCRIPTOR.name if hasattr(value, "SerializeToString") else None


# --- Encoding ---------------------------------------------------------------------------------------


def _items(features: Mapping[str, Any]) -> Any:
    if not isinstance(features, Mapping):
        raise TypeError(f"expected a mapping from names to values, got {type(features).__name__}")
    return features.items()


def _check_floats(floats: str, *parts: Mapping[str, Any]) -> None:
    """Raise an EncodeError if ``floats`` asks for exact floats and a float of ``parts`` is not exact."""
    if is_exact(floats):
        for part in parts:
            for name, value in part.items():
                check_exact(value, name)


def checked_name(name: Any) -> str:
    """``name``; EncodeError if it cannot be the name of a feature."""
    if not isinstance(name, str):
        raise EncodeError(f"a feature's name must be a str, not {type(name).__name__}", feature=str(name))
    try:
        name.encode()
    except UnicodeEncodeError:
        raise EncodeError("the name cannot be encoded as UTF-8", feature=name) from None
    return name


def _encode_features(features: Mapping[str, Any]) -> bytes:
    entries = {}
    for name, value in _items(features):
        try:
            entries[checked_name(name)] = _encode(value, name)
        except EncodeError as error:
            error.feature = name if error.feature is None else error.feature
            raise
    return wire.encode_map(entries)


def _encode(value: Any, name: str) -> bytes:
    """The serialized Feature that holds ``value``."""
    kind = type(value)
    if kind is int and -(2**63) <= value < 2**63:
        packed = varint(value)
        return b"\x1a%c\x0a%c%b" % (len(packed) + 2, len(packed), packed)
    if kind is bytes:
        return wire.delimited(1, wire.delimited(1, value))
    if kind is float and abs(value) < 1e38:
        return b"\x12\x06\x0a\x04" + struct.pack("<f", value)
    message = _message_name(value)
    if message == "Feature":
        return bytes(value.SerializeToString())
    if message in _MESSAGES:
        return wire.delimited(_MESSAGES[message], value.SerializeToString())
    return wire.encode_feature(*_convert(value, name, 0)[:2])


def _encode_steps(name: str, steps: Any) -> bytes:
    """The serialized FeatureList with one Feature for each of ``steps``."""
    steps = _as_steps(name, steps)
    encoded = [_encode(step, name) for step in steps]
    # The first byte of a Feature is the tag of its list.
    kinds = sorted({feature[0] >> 3 for feature in encoded if feature})
    if kinds == [FLOAT, INT64]:
        lists = [to_list(step, name) for step in steps]
        encoded = [wire.encode_feature(*_as_floats(*values, name)) for values in lists]
    elif len(kinds) > 1:
        found = " and ".join(_NAMES.get(kind, "unknown fields") for kind in kinds)
        raise EncodeError(f"the steps of a sequence must be of one kind, not {found}", feature=name)
    return b"".join([wire.delimited(1, feature) for feature in encoded])


def _as_steps(name: str, steps: Any) -> Sequence[Any]:
    if isinstance(steps, (str, bytes, bytearray, memoryview)):
        pass  # a Sequence too, but not one of steps
    elif isinstance(steps, Sequence):
        return steps
    elif hasattr(steps, "row_splits"):
        missing = getattr(steps, "missing", None)
        # A list of steps cannot lack one: a missing step is one without a type, as [] is.
        return (
            list(steps)
            if missing is None
            else [[] if no else row for no, row in zip(missing, steps, strict=True)]
        )
    elif hasattr(steps, "__array__") and (array := as_array(steps, name)).ndim:
        return list(array)
    reason = f"a sequence needs its steps in a list, an array or a Ragged, not in a {type(steps).__name__}"
    raise EncodeError(reason, feature=name)


def _as_floats(kind: int, values: Any, name: str) -> tuple[int, Any]:
    """The numbers of a step as floats, because other steps hold floats."""
    return (FLOAT, exact_float32(values, name)) if kind == INT64 else (kind, values)


# --- From any value to a list of one kind -----------------------------------------------------------


def _convert(value: Any, name: str, depth: int) -> Shaped:
    if isinstance(value, np.ndarray):
        return _from_array(as_array(value, name), name)
    if isinstance(value, (int, float, bytes, str, bytearray)):
        kind = next(kind for plain, kind in _PLAIN.items() if isinstance(value, plain))
        return kind, _flat(kind, [value], name), ()
    if isinstance(value, memoryview):
        if value.itemsize != 1:
            raise EncodeError("a memoryview must be of bytes; for numbers pass an array", feature=name)
        return BYTES, [value.tobytes()], ()
    if isinstance(value, Sequence):
        return _from_sequence(value, name, depth)
    if hasattr(value, "__array__"):
        return _from_array(as_array(value, name), name)
    raise EncodeError(
        f"cannot store a value of type {type(value).__name__}{how_to_store(value)}", feature=name
    )


def how_to_store(value: Any) -> str:
    """The end of an error message: how to store a value that cannot be stored as it is."""
    if value is None:
        return "; leave the feature out, or store []"
    if hasattr(value, "row_splits"):
        return "; store its values and its row lengths as two features"
    if hasattr(value, "dense_shape"):
        return "; store its values and its indices as features of their own"
    return ""


def _from_sequence(values: Sequence[Any], name: str, depth: int) -> Shaped:
    if not len(values):
        return UNSET, None, (0,)
    kinds = {_PLAIN.get(kind) for kind in set(map(type, values))}
    if len(kinds) == 1 and (kind := kinds.pop()) is not None:
        return kind, _flat(kind, list(values), name), (len(values),)
    if depth == MAX_DEPTH:
        raise EncodeError(f"lists are nested more than {MAX_DEPTH} deep", feature=name)
    return _join([_convert(value, name, depth + 1) for value in values], name)


def _join(parts: list[Shaped], name: str) -> Shaped:
    """One value from the converted elements of a list, which must agree in shape and kind."""
    shape = parts[0][2]
    if any(part[2] != shape for part in parts):
        raise EncodeError(
            "the lists inside it differ in length; flatten it and store the lengths as another feature",
            feature=name,
        )
    kinds = sorted({part[0] for part in parts})
    whole = (len(parts), *shape)
    if kinds == [UNSET]:
        return UNSET, None, whole
    if kinds == [BYTES]:
        return BYTES, [string for part in parts for string in part[1]], whole
    if kinds == [INT64]:
        return INT64, np.concatenate([part[1] for part in parts]), whole
    if kinds == [FLOAT]:
        return FLOAT, np.concatenate([part[1] for part in parts]), whole
    if kinds == [FLOAT, INT64]:
        floats = [exact_float32(part[1], name) if part[0] == INT64 else part[1] for part in parts]
        return FLOAT, np.concatenate(floats), whole
    found = " and ".join(_NAMES[kind] for kind in kinds)
    raise EncodeError(f"a feature holds values of one kind, not {found}", feature=name)


def _flat(kind: int, values: list[Any], name: str) -> Any:
    """Plain Python values of one kind, in the form that ``wire.encode_feature`` takes."""
    if kind == BYTES:
        return [value if type(value) is bytes else to_bytes(value, name) for value in values]
    if kind == FLOAT:
        return to_float32(np.array(values, np.float64), name)
    try:
        return np.array(values, np.int64)
    except OverflowError:
        raise EncodeError("an integer does not fit into 64 bits with a sign", feature=name) from None


# --- Arrays -----------------------------------------------------------------------------------------


def _from_array(array: npt.NDArray[Any], name: str) -> Shaped:
    flat = array.reshape(-1)
    kind = flat.dtype.kind
    if is_extra(flat.dtype):
        kind = "i" if "int" in flat.dtype.name else "f"
    if kind in "bi":
        return INT64, flat.astype(np.int64, copy=False), array.shape
    if kind == "u":
        if flat.size and int(flat.max()) >= 2**63:
            raise EncodeError("an integer does not fit into 64 bits with a sign", feature=name)
        return INT64, flat.astype(np.int64), array.shape
    if kind == "f":
        return FLOAT, to_float32(flat, name), array.shape
    if kind == "S":
        return BYTES, flat.tolist(), array.shape
    if kind in "UTO":
        return _from_objects(flat.tolist(), array.shape, name)
    raise EncodeError(f"cannot store an array of dtype {array.dtype}", feature=name)


def _from_objects(values: list[Any], shape: tuple[int, ...], name: str) -> Shaped:
    if not values:
        return BYTES, [], shape  # decode_example gives an empty array of objects for an empty BytesList
    kind, flat, inner = _from_sequence(values, name, 0)
    if len(inner) != 1:
        raise EncodeError("an array of objects must hold numbers or strings, not lists", feature=name)
    return kind, flat, shape


def exact_float32(values: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.float32]:
    """Integers as float32, to be stored beside floats; EncodeError if one would change."""
    floats = values.astype(np.float32)
    if (floats >= 2.0**63).any() or (floats.astype(np.int64) != values).any():
        raise EncodeError("an integer among floats is too large to be exact as float32", feature=name)
    return floats
