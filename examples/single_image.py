"""One picture to a TFRecord and back, with the names of TensorFlow 1.

    python single_image.py --out work                 # with purerecord
    python single_image.py --out work2 --tensorflow   # the same with TensorFlow

Old programs run too: tf.python_io, tf.gfile, tf.parse_single_example, tf.FixedLenFeature and
make_one_shot_iterator exist beside their new names. TensorFlow itself keeps them in compat.v1.
The script draws the picture.
"""

import argparse
import os
import sys

import numpy as np
from drawings import pet, save

if "--tensorflow" in sys.argv:
    import tensorflow.compat.v1 as tf
else:
    import purerecord.tf as tf  # noqa: PLR0402 - one name changes, no more

tf.enable_eager_execution()


def convert(picture, record):
    """Write the picture as a JPEG, as raw pixels, and with its shape."""
    with tf.gfile.GFile(picture, "rb") as file:
        encoded = file.read()
    pixels = tf.image.decode_jpeg(encoded, dct_method="INTEGER_ACCURATE").numpy()
    feature = {
        "encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
        "raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
        "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=pixels.shape)),
    }
    writer = tf.python_io.TFRecordWriter(record)
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    writer.write(example.SerializeToString(deterministic=True))  # fixes the order of the features
    writer.close()


def parse(serialized):
    """The pixels twice: as stored, and decoded from the JPEG."""
    features = {
        "encoded": tf.FixedLenFeature([], tf.string),
        "raw": tf.FixedLenFeature([], tf.string),
        "shape": tf.FixedLenFeature([3], tf.int64),
    }
    example = tf.parse_single_example(serialized, features=features)
    raw = tf.reshape(tf.decode_raw(example["raw"], tf.uint8), example["shape"])
    return raw, tf.image.decode_jpeg(example["encoded"], dct_method="INTEGER_ACCURATE")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="single_image", help="for all files")
    parser.add_argument("--tensorflow", action="store_true", help="use TensorFlow instead of purerecord")
    out = parser.parse_args().out
    if not tf.gfile.Exists(out):
        tf.gfile.MakeDirs(out)
    picture, record = os.path.join(out, "cat.jpg"), os.path.join(out, "cat.tfrecord")
    save(pet("cat", np.random.default_rng(5)), picture)
    convert(picture, record)

    for serialized in tf.python_io.tf_record_iterator(record):
        example = tf.train.Example.FromString(serialized)
        for name, feature in sorted(example.features.feature.items()):
            print(f"{name}: {feature.WhichOneof('kind')}")

    raw, decoded = tf.data.TFRecordDataset(record).map(parse).make_one_shot_iterator().get_next()
    print("pixels:", raw.shape, raw.dtype.name, "mean", np.mean(raw.numpy()).round(3))
    print("decoded pixels are the same:", bool(tf.reduce_all(tf.equal(raw, decoded))))
    with tf.gfile.GFile(os.path.join(out, "again.png"), "wb") as file:
        file.write(tf.image.encode_png(raw).numpy())
    print("files:", sorted(tf.gfile.ListDirectory(out)))


if __name__ == "__main__":
    main()
