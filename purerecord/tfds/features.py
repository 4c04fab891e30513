"""``features.json`` of tensorflow-datasets: the features of an Example, and their specs.

tensorflow-datasets flattens its nested features: ``{"objects": Sequence({"box": ...})}`` is stored under
``objects/box``. ``describe`` gives each stored feature its flat name, its spec and the meaning of its values,
from the present or the older form of the document. This module must not know where the file lies.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import public
from ..errors import DecodeError, SchemaError
from ..payload.specs import FeatureSpec, FixedLenFeature, RaggedFeature

Shape = tuple[int | None, ...]
Labels = Callable[[str], tuple[str, ...] | None]

# The form of each feature class: the key under which a description holds its content. Documents of the older
# form lack this key and name only the class.
_FORM_OF_CLASS = {
    "FeaturesDict": "featuresDict",
    "Sequence": "sequence",
    "Dataset": "sequence",
    "Tensor": "tensor",
    "Scalar": "tensor",
    "ClassLabel": "classLabel",
    "Image": "image",
    "LabeledImage": "image",
    "Video": "video",
    "Audio": "audio",
    "BBoxFeature": "boundingBox",
    "Text": "text",
    "Translation": "translation",
    "TranslationVariableLanguages": "translation",
}
_ARRAY_ENCODINGS = ("bytes", "zlib")  # an array stored as one string
_MAX_INFLATED = 1 << 30  # bytes: a value of zlib may inflate to a thousand times its size
_MAX_DEFAULTS = 1 << 20  # default values in a spec: a few characters of JSON could ask for any number


@public
@dataclass(frozen=True)
class TFDSFeature:
    """One stored feature: its meaning, and the spec that parses it.

    ``kind`` is the class of tensorflow-datasets, such as "Image". ``shape`` and ``dtype`` ("uint8", "string")
    are those of a decoded value in one example, with None for lengths that vary; the first ``sequence_rank``
    lengths are those of sequences. ``encoding`` is the format of stored bytes, such as "png" or "zlib", and
    "" for values that are stored directly. ``names`` are the names of the classes, if known. ``spec`` is None
    for a feature that only its own class can interpret.
    """

    name: str
    kind: str
    shape: Shape
    dtype: str
    spec: FeatureSpec | None
    sequence_rank: int = 0
    encoding: str = ""
    num_classes: int | None = None
    names: tuple[str, ...] | None = None
    description: str = ""

    def decode(self, data: bytes, shape: Any = None, *, max_size: int = _MAX_INFLATED) -> npt.NDArray[Any]:
        """The array stored in ``data``: the value of a feature of encoding "bytes" or "zlib".

        For a sequence, ``data`` is one of its items. If several lengths vary, the ``shape`` must be given;
        it is stored as ``.../shape`` beside ``.../value``. An array of more than ``max_size`` bytes is a
        DecodeError.
        """
        if self.encoding not in _ARRAY_ENCODINGS:
            stored = self.encoding or self.dtype
            raise ValueError(f"feature {self.name!r} holds no array as bytes, but {stored}")
        known = self.shape[self.sequence_rank :] if shape is None else tuple(map(int, shape))
        if known.count(None) > 1:
            raise ValueError(f"feature {self.name!r}: the shape is stored beside it, and needed here")
        try:
            if any(length is not None and length < 0 for length in known):
                raise ValueError("a length is negative")
            return self._decode(data, [-1 if length is None else length for length in known], max_size)
        except (ValueError, OverflowError, zlib.error) as error:
            reason = f"the bytes are no {self.dtype} of shape {known}, encoded as {self.encoding}: {error}"
            raise DecodeError(reason, feature=self.name) from error

    def _decode(self, data: bytes, shape: list[int], max_size: int) -> npt.NDArray[Any]:
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            raise ValueError(f"numpy has no {self.dtype}") from None
        if self.encoding == "zlib":
            size = dtype.itemsize * math.prod(shape) if min(shape, default=0) >= 0 else None
            data = _inflate(data, size, max_size)
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _inflate(data: bytes, size: int | None, max_size: int) -> bytes:
    """``data`` inflated, to ``size`` bytes if that is known; never more, because it may be gigabytes."""
    inflater = zlib.decompressobj()
    raw = inflater.decompress(data, (max_size if size is None else min(size, max_size)) + 1)
    if len(raw) > max_size:
        raise ValueError(f"it inflates to more than {max_size} bytes; if it should, give a larger max_size")
    if not inflater.eof or (size is not None and len(raw) != size):
        wanted = "the end of its stream" if size is None else f"{size} bytes"
        raise ValueError(f"it does not inflate to {wanted}")
    return raw


def describe(document: Any, labels: Labels) -> dict[str, TFDSFeature]:
    """The features in the JSON of ``features.json``; ``labels`` reads the class names in other files."""
    try:
        return {feature.name: feature for feature in _stored_features(document, _Position(labels))}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"features.json is not as tensorflow-datasets writes it: {error!r}") from error


@dataclass(frozen=True)
class _Position:
    """The position of a feature in the tree: its flat name, and the lengths of the sequences around it."""

    labels: Labels
    name: str = ""
    file: str = ""  # the beginning of the names of its files
    lengths: Shape = ()

    def within(self, name: str) -> _Position:
        dotted = name.replace("/", ".")
        return _Position(
            self.labels,
            f"{self.name}/{name}" if self.name else name,
            f"{self.file}-{dotted}" if self.file else dotted,
            self.lengths,
        )

    def repeated(self, length: Any) -> _Position:
        number = -1 if length is None else int(length)
        return _Position(self.labels, self.name, self.file, (*self.lengths, None if number < 0 else number))


def _stored_features(node: Mapping[str, Any], place: _Position) -> Iterator[TFDSFeature]:
    """Yield the stored features of a description, and of the descriptions inside it."""
    kind = str(node.get("pythonClassName") or node["type"]).rpartition(".")[2]
    form, content = _content(node, kind)
    if form == "featuresDict":
        for name, inner in content.items():
            yield from _stored_features(inner, place.within(name))
    elif form == "sequence":
        yield from _stored_features(content["feature"], place.repeated(content.get("length")))
    elif form == "translation":
        yield from _translation(kind, content, place)
    elif form == "video":
        shape = _shape(content)
        frames = place.repeated(shape[0] if shape else None)
        encoding = _encoding(content, "image")
        yield _feature(frames, kind, (), "string", shape=shape[1:], dtype="uint8", encoding=encoding)
    elif form == "tensor" or (form == "audio" and not _get(content, "lazyDecode", "lazy_decode")):
        yield from _tensor(kind, content, place, str(node.get("description", "")))
    else:
        yield _leaf(form, kind, content, place, str(node.get("description", "")))


def _content(node: Mapping[str, Any], kind: str) -> tuple[str, Mapping[str, Any]]:
    """The name of the form of a description, and its content, for documents of both forms."""
    if "type" not in node:
        form = next((form for form in {*_FORM_OF_CLASS.values()} if form in node), "")
        content = node.get(form, {})
        return form, content.get("features", {}) if form == "featuresDict" else content
    content = node.get("content") or {}
    if isinstance(content, str):  # a message as the text of its JSON, which is the oldest form
        content = json.loads(content)
    if kind == "FeaturesDict" and node.get("proto_cls"):
        content = content.get("features", {})
    return _FORM_OF_CLASS.get(kind, ""), content


def _leaf(form: str, kind: str, content: Mapping[str, Any], place: _Position, text: str) -> TFDSFeature:
    if form == "text" and not content.get("use_encoder"):
        return _feature(place, kind, (), "string", description=text)
    if form == "classLabel":
        number = _get(content, "numClasses", "num_classes")
        return _feature(place, kind, (), "int64", classes=_int_or_none(number), description=text)
    if form in ("image", "audio"):  # the bytes of an encoded file
        files = _get(content, "encodingFormat", "encoding_format", "fileFormat", "file_format")
        number = content.get("label", {}).get("numClasses") if kind == "LabeledImage" else None
        return _feature(
            place,
            kind,
            (),
            "string",
            shape=_shape(content),
            dtype=str(content.get("dtype") or ("uint8" if form == "image" else "int64")),
            encoding=str(files or form),
            classes=_int_or_none(number),
            description=text,
        )
    if form == "boundingBox":
        return _feature(place, kind, (4,), "float32", description=text)
    return TFDSFeature(place.name, kind, place.lengths, "", None, len(place.lengths), description=text)


def _tensor(kind: str, content: Mapping[str, Any], place: _Position, text: str) -> Iterator[TFDSFeature]:
    shape, dtype = _shape(content), str(content["dtype"])
    encoding = str(content.get("encoding") or "none").lower()
    encoding = encoding if encoding in _ARRAY_ENCODINGS else ""
    optional = bool(content.get("optional"))
    if shape.count(None) > 1:
        yield _feature(place.within("shape"), kind, (len(shape),), "int32", optional=optional)
        place = place.within("value")
    stored, stored_dtype = ((), "string") if encoding else (shape, dtype)
    yield _feature(
        place,
        kind,
        stored,
        stored_dtype,
        shape=shape,
        dtype=dtype,
        encoding=encoding,
        optional=optional,
        description=text,
    )


def _translation(kind: str, content: Mapping[str, Any], place: _Position) -> Iterator[TFDSFeature]:
    variable = content.get("variableLanguagesPerExample") or kind == "TranslationVariableLanguages"
    names = ["language", "translation"] if variable else sorted(content["languages"])
    inner = place.repeated(None) if variable else place
    for name in names:
        yield _feature(inner.within(name), "Text", (), "string")


def _feature(
    place: _Position,
    kind: str,
    stored: Shape,
    stored_dtype: str,
    *,
    shape: Shape | None = None,
    dtype: str | None = None,
    encoding: str = "",
    classes: int | None = None,
    optional: bool = False,
    description: str = "",
) -> TFDSFeature:
    """A feature stored with the shape ``stored``; ``shape`` and ``dtype`` are those of the decoded value."""
    own = dtype or stored_dtype
    spec = _spec(place, stored, stored_dtype, _default(own, stored_dtype) if optional else None)
    names = None if classes is None else place.labels(place.file)
    whole = (*place.lengths, *(stored if shape is None else shape))
    rank = len(place.lengths)
    return TFDSFeature(place.name, kind, whole, own, spec, rank, encoding, classes, names, description)


def _spec(place: _Position, stored: Shape, dtype: str, default: Any) -> FeatureSpec | None:
    """The spec for values of shape ``stored``; None where tensorflow-datasets has none either."""
    held = _example_dtype(dtype)
    shape = (*place.lengths, *stored)
    if held is None or 0 in shape:
        return None
    known = tuple(length for length in shape if length is not None)
    if len(place.lengths) > 1:  # nested sequences are stored with the lengths of their rows
        if None in stored:
            return None
        rows = range(len(place.lengths) - 1)
        lengths = [RaggedFeature.RowLengths(f"{place.name}/ragged_row_lengths_{row}") for row in rows]
        inner = [RaggedFeature.UniformRowLength(length) for length in known[len(known) - len(stored) :]]
        key = f"{place.name}/ragged_flat_values"
        return RaggedFeature(held, key, [*lengths, *inner], row_splits_dtype=np.int64)
    if len(known) == len(shape):
        if default is not None and math.prod(known) <= _MAX_DEFAULTS:
            default = np.full(known, default, object).tolist()
        return FixedLenFeature(known, held, default)
    if len(known) < len(shape) - 1:
        return None
    # A Ragged varies in its first length. If another one varies, the values come flat.
    inner = [RaggedFeature.UniformRowLength(length) for length in known] if shape[0] is None else []
    return RaggedFeature(held, partitions=inner, row_splits_dtype=np.int64)


def _example_dtype(dtype: str) -> Any:
    """The type in which an Example stores values of ``dtype``; None if it cannot."""
    if dtype in ("string", "object", "str"):
        return bytes
    if dtype == "bool" or dtype.startswith(("int", "uint")):
        return np.int64
    return np.float32 if dtype.startswith(("float", "bfloat")) else None


def _default(dtype: str, stored: str) -> Any:
    """The value that tensorflow-datasets gives for a missing optional feature."""
    held = _example_dtype(stored)
    if held is bytes:
        return b""
    if held is np.int64:
        return 0 if dtype == "bool" else int(np.iinfo(dtype).min)
    return float(np.finfo(np.float16 if dtype == "float16" else np.float32).min)


def _shape(content: Mapping[str, Any]) -> Shape:
    shape = content.get("shape") or ()
    lengths = shape.get("dimensions", ()) if isinstance(shape, Mapping) else shape
    numbers = [-1 if length is None else int(length) for length in lengths]
    return tuple(None if number < 0 else number for number in numbers)


def _encoding(content: Mapping[str, Any], otherwise: str) -> str:
    return str(_get(content, "encodingFormat", "encoding_format") or otherwise)


def _get(content: Mapping[str, Any], *keys: str) -> Any:
    return next((content[key] for key in keys if key in content), None)


def _int_or_none(number: Any) -> int | None:
    return None if number is None else int(number)
