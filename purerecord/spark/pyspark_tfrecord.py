"""The module ``pyspark_tfrecord`` of the wheel, by which Spark finds the data source ``tfrecord``.

Spark imports every module at the top whose name begins with ``pyspark_``, and takes its ``DefaultSource``. It
does so whenever a program uses any source written in Python, so this import must be cheap and must not fail,
also beside a Spark that has no such sources.
"""

from contextlib import suppress

__all__ = ["DefaultSource"]

with suppress(ImportError):
    from purerecord.spark import DefaultSource
