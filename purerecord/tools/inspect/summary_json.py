"""Summaries in the types of JSON. Strings that are no text, and floats that JSON lacks, take the forms that
``cat`` gives them. This module does not know how statistics are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...payload.json_values import bytes_to_json, float_to_json
from .feature_statistics import BytesSummary, FeatureSummary
from .number_statistics import NumberSummary


def feature_json(feature: FeatureSummary) -> dict[str, Any]:
    """The summary of a feature."""
    return {
        "name": feature.name,
        "sequence": feature.sequence,
        "kind": feature.kind,
        "present": feature.present,
        "missing": feature.missing,
        "untyped": feature.untyped,
        "lists": feature.lists,
        "empty": feature.empty,
        "size": feature.size,
        "lengths": number_json(feature.lengths, "int64"),
        "steps": None if feature.steps is None else number_json(feature.steps, "int64"),
        "numbers": {kind: number_json(found, kind) for kind, found in feature.numbers.items()},
        "bytes": None if feature.strings is None else bytes_json(feature.strings),
    }


def number_json(found: NumberSummary, kind: str) -> dict[str, Any]:
    """The summary of numbers of a kind."""

    def number(value: Any) -> Any:
        return None if value is None else number_of(value, kind)

    return {
        "count": found.count,
        "nan": found.nan,
        "positive_infinities": found.positive_infinities,
        "negative_infinities": found.negative_infinities,
        "zeros": found.zeros,
        "min": number(found.minimum),
        "max": number(found.maximum),
        "mean": found.mean,
        "deviation": found.deviation,
        "distinct": found.distinct,
        "exact": found.exact,
        "quantiles": [
            {"share": one.share, "low": number(one.low), "high": number(one.high)} for one in found.quantiles
        ],
        "histogram": [{"from": low, "to": high, "count": count} for low, high, count in found.histogram],
        "most_frequent": [{"value": number(value), "count": count} for value, count in found.most_frequent],
    }


def bytes_json(found: BytesSummary) -> dict[str, Any]:
    """The summary of strings."""
    return {
        "count": found.count,
        "lengths": number_json(found.lengths, "int64"),
        "contents": found.contents,
        "compared": found.compared,
        "distinct": found.distinct,
        "most_frequent": [
            {"value": text_or_base64(value), "count": count} for value, count in found.most_frequent
        ],
        "most_frequent_error": found.error,
    }


def number_of(value: Any, kind: str) -> Any:
    """A number of a kind; of float32, the shortest one that reads back as the same float32."""
    return value if kind == "int64" else float_to_json(float(str(np.float32(value))))


def text_or_base64(value: bytes) -> Any:
    """A string as text, or as an object with its base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_to_json(value)
