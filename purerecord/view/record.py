"""A record's page: its features at length, its place in the file, and the fields of its frame.

This module does not know HTTP.
"""

from __future__ import annotations

from typing import Any

from ..container.checksum import masked_crc
from ..container.frames import FOOTER, HEADER, OVERHEAD, header_holds
from ..errors import PureRecordError
from ..payload.tensor import parse_tensor
from ..payload.wire import BYTES, UNSET
from ..tools.inspect.content import BINARY
from .catalog import ShownFile
from .cells import KINDS, Place, Shown, bytes_value, cell, cells, numbers, whole_of
from .decoded import Decoded, Value, decoded
from .episode import is_episode
from .fetch import fetch
from .limits import Limits
from .pictures import overlay_of, pictures_of
from .source import Source

_LARGEST_TENSOR = 1 << 26  # bytes


def record_of(file: ShownFile, source: Source, row: int, limits: Limits) -> dict[str, Any]:
    """The page of a record."""
    offset, length, place = source.place(row)
    found, payload = payload_of(source, row, limits)
    facts: dict[str, Any] = {
        "file": file.number,
        "row": row,
        "name": file.name,
        "offset": offset,
        "length": length,
    }
    facts |= {"begin": offset, "end": None if offset is None else offset + length + OVERHEAD}
    facts |= {"compression": source.compression, "place": place}
    facts |= {
        "previous": row - 1 if row else None,
        "next": row + 1 if row + 1 < source.count or not source.exact else None,
        "exact": source.exact,
        "fields": frame_fields(source, row, length, limits),
    }
    facts |= {"kind": found.kind or None, "problem": found.problem, "damaged": found.damaged}
    facts |= {"text": None, "tensor": None}
    if payload is not None and found.kind == "other":
        facts |= _other(payload, limits)
    here = Place(file.number, row)
    pictures = pictures_of(found, here, limits.record_pictures)
    facts |= {"pictures": pictures, "overlay": overlay_of(found, here, pictures)}
    facts |= {"episode": is_episode(found)}
    return facts | _features(found, here, limits)


def payload_of(source: Source, row: int, limits: Limits) -> tuple[Decoded, bytes | None]:
    """A record, decoded, and its payload; None if that cannot be read."""
    fetched = fetch(source, row, row + 1, limits.record_bytes + OVERHEAD, limits)
    problem = fetched.problems.get(row)
    if problem is not None:
        return Decoded("", problem=problem, damaged=row not in fetched.costly), None
    payload = fetched.records[0]
    return decoded(payload), payload


def frame_fields(source: Source, row: int, length: int, limits: Limits) -> list[dict[str, Any]]:
    """The four fields of a frame, their places in it, and whether the checksums hold, where that is known."""
    head = source.frame_bytes(row, 0, HEADER)
    foot = source.frame_bytes(row, HEADER + length, FOOTER)
    if len(head) < HEADER or len(foot) < FOOTER:
        return []
    holds = header_holds(head)
    stored = int.from_bytes(foot, "little")
    data_holds = None  # of a record that is too large to be read, nothing is known
    if length <= limits.record_bytes:
        data_holds = masked_crc(source.frame_bytes(row, HEADER, length)) == stored
    end = HEADER + length
    return [
        _field("length", 0, 8, str(int.from_bytes(head[:8], "little")), holds),
        _field("length checksum", 8, HEADER, f"{int.from_bytes(head[8:], 'little'):#010x}", holds),
        _field("data", HEADER, end, None, data_holds),
        _field("data checksum", end, end + FOOTER, f"{stored:#010x}", data_holds),
    ]


def _field(name: str, begin: int, end: int, value: str | None, ok: bool | None) -> dict[str, Any]:
    return {"name": name, "begin": begin, "end": end, "value": value, "ok": ok}


def _other(payload: bytes, limits: Limits) -> dict[str, Any]:
    """A payload that is no Example: as a tensor, or as text."""
    tensor = tensor_of(payload, limits)
    return {"tensor": tensor, "text": whole_of(payload, limits.record_text)["text"]}


def _features(found: Decoded, place: Place, limits: Limits) -> dict[str, Any]:
    """The features at length; all values together are bounded, so the last ones may show few."""
    left = limits.record_total
    listed: list[dict[str, Any]] = []
    for name, value in list(found.features.items())[: limits.record_features]:
        listed.append(_feature(name, value, place, min(left, limits.record_values), limits))
        left -= len(listed[-1]["values"])
    for name, steps in list(found.lists.items())[: limits.record_features - len(listed)]:
        listed.append(_feature_list(name, steps, place, left, limits))
        left -= sum(map(len, listed[-1]["steps"])) + len(listed[-1]["steps"])
        left = max(0, left)
    return {"features": listed, "more": len(found.features) + len(found.lists) - len(listed)}


def _feature(name: str, value: Value, place: Place, most: int, limits: Limits) -> dict[str, Any]:
    shown = Shown(most, limits.record_text)
    kind, values = value
    if kind == BYTES:  # texts together are bounded too
        shown = Shown(most, max(limits.cell_text, limits.record_text // max(1, len(values))))
    one = cell(name, value, place, shown) | {"steps": None}
    if kind == BYTES:
        for described, string in zip(one["values"], values[:8], strict=False):
            if described["content"] == BINARY and (tensor := tensor_of(string, limits)):
                described["tensor"] = tensor
    return one


def _feature_list(name: str, steps: list[Value], place: Place, left: int, limits: Limits) -> dict[str, Any]:
    kind = next((kind for kind, _ in steps if kind != UNSET), UNSET)
    counts = [0 if values is None else len(values) for _, values in steps]
    listed: list[list[Any]] = []
    for number, (one, values) in enumerate(steps[: limits.record_steps]):
        if left <= 0:
            break
        shown = Shown(min(limits.step_values, left), limits.cell_text)
        listed.append(cells(one, values, place.of(name, number), shown))
        left -= len(listed[-1]) + 1
    found = {"name": name, "list": True, "kind": KINDS.get(kind, "unset"), "count": sum(counts)}
    cut = len(steps) > len(listed) or sum(map(len, listed)) < sum(counts)
    return found | {"values": [], "steps": listed, "step_count": len(steps), "cut": cut}


def tensor_of(data: bytes, limits: Limits) -> dict[str, Any] | None:
    """The tensor in a serialized TensorProto; None if there is none."""
    if not 2 <= len(data) <= _LARGEST_TENSOR or data[0] != 0x08:  # it begins with its dtype
        return None
    try:
        array = parse_tensor(data, max_expansion=1 << 20)
    except (PureRecordError, ValueError, TypeError, MemoryError):
        return None
    flat = array.reshape(-1)[: limits.record_values]
    if array.dtype.kind == "O":
        values: list[Any] = [bytes_value(bytes(one), Place(0, 0), 0, limits.cell_text) for one in flat]
        values = [one | {"media": None, "thumb": None} for one in values]
    elif array.dtype.kind in "biuf":
        values = numbers(flat if array.dtype.kind != "b" else flat.astype("int64"))
    else:
        values = [str(one) for one in flat.tolist()]
    shape = list(array.shape)
    return {"dtype": str(array.dtype), "shape": shape, "values": values, "cut": array.size > flat.size}
