"""What notebooks show: ``_repr_html_`` of records, columns, files, datasets and reports, as small tables.

Whatever the data, showing it never raises, reads at most a few records, takes nothing from an iterator, and
gives a bounded amount of HTML in which everything is escaped. Pictures are recognised by their content and
shown as thumbnails. The objects import this module when a notebook asks for them, since it knows what stands
above them.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from itertools import islice
from typing import Any

import numpy as np

from .container.reader import RecordReader
from .errors import DecodeError, PureRecordError
from .markup import Markup, bar, element, fragment, joined, markup, table
from .payload.example import decode_sequence_example
from .payload.image_header import image_header
from .payload.ragged import Ragged
from .recovery.report import counted, human_size
from .tools.inspect.content import EMPTY, PICTURES, TEXT, content_of

_ROWS, _COLUMNS, _FILES = 8, 20, 20
_VALUES, _CHARACTERS = 6, 60
_STEPS, _LONGEST_STEP = 30, 300
_FEATURES, _LISTED = 50, 5
# A longer record is not decoded; a file may announce one of any length.
_LONGEST_RECORD = 1 << 26
# Pictures: how many, how many bytes each and all of them, and how many pixels are decoded for one.
_PICTURES, _PICTURE_BYTES, _ALL_BYTES, _PIXELS = 24, 1 << 17, 1 << 20, 50_000_000
_SMALL_PICTURE = 1 << 14  # bytes of one that is shown as it is
_SIDE = 96


def _never_raises(show: Callable[..., Markup]) -> Callable[..., str]:
    """``show`` as a part of a page; of what cannot be shown, it says why."""

    @wraps(show)
    def shown(value: Any, *arguments: Any, **keywords: Any) -> str:
        try:
            return str(fragment(show(value, *arguments, **keywords)))
        except Exception as error:
            text = f"{type(value).__name__}: {type(error).__name__}: {error}"
            return str(fragment(element("p", _cut(text, _LONGEST_STEP), class_="bad")))

    return shown


# --- What is shown of each type ---------------------------------------------------------------------


@_never_raises
def show_records(records: Any) -> Markup:
    """``Records``: the first of them, decoded."""
    origin = f" from {records.path}" if records.path else ""
    title = f"{counted(len(records), 'record')}, {human_size(records.nbytes)}{origin}"
    first = records.origin(0)[1] if len(records) else 0
    return joined([_title("Records", title), _payloads(list(records[:_ROWS]), first, len(records))])


@_never_raises
def show_record_file(file: Any, known: int | None = None, *, part: bool = False) -> Markup:
    """``RecordFile``: its files, and its first records. ``known`` is its length, if asking for it is cheap.

    A ``part`` is read by its numbers, which are known; of a whole file, only the beginning is read.
    """
    count = "" if known is None else f"{counted(known, 'record')} in "
    parts = [_title("RecordFile", f"{count}{counted(len(file.paths), 'file')}"), _paths(file.paths)]
    payloads: list[bytes] = []
    try:
        for payload in _records_of(file, known, part=part):
            payloads.append(payload)
            if sum(map(len, payloads)) > _LONGEST_RECORD:
                break
    except (PureRecordError, OSError, ValueError) as error:
        parts.append(element("p", _cut(f"{type(error).__name__}: {error}", _LONGEST_STEP), class_="bad"))
    return joined([*parts, _payloads(payloads, 0, known)])


@_never_raises
def show_ragged(ragged: Any) -> Markup:
    """``Ragged``: the first rows."""
    pictures = _Pictures()
    rows = []
    for place in range(min(_ROWS, len(ragged))):
        row = ragged[place]
        cell = markup(repr(row)[:200]) if isinstance(row, Ragged) else _values(row, pictures)
        if ragged.untyped is not None and ragged.untyped[place]:
            cell = element("span", "without a type", class_="dim")
        elif ragged.missing is not None and ragged.missing[place]:
            cell = element("span", "missing", class_="dim")
        rows.append((place, f"{len(row):,}", cell))
    title = f"{ragged.shape} {ragged.dtype}"
    return joined(
        [
            _title("Ragged", title),
            table(("", "length", "values"), rows, numbers=(0, 1)),
            _more(len(ragged) - len(rows), "row"),
        ]
    )


@_never_raises
def show_sparse(sparse: Any) -> Markup:
    """``Sparse``: the first values and their indices."""
    pictures = _Pictures()
    rows = [
        (", ".join(map(str, index)), _value(value, pictures))
        for index, value in zip(sparse.indices[:_ROWS].tolist(), sparse.values[:_ROWS], strict=True)
    ]
    left = len(sparse.values) - len(rows)
    title = f"{sparse.dense_shape} {sparse.dtype}, {counted(len(sparse.values), 'value')}"
    return joined([_title("Sparse", title), table(("index", "value"), rows), _more(left, "value")])


@_never_raises
def show_dataset(node: Any) -> Markup:
    """A dataset whose last step is ``node``: its chain, and the files at its beginning. Nothing is read."""
    steps = [node]
    while steps[-1].inputs:
        steps.append(steps[-1].inputs[0])
    rows = [(element("code", _cut(step.label(), _LONGEST_STEP)),) for step in steps[::-1][:_STEPS]]
    left = len(steps) - len(rows)
    paths = getattr(steps[-1], "paths", ())
    return joined([_title("Dataset", ""), table((), rows), _more(left, "step"), _paths(paths)])


@_never_raises
def show_report(report: Any) -> Markup:
    """A ``Report``: its files, those with damage first."""
    files = sorted(report.files, key=lambda file: file.ok)  # the order is kept otherwise
    rows = [
        (
            file.path,
            f"{file.records:,}",
            human_size(file.size),
            element("span", file.verdict(), class_="dim" if file.ok else "bad"),
        )
        for file in files[:_FILES]
    ]
    parts = [
        _title(type(report).__name__, f"{counted(report.records, 'record')}, {human_size(report.size)}"),
        table(("file", "records", "size", "damage"), rows, numbers=(1, 2)),
        _more(len(files) - len(rows), "file"),
    ]
    parts += [element("p", text, class_="bad") for text in report.count_errors[:_FILES]]
    parts += [element("p", text) for text in report.warnings[:_FILES]]
    if output := getattr(report, "output", ""):
        parts.append(element("p", f"{counted(report.records, 'record')} saved and verified: {output}"))
    return joined(parts)


@_never_raises
def show_facts(report: Any, facts: Mapping[str, Any]) -> Markup:
    """A report as a table of its facts, which are values of JSON; those that say nothing are left out."""
    rows = [(name.replace("_", " "), _fact(value)) for name, value in facts.items() if value]
    return joined([_title(type(report).__name__, ""), table((), rows)])


@_never_raises
def show_usage(usage: Any) -> Markup:
    """What each feature takes, with bars."""
    rows = [
        (
            feature.name,
            human_size(feature.size),
            f"{100 * feature.size / max(1, usage.record_bytes):.1f} %",
            bar(feature.size / max(1, usage.record_bytes)),
        )
        for feature in usage.features[:_FEATURES]
    ]
    title = f"{counted(usage.records, 'record')}, {human_size(usage.size)} on disk"
    parts = [_title("Usage", title), table(("feature", "size", "share", ""), rows, numbers=(1, 2))]
    return joined([*parts, _more(len(usage.features) - len(rows), "feature")])


# --- Parts ------------------------------------------------------------------------------------------


def _title(name: str, text: str) -> Markup:
    return element("p", element("b", name), " ", element("span", text, class_="dim"))


def _more(left: int, what: str) -> Markup:
    words = counted(left, f"more {what}") if what else f"{left:,} more"
    return element("p", f"and {words}", class_="dim") if left > 0 else Markup("")


def _paths(paths: Sequence[str]) -> Markup:
    """The first file, and how many there are more."""
    if not paths:
        return Markup("")
    more = f" and {counted(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    return element("p", element("code", paths[0][:500]), more)


def _fact(value: Any) -> Markup:
    if isinstance(value, Mapping):
        rows = [(name, _fact(inner)) for name, inner in islice(value.items(), _FILES)]
        return joined([table((), rows), _more(len(value) - len(rows), "entry")])
    if isinstance(value, (list, tuple)):
        left = len(value) - len(value[:_LISTED])
        return joined(
            [joined((_cut(str(item), _LONGEST_STEP) for item in value[:_LISTED]), ", "), _more(left, "")]
        )
    return markup(f"{value:,}" if type(value) is int else _cut(str(value), _LONGEST_STEP))


def _records_of(file: Any, known: int | None, *, part: bool) -> Iterator[bytes]:
    """The first records of a ``RecordFile``."""
    if part:
        yield from (file[place] for place in range(min(_ROWS, known or 0)))
    elif file.paths:
        with RecordReader(file.paths[:1], max_record_size=_LONGEST_RECORD) as reader:
            yield from islice(reader, _ROWS)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _payloads(payloads: Sequence[bytes], first: int, count: int | None) -> Markup:
    """Records as rows, and their features as columns."""
    pictures = _Pictures()
    rows = [dict(_features(payload)) for payload in payloads]
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = sorted(names)[:_COLUMNS]
    cells = [
        (f"{first + place:,}", *(_shown(row[name], pictures) if name in row else "" for name in shown))
        for place, row in enumerate(rows)
    ]
    left = (count or 0) - len(rows) if count is not None else 0
    wide = _more(len(names) - len(shown), "feature")
    return joined([table(("", *shown), cells, numbers=(0,)), wide, _more(left, "record")])


def _features(payload: bytes) -> Iterator[tuple[str, Any]]:
    """The features of a record; of one that is no Example, the record itself."""
    if len(payload) <= _LONGEST_RECORD:
        with suppress(DecodeError):
            context, sequence = decode_sequence_example(payload)
            if context or sequence or not payload:
                yield from context.items()
                yield from ((name, _Steps(steps)) for name, steps in sequence.items())
                return
    yield "(no Example)", [payload]


class _Steps:
    """The steps of a feature list."""

    def __init__(self, steps: Sequence[Any]) -> None:
        self.steps = steps


def _shown(values: Any, pictures: _Pictures) -> Markup:
    if isinstance(values, _Steps):
        first = _values(values.steps[0], pictures) if len(values.steps) else ""
        return joined([element("span", counted(len(values.steps), "step"), class_="dim"), " ", first])
    return _values(values, pictures)


def _values(values: Any, pictures: _Pictures) -> Markup:
    """The first values of a list."""
    shown = [_value(value, pictures) for value in values[:_VALUES]]
    if len(values) > _VALUES:
        shown.append(element("span", f"… {len(values):,} values", class_="dim"))
    return joined(shown, ", ")


def _value(value: Any, pictures: _Pictures) -> Markup:
    if not isinstance(value, (bytes, str)):
        return markup(value if not isinstance(value, np.ndarray) else repr(value)[:_CHARACTERS])
    data = value.encode(errors="replace") if isinstance(value, str) else value
    content = content_of(data)
    if content == EMPTY:
        return element("span", "empty", class_="dim")
    if content in PICTURES and (picture := pictures.show(data, content)) is not None:
        return picture
    if content == TEXT:
        text = data[: 4 * _CHARACTERS].decode(errors="ignore")
        return markup(_cut(text, _CHARACTERS))
    return element("span", f"{content}, {human_size(len(data))}", class_="dim")


class _Pictures:
    """Pictures as thumbnails, as long as there are few and they are small."""

    def __init__(self) -> None:
        self._left, self._bytes = _PICTURES, _ALL_BYTES

    def show(self, data: bytes, content: str) -> Markup | None:
        """The picture as an element; None if it is not shown."""
        if not self._left or (found := _thumbnail(data, content)) is None or len(found[1]) > self._bytes:
            return None
        self._left -= 1
        self._bytes -= len(found[1])
        address = f"data:image/{found[0].lower()};base64,{base64.b64encode(found[1]).decode()}"
        header = image_header(data)
        title = f"{content}, {header.width} × {header.height}, {human_size(len(data))}"
        return element("img", src=Markup(address), title=title, alt=title)


def _thumbnail(data: bytes, content: str) -> tuple[str, bytes] | None:
    """A picture that is small, and its format; None if there is no way to have one."""
    try:
        header = image_header(data)
    except ValueError:
        return None
    if header.width * header.height > _PIXELS:  # a few bytes may announce any number
        return None
    if len(data) <= _SMALL_PICTURE and max(header.width, header.height) <= 1024:
        return content, data
    try:
        from PIL import Image  # noqa: PLC0415 - an extra
    except ImportError:
        return (content, data) if len(data) <= _PICTURE_BYTES else None
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "BMP", "WEBP")) as image:
            image.draft("RGB", (_SIDE, _SIDE))
            small = image.convert("RGB")
            small.thumbnail((_SIDE, _SIDE))
            target = io.BytesIO()
            small.save(target, "JPEG", quality=80)
    except Exception:
        return None
    return "JPEG", target.getvalue()
