"""What ``features.json`` of tensorflow-datasets says: which features an Example has, and their specs.

tensorflow-datasets flattens its nested features: ``{"objects": Sequence({"box": ...})}`` is stored under
``objects/box``. Here each stored feature gets its flat name, its spec, and what its values mean. This module
knows the text of that file, in its present and its older form; where it lies is the caller's business.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DecodeError, SchemaError
from ..payload.specs import FeatureSpec, FixedLenFeature, RaggedFeature

Shape = tuple[int | None, ...]
Labels = Callable[[str], tuple[str, ...] | None]

# What a description holds, by the class that it was written for, in files of the older form.
_OLDER = {
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
_ARRAYS = ("bytes", "zlib")  # how an array can be put into one string
_DEFAULTS = 1 << 20  # values that a default may have: a few characters could ask for any number


@dataclass(frozen=True)
class TFDSFeature:
    """One stored feature: what it is, and the spec that parses it.

    ``kind`` is the class of tensorflow-datasets, such as "Image". ``shape`` and ``dtype`` ("uint8", "string")
    are those of a decoded value in one example, with None for lengths that differ; the first
    ``sequence_rank`` lengths are those of sequences. ``encoding`` says what stored bytes are, such as "png"
    or "zlib"; it is "" for values that are stored as such. ``names`` are those of the classes, if known.
    ``spec`` is None for a feature that only its own class could explain.
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

    def decode(self, data: bytes, shape: Any = None) -> npt.NDArray[Any]:
        """The array in the bytes of a feature of encoding "bytes" or "zlib", or of one item of a sequence.

        If several lengths differ, they are stored too, as ``.../shape`` beside ``.../value``: give them.
        """
        if self.encoding not in _ARRAYS:
            stored = self.encoding or self.dtype
            raise ValueError(f"feature {self.name!r} holds no array as bytes, but {stored}")
        known = self.shape[self.sequence_rank :] if shape is None else tuple(map(int, shape))
        if known.count(None) > 1:
            raise ValueError(f"feature {self.name!r}: the shape is stored beside it, and needed here")
        try:
            if any(length is not None and length < 0 for length in known):
                raise ValueError("a length is negative")
            return self._decode(data, [-1 if length is None else length for length in known])
        except (ValueError, OverflowError, zlib.error) as error:
            reason = f"the bytes are no {self.dtype} of shape {known}, encoded as {self.encoding}: {error}"
            raise DecodeError(reason, feature=self.name) from error

    def _decode(self, data: bytes, shape: list[int]) -> npt.NDArray[Any]:
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            raise ValueError(f"numpy has no {self.dtype}") from None
        if self.encoding == "zlib":
            size = dtype.itemsize * math.prod(shape)
            data = _inflate(data, size) if min(shape, default=0) >= 0 else zlib.decompress(data)
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _inflate(data: bytes, size: int) -> bytes:
    """``data`` inflated to ``size`` bytes, and not to whatever a few bytes can ask for."""
    inflater = zlib.decompressobj()
    raw = inflater.decompress(data, size + 1)
    if not inflater.eof or len(raw) != size:
        raise ValueError(f"it does not inflate to {size} bytes")
    return raw


def describe(document: Any, labels: Labels) -> dict[str, TFDSFeature]:
    """The features in the JSON of ``features.json``; ``labels`` gives the names of classes in other files."""
    try:
        return {feature.name: feature for feature in _walk(document, _Place(labels))}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"features.json is not as tensorflow-datasets writes it: {error!r}") from error


@dataclass(frozen=True)
class _Place:
    """Where in the tree a feature is: its flat name, and the lengths of the sequences that it is in."""

    labels: Labels
    name: str = ""
    file: str = ""  # what the files about it are called
    lengths: Shape = ()

    def within(self, name: str) -> _Place:
        dotted = name.replace("/", ".")
        return _Place(
            self.labels,
            f"{self.name}/{name}" if self.name else name,
            f"{self.file}-{dotted}" if self.file else dotted,
            self.lengths,
        )

    def repeated(self, length: Any) -> _Place:
        number = -1 if length is None else int(length)
        return _Place(self.labels, self.name, self.file, (*self.lengths, None if number < 0 else number))


def _walk(node: Mapping[str, Any], place: _Place) -> Iterator[TFDSFeature]:
    """The stored features of a description and of all in it."""
    kind = str(node.get("pythonClassName") or node["type"]).rpartition(".")[2]
    form, content = _content(node, kind)
    if form == "featuresDict":
        for name, inner in content.items():
            yield from _walk(inner, place.within(name))
    elif form == "sequence":
        yield from _walk(content["feature"], place.repeated(content.get("length")))
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
    """What a description holds and how it is called, in files of either form."""
    if "type" not in node:
        form = next((form for form in {*_OLDER.values()} if form in node), "")
        content = node.get(form, {})
        return form, content.get("features", {}) if form == "featuresDict" else content
    content = node.get("content") or {}
    if kind == "FeaturesDict" and node.get("proto_cls"):
        content = content.get("features", {})
    return _OLDER.get(kind, ""), content


def _leaf(form: str, kind: str, content: Mapping[str, Any], place: _Place, text: str) -> TFDSFeature:
    if form == "text" and not content.get("use_encoder"):
        return _feature(place, kind, (), "string", description=text)
    if form == "classLabel":
        number = _get(content, "numClasses", "num_classes")
        return _feature(place, kind, (), "int64", classes=_whole(number), description=text)
    if form in ("image", "audio"):  # as it was in its file
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
            classes=_whole(number),
            description=text,
        )
    if form == "boundingBox":
        return _feature(place, kind, (4,), "float32", description=text)
    return TFDSFeature(place.name, kind, place.lengths, "", None, len(place.lengths), description=text)


def _tensor(kind: str, content: Mapping[str, Any], place: _Place, text: str) -> Iterator[TFDSFeature]:
    shape, dtype = _shape(content), str(content["dtype"])
    encoding = str(content.get("encoding") or "none").lower()
    encoding = encoding if encoding in _ARRAYS else ""
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


def _translation(kind: str, content: Mapping[str, Any], place: _Place) -> Iterator[TFDSFeature]:
    variable = content.get("variableLanguagesPerExample") or kind == "TranslationVariableLanguages"
    names = ["language", "translation"] if variable else sorted(content["languages"])
    inner = place.repeated(None) if variable else place
    for name in names:
        yield _feature(inner.within(name), "Text", (), "string")


def _feature(
    place: _Place,
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
    """A feature that is stored as ``stored`` and means ``shape``, if that is something else."""
    own = dtype or stored_dtype
    spec = _spec(place, stored, stored_dtype, _default(own, stored_dtype) if optional else None)
    names = None if classes is None else place.labels(place.file)
    whole = (*place.lengths, *(stored if shape is None else shape))
    rank = len(place.lengths)
    return TFDSFeature(place.name, kind, whole, own, spec, rank, encoding, classes, names, description)


def _spec(place: _Place, stored: Shape, dtype: str, default: Any) -> FeatureSpec | None:
    """The spec for values of shape ``stored``; None if there is none, as tensorflow-datasets has none."""
    held = _held(dtype)
    shape = (*place.lengths, *stored)
    if held is None or 0 in shape:
        return None
    known = tuple(length for length in shape if length is not None)
    if len(place.lengths) > 1:  # sequences in sequences are stored with the lengths of their rows
        if None in stored:
            return None
        rows = range(len(place.lengths) - 1)
        lengths = [RaggedFeature.RowLengths(f"{place.name}/ragged_row_lengths_{row}") for row in rows]
        inner = [RaggedFeature.UniformRowLength(length) for length in known[len(known) - len(stored) :]]
        key = f"{place.name}/ragged_flat_values"
        return RaggedFeature(held, key, [*lengths, *inner], row_splits_dtype=np.int64)
    if len(known) == len(shape):
        if default is not None and math.prod(known) <= _DEFAULTS:
            default = np.full(known, default, object).tolist()
        return FixedLenFeature(known, held, default)
    if len(known) < len(shape) - 1:
        return None
    # Where it is not the first length that differs, the values come flat; there is no such Ragged.
    inner = [RaggedFeature.UniformRowLength(length) for length in known] if shape[0] is None else []
    return RaggedFeature(held, partitions=inner, row_splits_dtype=np.int64)


def _held(dtype: str) -> Any:
    """The type in which an Example holds values of ``dtype``."""
    if dtype in ("string", "object", "str"):
        return bytes
    if dtype == "bool" or dtype.startswith(("int", "uint")):
        return np.int64
    return np.float32 if dtype.startswith(("float", "bfloat")) else None


def _default(dtype: str, stored: str) -> Any:
    """What tensorflow-datasets gives for an optional feature that is missing."""
    held = _held(stored)
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


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
