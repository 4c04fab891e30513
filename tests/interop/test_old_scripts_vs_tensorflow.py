"""Scripts of TensorFlow's users: the same text runs with ``purerecord.tf`` and with TensorFlow."""

# ruff: noqa: E501 - the scripts are as they are

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord.tf as ours
from tests.support.facade_vs_tensorflow import plain
from tests.support.interop import interop

tf = interop("tensorflow")

SCRIPTS = {
    "Object Detection API: create_pascal_tf_record": """
        with tf.gfile.GFile(folder + "/labels.csv", "w") as file:
            file.write("name,width,xmin\\ncat,48,0.25\\ndog,32,0.5\\n")
        writer = tf.python_io.TFRecordWriter(folder + "/train.record")
        with tf.gfile.GFile(folder + "/labels.csv", "r") as file:
            lines = file.read().strip().splitlines()[1:]
        def int64(value):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        for number, line in enumerate(lines):
            name, width, xmin = line.split(",")
            if number % 100 == 0:
                tf.logging.info("On image %d of %d", number, len(lines))
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "image/width": int64(int(width)),
                "image/object/class/text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode("utf8")])),
                "image/object/bbox/xmin": tf.train.Feature(float_list=tf.train.FloatList(value=[float(xmin)])),
            })).SerializeToString())
        writer.close()
        keys = {
            "image/width": tf.FixedLenFeature([], tf.int64),
            "image/object/class/text": tf.VarLenFeature(tf.string),
            "image/object/bbox/xmin": tf.VarLenFeature(tf.float32),
        }
        result = [
            tf.parse_single_example(record, keys)["image/object/class/text"].values
            for record in tf.data.TFRecordDataset(folder + "/train.record")
        ]
        result.append(tf.io.decode_csv(lines, [[""], [0], [0.0]])[1])
    """,
    "Kaggle: TPU flowers": """
        try:
            tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
            tf.config.experimental_connect_to_cluster(tpu)
        except ValueError:
            tpu = None
        strategy = tf.distribute.get_strategy()
        batch_size = 2 * strategy.num_replicas_in_sync
        AUTO = tf.data.experimental.AUTOTUNE
        with tf.io.TFRecordWriter(folder + "/flowers.tfrec") as writer:
            for number in range(5):
                image = tf.io.encode_jpeg(np.full((8, 8, 3), number * 40, np.uint8)).numpy()
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                    "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                })).SerializeToString())
        def read(example):
            parsed = tf.io.parse_single_example(example, {
                "image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)})
            image = tf.cast(tf.image.decode_jpeg(parsed["image"], channels=3), tf.float32) / 255.0
            return tf.reshape(image, [8, 8, 3]), tf.cast(parsed["class"], tf.int32)
        def augment(image, label):
            image = tf.image.stateless_random_flip_left_right(image, [1, 2])
            image = tf.image.stateless_random_crop(image, [6, 6, 3], [3, 4])
            return tf.image.resize(image, [8, 8]), label
        options = tf.data.Options()
        options.experimental_deterministic = False
        dataset = tf.data.TFRecordDataset(tf.io.gfile.glob(folder + "/*.tfrec"), num_parallel_reads=AUTO)
        dataset = dataset.with_options(options).map(read, num_parallel_calls=AUTO)
        dataset = dataset.map(augment, num_parallel_calls=AUTO).cache().repeat().batch(batch_size).prefetch(AUTO)
        elements = [(int(label), np.round(image.numpy() * 100).tolist()) for image, label in dataset.unbatch().take(10)]
        result = sorted(elements)  # two epochs, in an order that is TensorFlow's choice
    """,
    "YouTube-8M: the reader of SequenceExamples": """
        with tf.io.TFRecordWriter(folder + "/frames.tfrecord") as writer:
            for number in range(3):
                frames = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([number, frame, 255, 0])]))
                          for frame in range(number + 1)]
                writer.write(tf.train.SequenceExample(
                    context=tf.train.Features(feature={
                        "id": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"v%d" % number])),
                        "labels": tf.train.Feature(int64_list=tf.train.Int64List(value=range(number)))}),
                    feature_lists=tf.train.FeatureLists(feature_list={
                        "rgb": tf.train.FeatureList(feature=frames)})).SerializeToString())
        def dequantize(feature, greatest=2, least=-2):
            scale = (greatest - least) / 255.0
            return feature * scale + (greatest - least) / 512.0 + least
        result = []
        for record in tf.data.TFRecordDataset(folder + "/frames.tfrecord"):
            contexts, features = tf.io.parse_single_sequence_example(
                record,
                context_features={"id": tf.io.FixedLenFeature([], tf.string), "labels": tf.io.VarLenFeature(tf.int64)},
                sequence_features={"rgb": tf.io.FixedLenSequenceFeature([], dtype=tf.string)})
            matrix = dequantize(tf.reshape(tf.cast(tf.io.decode_raw(features["rgb"], tf.uint8), tf.float32), [-1, 4]))
            result.append((contexts["id"], contexts["labels"].values, tf.round(matrix * 1000)))
    """,
    "a vocabulary with hashed unknown words": """
        with tf.io.gfile.GFile(folder + "/vocab.txt", "w") as file:
            file.write("the\\ncat\\n")
        words = tf.lookup.TextFileInitializer(folder + "/vocab.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                                              tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER)
        table = tf.lookup.StaticVocabularyTable(words, 4)
        def tokens(text):
            text = tf.strings.regex_replace(tf.strings.lower(text), r"[^a-z ]", "")
            return table.lookup(tf.strings.split(text))
        dataset = tf.data.Dataset.from_tensor_slices(["The cat, sat.", "A dog!"]).map(tokens)
        result = list(dataset.padded_batch(2, padded_shapes=[None]))
    """,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_gives_what_it_gives_under_tensorflow(script: str, tmp_path: Path) -> None:
    results = []
    for name, library in (("mine", ours), ("theirs", tf)):
        folder = tmp_path / name
        folder.mkdir()
        if "Object Detection" in script:
            library = library.compat.v1  # noqa: PLW2901
        scope: dict[str, Any] = {"tf": library, "np": np, "folder": str(folder)}
        exec(textwrap.dedent(SCRIPTS[script]), scope)
        results.append(plain(scope["result"]))
    assert results[0] == results[1]
