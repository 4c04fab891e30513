"""What people do with TFRecords all day: ``purerecord.tools``.

    converters/  files of other formats to TFRecords, and back
    rewrite/     TFRecords to other TFRecords: reshard, shuffle, select, sort ...
    inspect/     what is in the files: schemas, statistics, sizes
    one_kind     columns in which every feature has one kind
    expression_values   the values that an expression computes with
    expression   ``Expression``: a condition on the features of a record, as text

Each function here is a command of the shell too. This folder must not know how a frame is laid out nor how an
Example is encoded. A function is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Which module of this folder defines which public names.
_HOMES: dict[str, list[str]] = {
    "converters.convert": ["convert"],
    "converters.report": ["ConvertReport"],
    "expression": ["Expression"],
    "inspect.count": ["Counts", "FileCount", "count"],
    "inspect.ends": ["head", "tail"],
    "inspect.schema": ["schema", "schema_of", "schema_to_python"],
    "inspect.stats": ["FileStats", "Stats", "stats"],
    "inspect.usage": ["FeatureUsage", "Usage", "du"],
    "rewrite.dedup": ["dedup"],
    "rewrite.diff": ["Change", "Difference", "RecordPlace", "diff"],
    "rewrite.how": ["How"],
    "rewrite.report": ["Rewritten"],
    "rewrite.reshard": ["compress", "merge", "reshard"],
    "rewrite.sample": ["sample"],
    "rewrite.select": ["select"],
    "rewrite.shuffle": ["shuffle"],
    "rewrite.sort": ["sort"],
    "rewrite.split": ["split"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
