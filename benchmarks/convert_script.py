"""Parquet to TFRecords with TensorFlow, as people write it. ``benchmarks.convert`` runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import tensorflow as tf


def feature_of(value: object) -> tf.train.Feature:
    """A value of a row as a Feature."""
    if isinstance(value, str):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
    if isinstance(value, np.ndarray):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    if isinstance(value, float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def main(source: Path, target: Path) -> None:
    """Convert a file."""
    frame = pd.read_parquet(source)
    with tf.io.TFRecordWriter(str(target)) as writer:
        for row in frame.to_dict("records"):
            features = {name: feature_of(value) for name, value in row.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
