"""Spark 4's data source ``tfrecord``: ``purerecord.spark``.

    options            the options of a read and of a write, checked
    row_types          for each column of rows, which kind of feature it is made of
    inference          the types that the first records have
    row_batches        Records → the record batches that Spark takes
    input_parts        the files of a read, and the parts of them that tasks read
    output_folder      a folder of the disk or of a store in which files appear
    part_files         what a task writes, and the commit of all
    source             ``DefaultSource``, which alone knows Spark
    pyspark_tfrecord   what Spark imports; the wheel has it at the top

Only ``source`` imports pyspark; it is imported when ``DefaultSource`` is used. This folder must not know how
frames are read or Examples encoded.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .source import DefaultSource as DefaultSource

__all__ = ["DefaultSource"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .source import DefaultSource  # noqa: PLC0415 - it needs pyspark

    return DefaultSource


def __dir__() -> list[str]:
    return __all__
