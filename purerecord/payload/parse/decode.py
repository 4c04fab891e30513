"""``decode=``: columns of encoded images as pixels.

The images of a batch are decoded in threads. One that cannot be decoded is a ``SchemaError`` that names the
record. This module does not know the formats of images.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...bytes_column import BytesColumn
from ..images import FORMATS, ImageError, ImageForm, check_decoders, decoded_image
from ..ragged import Ragged
from ..specs import FeatureSpec
from ..values import Array
from .checked_columns import CheckedColumns, Origin
from .examples import Serialized, holds_bytes_column, parse_example, payload_or_records
from .text import row_of

# With fewer images than this for each thread, starting threads costs more than it saves.
_LEAST_PER_THREAD = 2


def as_forms(decode: Mapping[str, Any], features: Mapping[str, FeatureSpec]) -> dict[str, ImageForm]:
    """The argument ``decode``, checked: what each of some features is decoded to."""
    if not isinstance(decode, Mapping):
        raise TypeError(f'decode must be a mapping such as {{"image": "rgb"}}, not {decode!r}')
    forms = {name: ImageForm.of(name, given) for name, given in decode.items()}
    for name, form in forms.items():
        if name not in features or not holds_bytes_column(features[name]):
            what = "no feature" if name not in features else str(features[name])
            raise ValueError(
                f"decode names {name!r}, which is {what}; it must be a FixedLenFeature of one string or a "
                "RaggedFeature of strings"
            )
        check_decoders(form)
    return forms


def parse_and_decode(
    serialized: Serialized,
    features: Mapping[str, FeatureSpec],
    forms: Mapping[str, ImageForm],
    bytes_columns: bool | tuple[str, ...] = False,
) -> dict[str, Any]:
    """What ``parse_example`` gives, with pixels in place of the images that ``forms`` names."""
    payload, records = payload_or_records(serialized)
    named = bytes_columns if isinstance(bytes_columns, bool) else (*bytes_columns, *forms)
    one = payload if records is None else records
    outputs = parse_example(one, features, bytes_columns=named or tuple(forms))
    batch = CheckedColumns({}, 1 if records is None else len(records), Origin(records))
    for name, form in forms.items():
        outputs[name] = decoded_column(name, outputs[name], form, batch)
    return outputs


def decoded_column(name: str, column: Any, form: ImageForm, batch: CheckedColumns) -> Any:
    """The images of ``column`` as pixels: one array if the form has a size, else an array of arrays."""
    if isinstance(column, bytes):
        return _decoded(name, column, [column], form, batch)[0]
    strings = column.flat_values if isinstance(column, Ragged) else column
    return _with_pixels(column, _decoded(name, column, strings, form, batch))


def _with_pixels(column: Any, pixels: Array) -> Any:
    if not isinstance(column, Ragged):
        return pixels
    inner = _with_pixels(column.values, pixels)
    return Ragged(inner, column.row_splits, column.missing, column.untyped)


def _decoded(name: str, column: Any, strings: Any, form: ImageForm, batch: CheckedColumns) -> Array:
    images = list(strings.views()) if isinstance(strings, BytesColumn) else list(strings)
    if form.size is None:
        out = np.empty(len(images), object)
    else:
        out = np.empty((len(images), *form.size, form.channels), np.uint8)

    def decode(place: int) -> None:
        out[place] = decoded_image(images[place], form)

    done = 0
    try:
        for _ in _in_threads(decode, len(images)):
            done += 1
    except ImageError as error:
        row = row_of(column, done) if batch.size > 1 else 0
        raise batch.mismatch(name, row, "image", f"holds {error}", expected=FORMATS, found=None) from error
    return out


def _in_threads(function: Callable[[int], None], count: int) -> Iterator[None]:
    """Calls ``function`` of all numbers below ``count`` in threads. Yields, or raises its error, in order."""
    threads = min(_cpus(), count // _LEAST_PER_THREAD)
    if threads < 2:
        yield from map(function, range(count))
        return
    executor = ThreadPoolExecutor(threads, "purerecord.images")
    try:
        yield from executor.map(function, range(count))
    finally:
        executor.shutdown(cancel_futures=True)


def _cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
