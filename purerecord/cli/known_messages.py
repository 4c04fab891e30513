"""Messages that are known without a descriptor file: TensorBoard's events and TensorFlow Ranking's lists.

They become values of JSON that people can read: an image is its size and format, not its bytes. This module
does not know how these are printed.
"""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

import numpy as np

from ..errors import PureRecordError
from ..payload.json_values import float_to_json
from ..payload.recognize import EVENT, EXAMPLE_LIST, recognize
from ..payload.tensor import parse_tensor
from ..payload.wire import fields

_FORMATS = {b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF", b"BM": "BMP", b"RIFF": "WAV"}
_HISTOGRAM = ("min", "max", "num", "sum", "sum_squares")
_KINDS = {"scalars": "scalar", "histograms": "histogram", "images": "image", "text": "text", "audio": "audio"}


def read_event(payload: bytes) -> dict[str, Any] | None:
    """An event: ``wall_time``, ``step``, and ``values`` (tag, kind, value) or what else it holds; None if
    ``payload`` is no event."""
    if recognize(payload) != EVENT:
        return None
    from google.protobuf.message import DecodeError as ProtobufError  # type: ignore[import-untyped,unused-ignore] # noqa: PLC0415 - slow

    from ..payload.proto import Event  # noqa: PLC0415 - imports protobuf, which Examples do without

    try:
        return _event(Event.FromString(payload))
    except (ProtobufError, PureRecordError, ValueError):
        return None


def read_example_list(payload: bytes) -> tuple[bytes, list[bytes]] | None:
    """The context and the Examples of an ExampleListWithContext, serialized; None if it is none."""
    if recognize(payload) != EXAMPLE_LIST:
        return None
    parts: dict[int, list[bytes]] = {1: [], 2: []}
    for field in fields(payload, 0, len(payload), 0):
        parts[field.number].append(payload[field.begin : field.end])
    return b"".join(parts[2]), parts[1]  # several contexts are merged, as protobuf merges them


def _event(event: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"wall_time": float_to_json(event.wall_time), "step": event.step}
    what = event.WhichOneof("what")
    if what == "summary":
        shown["values"] = [_value(value) for value in event.summary.value]
    elif what == "file_version":
        shown[what] = event.file_version
    elif what == "log_message":
        shown[what] = {"level": _enum(event.log_message, "level"), "message": event.log_message.message}
    elif what == "session_log":
        log = event.session_log
        shown[what] = {"status": _enum(log, "status"), "checkpoint_path": log.checkpoint_path, "msg": log.msg}
    elif what == "tagged_run_metadata":
        run = event.tagged_run_metadata
        shown[what] = {"tag": run.tag, "bytes": len(run.run_metadata)}
    elif what is not None:  # a graph
        shown[what] = {"bytes": len(getattr(event, what))}
    if event.source_metadata.writer:
        shown["writer"] = event.source_metadata.writer
    return shown


def _enum(message: Any, name: str) -> Any:
    """The name of the value of an enum; its number if it has none."""
    number = getattr(message, name)
    known = message.DESCRIPTOR.fields_by_name[name].enum_type.values_by_number
    return known[number].name if number in known else number


def _value(value: Any) -> dict[str, Any]:
    """A value of a summary: its tag, the plugin that shows it, its kind, and the value itself."""
    plugin = value.metadata.plugin_data.plugin_name
    kind, shown = _content(value, plugin)
    return {"tag": value.tag, **({"plugin": plugin} if plugin else {}), "kind": kind, "value": shown}


def _content(value: Any, plugin: str) -> tuple[str, Any]:
    what = value.WhichOneof("value")
    if what == "simple_value":
        return "scalar", _number(np.float32(value.simple_value))
    if what == "image":
        image = value.image
        return "image", {
            "height": image.height,
            "width": image.width,
            **_blob(image.encoded_image_string),
        }
    if what == "histo":
        histogram = value.histo
        numbers = {name: float_to_json(getattr(histogram, name)) for name in _HISTOGRAM}
        limits, counts = (
            list(map(float_to_json, part)) for part in (histogram.bucket_limit, histogram.bucket)
        )
        return "histogram", {**numbers, "bucket_limit": limits, "bucket": counts}
    if what == "audio":
        audio = value.audio
        frames = {"sample_rate": float_to_json(audio.sample_rate), "length_frames": audio.length_frames}
        return "audio", {**frames, **_blob(audio.encoded_audio_string)}
    if what == "tensor":
        return _tensor(parse_tensor(value.tensor), plugin)
    return what or "nothing", None


def _tensor(array: Any, plugin: str) -> tuple[str, Any]:
    """What TensorFlow 2 writes: a tensor, and the name of the plugin that knows what it means."""
    kind = _KINDS.get(plugin, "scalar" if array.ndim == 0 and array.dtype != object else "tensor")
    if kind == "scalar" and array.ndim == 0 and array.dtype != object:
        return kind, _number(array[()])
    if kind == "histogram" and array.ndim == 2 and array.shape[1] == 3 and array.dtype != object:
        return kind, {"buckets": _listed(array)}
    if kind == "image" and array.dtype == object and array.ndim == 1 and array.size >= 2:
        width, height = (int(text) if text.isdigit() else None for text in array[:2])
        return kind, {"height": height, "width": width, "images": [_blob(image) for image in array[2:]]}
    if kind == "text" and array.dtype == object:
        return kind, _listed(array)
    return "tensor", {
        "dtype": "string" if array.dtype == object else str(array.dtype),
        "shape": list(array.shape),
        "values": _listed(array),
    }


def _listed(array: Any) -> Any:
    if array.ndim:
        return [_listed(row) for row in array] if array.ndim > 1 else [_number(one) for one in array]
    return _number(array[()])


def _number(value: Any) -> Any:
    """An element of a tensor as JSON; bytes that are no text are described."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return _blob(value)
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, np.complexfloating):
        return str(value)
    # The shortest text that reads back as the same value.
    return float_to_json(float(str(value)))


def _blob(data: bytes) -> dict[str, Any]:
    """The format of an image or a sound, and its size."""
    name = next((name for magic, name in _FORMATS.items() if data.startswith(magic)), None)
    return {**({"format": name} if name else {}), "bytes": len(data)}


def time_in_words(seconds: Any) -> str:
    """A wall time in UTC; the number itself if it is none."""
    if isinstance(seconds, float) and math.isfinite(seconds):
        try:
            return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        except (OverflowError, ValueError, OSError):
            pass
    return f"wall time {seconds}"
