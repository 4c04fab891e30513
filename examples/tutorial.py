"""The tutorial: tf.train.Example and TFRecord files, step by step, with 10,000 observations.

    python tutorial.py --out work                 # with purerecord
    python tutorial.py --out work2 --tensorflow   # the same with TensorFlow

It turns values into features and features into an Example, writes records with a dataset and with Python,
reads them raw and parsed, and stores whole tensors and pictures.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from drawings import landmark, pet, save

if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import purerecord.tf as tf  # noqa: PLR0402 - one name changes, no more

COUNT = 10_000
ANIMALS = np.array([b"cat", b"dog", b"chicken", b"horse", b"goat"])
OBSERVATION = {
    "feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
}
PICTURE = {
    "shape": tf.io.FixedLenFeature([3], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "image_raw": tf.io.FixedLenFeature([], tf.string),
}


def bytes_feature(value):
    """A feature of a string or of bytes."""
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()  # a BytesList does not unpack an eager tensor
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def int64_feature(*values):
    """A feature of bools or integers. TensorFlow needs ``int``: the newest protobuf refuses bools there."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=map(int, values)))


def serialize(feature):
    """The bytes of an Example; ``deterministic`` makes them the same in every run."""
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString(deterministic=True)


def serialize_observation(feature0, feature1, feature2, feature3):
    numbers = {"feature0": int64_feature(feature0), "feature1": int64_feature(feature1)}
    return serialize({**numbers, "feature2": bytes_feature(feature2), "feature3": float_feature(feature3)})


def show_features():
    print("# Features")
    for feature in (bytes_feature("København".encode()), float_feature(np.exp(1)), int64_feature(True, 2)):
        print(feature, feature.SerializeToString(), sep="")
    data = serialize_observation(False, 4, b"goat", 0.9876)
    print("# One Example", data, tf.train.Example.FromString(data), sep="\n")


def write_observations(by_dataset, by_python):
    rng = np.random.default_rng(0)
    feature1 = rng.integers(0, 5, COUNT)
    columns = rng.random(COUNT) < 0.5, feature1, ANIMALS[feature1], rng.standard_normal(COUNT)
    dataset = tf.data.Dataset.from_tensor_slices(columns)
    print("# A dataset of tuples")
    print(dataset.element_spec)
    print(next(iter(dataset)))

    def serialize_tensors(*row):
        return tf.reshape(tf.py_function(serialize_observation, row, tf.string), ())

    tf.data.experimental.TFRecordWriter(str(by_dataset)).write(dataset.map(serialize_tensors))
    with tf.io.TFRecordWriter(str(by_python)) as writer:
        for row in zip(*columns, strict=True):
            writer.write(serialize_observation(*row))
    print("both files are the same:", by_dataset.read_bytes() == by_python.read_bytes())


def read_observations(path):
    raw = tf.data.TFRecordDataset([str(path)])
    print("# Raw records")
    for record in raw.take(2):
        print(repr(record))
    print("# Parsed records")
    parsed = raw.map(lambda record: tf.io.parse_single_example(record, OBSERVATION))
    for row in parsed.take(2):
        for name in OBSERVATION:
            print(f"{name}: {row[name]!r}")
    print("# All records at once")
    every = tf.io.parse_example(list(raw.as_numpy_iterator()), OBSERVATION)
    print(f"{every['feature0'].shape[0]} observations, {np.sum(every['feature0'])} are true")
    for name, count in zip(*np.unique(every["feature2"].numpy(), return_counts=True), strict=True):
        print(f"{name.decode()}: {count}")


def store_tensors(path):
    tensors = {"float": tf.constant([[0.5, -1.0], [2.0, 4.0]]), "text": tf.constant(["København", "東京"])}
    print("# Tensors")
    with tf.io.TFRecordWriter(str(path)) as writer:
        for name, tensor in tensors.items():
            writer.write(serialize({name: bytes_feature(tf.io.serialize_tensor(tensor))}))
    for name, record in zip(tensors, tf.data.TFRecordDataset(str(path)), strict=True):
        stored = tf.io.parse_single_example(record, {name: tf.io.FixedLenFeature([], tf.string)})[name]
        print(tf.io.parse_tensor(stored, out_type=tensors[name].dtype))


def store_pictures(out):
    rng, labels = np.random.default_rng(0), {"cat.jpg": 0, "bridge.jpg": 1}
    save(pet("cat", rng), out / "cat.jpg")
    save(landmark("bridge", rng), out / "bridge.jpg")
    print("# Pictures")
    with tf.io.TFRecordWriter(str(out / "pictures.tfrecord")) as writer:
        for name, number in labels.items():
            data = (out / name).read_bytes()
            shape, label = int64_feature(*tf.io.decode_jpeg(data).shape), int64_feature(number)
            writer.write(serialize({"shape": shape, "label": label, "image_raw": bytes_feature(data)}))
    dataset = tf.data.TFRecordDataset(str(out / "pictures.tfrecord"))
    for row in dataset.map(lambda record: tf.io.parse_single_example(record, PICTURE)):
        name = list(labels)[row["label"].numpy()]
        same = row["image_raw"].numpy() == (out / name).read_bytes()
        print(name, row["shape"].numpy(), "as it was:", same)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("tutorial"), help="for all files")
    parser.add_argument("--tensorflow", action="store_true", help="use TensorFlow instead of purerecord")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    show_features()
    write_observations(out / "by_dataset.tfrecord", out / "by_python.tfrecord")
    read_observations(out / "by_dataset.tfrecord")
    store_tensors(out / "tensors.tfrecord")
    store_pictures(out)


if __name__ == "__main__":
    main()
