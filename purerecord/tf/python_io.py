"""``tf.python_io``: the record functions of ``tf.io``, by their place in TensorFlow 1."""

from __future__ import annotations

from ._missing import missing
from .io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]

__getattr__ = missing("python_io")
