"""``tf.python_io``: where TensorFlow 1 had reading and writing of records."""

from __future__ import annotations

from ._missing import missing
from .io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]

__getattr__ = missing("python_io")
