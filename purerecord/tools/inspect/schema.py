"""``schema``: specs that fit the records of files, and the forms in which people keep them.

The first records of each file are enough for a look; for all of them, the specs come from their statistics.
This module does not know how specs are inferred from records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ... import public
from ...payload.columns.gather_sequences import has_feature_lists
from ...payload.parse.schema import infer_schema
from ...payload.parse.schema_pbtxt import Occurrence
from ...payload.specs import FeatureSpec, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature
from ...records import Records
from ...storage.paths import resolve
from ...storage.url import stored
from .ends import head
from .feature_statistics import FeatureSummary
from .stats import Stats

SAMPLE = 1000
_DTYPES: dict[str, Any] = {"bytes": bytes, "float32": np.float32, "int64": np.int64}


@public
def schema(
    paths: Any,
    *,
    sample: int = SAMPLE,
    compression: Any = "auto",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Any:
    """Specs that fit the first ``sample`` records of each file; for SequenceExamples a pair.

    ``schema_to_json``, ``schema_to_pbtxt`` and ``schema_to_python`` turn them into text. ``schema_of`` makes
    them of all records.
    """
    if sample < 1:
        raise ValueError(f"sample must be positive, not {sample}")
    files = resolve(stored(paths, storage_options, filesystem))
    return schema_of_records([head(file, sample, compression=compression) for file in files])


def schema_of_records(batches: Iterable[Records]) -> Any:
    """Specs that fit the records; a pair if they are SequenceExamples."""
    records = Records.concat(batches)
    if not len(records):
        raise ValueError("no record to infer a schema from")
    return infer_schema(records, sequence=True) if has_feature_lists(records) else infer_schema(records)


@public
def schema_of(stats: Stats) -> Any:
    """Specs that fit all the records that ``stats`` is about; a pair if there are feature lists.

    >>> schema_of(stats("train-*.tfrecord", workers=8))
    """
    context = {found.name: _spec(found) for found in stats.features if found.lists and not found.sequence}
    steps = {found.name: _spec(found) for found in stats.features if found.lists and found.sequence}
    return (context, steps) if any(found.sequence for found in stats.features) else context


def occurrences(stats: Stats) -> dict[str, Occurrence]:
    """How often each feature occurs, for ``schema_to_pbtxt``."""
    return {
        found.name: Occurrence(
            always=not found.missing and not found.untyped,
            fewest=0 if found.untyped else int(found.lengths.minimum or 0),
            most=int(found.lengths.maximum or 0),
        )
        for found in stats.features
        if found.lists and not found.sequence
    }


def _spec(found: FeatureSummary) -> FeatureSpec:
    if len(found.lists) > 1:
        raise ValueError(f"feature {found.name!r} has lists of several kinds: {found.kind}")
    dtype = _DTYPES[found.kind]
    fewest, most = found.lengths.minimum, found.lengths.maximum
    shape = () if most == 1 else (int(most or 0),)
    if fewest == most and most and not found.untyped:
        if found.sequence:
            return FixedLenSequenceFeature(shape, dtype, allow_missing=bool(found.missing))
        if not found.missing:
            return FixedLenFeature(shape, dtype)
    return RaggedFeature(dtype, row_splits_dtype=np.int64)


@public
def schema_to_python(features: Any) -> str:
    """``features`` as Python to paste: ``features = {...}``, or ``context`` and ``sequence``."""
    parts = [("features", features)]
    if isinstance(features, tuple):
        parts = list(zip(("context", "sequence"), features, strict=True))
    classes = sorted({type(spec).__name__ for _, specs in parts for spec in specs.values()})
    lines = [f"from purerecord import {', '.join(classes)}", ""] if classes else []
    for name, specs in parts:
        lines += [f"{name} = {{", *(f"    {key!r}: {spec!r}," for key, spec in specs.items()), "}"]
    return "\n".join(lines) + "\n"
