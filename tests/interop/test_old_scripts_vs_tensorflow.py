"""Scripts of TensorFlow's users: the same text runs with ``purerecord.tf`` and with TensorFlow."""

# ruff: noqa: E501 - the scripts are as they are

from __future__ import annotations

import textwrap
import types
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
    "BERT: create_pretraining_data and input_fn": """
        import collections, logging, random
        seq_length, max_predictions = 12, 3
        class Kept(logging.Handler):
            def emit(self, record):
                logged.append((record.levelname, record.getMessage()))
        logged, kept = [], Kept()
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.get_logger().addHandler(kept)
        with tf.gfile.GFile(folder + "/vocab.txt", "w") as writer:
            writer.write("\\n".join(["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "caf\u00e9", "was", "warm", "##er"]) + "\\n")
        with tf.gfile.GFile(folder + "/text.txt", "w") as writer:
            writer.write("the caf\u00e9 was warm ##er\\n\\nwarm the the was\\n" * 4)
        def load_vocab(path):
            vocab = collections.OrderedDict()
            with tf.gfile.GFile(path, "r") as reader:
                while True:
                    token = reader.readline()
                    if not token:
                        break
                    vocab[token.strip()] = len(vocab)
            return vocab
        vocab = load_vocab(folder + "/vocab.txt")
        def int_feature(values):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))
        def float_feature(values):
            return tf.train.Feature(float_list=tf.train.FloatList(value=list(values)))
        input_files = []
        for pattern in [folder + "/*.txt"]:
            input_files.extend(tf.gfile.Glob(pattern))
        tf.logging.info("*** Reading from input files ***")
        for name in sorted(input_files):
            tf.logging.info("  %s", name.rsplit("/", 1)[1])
        output_files = [folder + "/part-%d.tfrecord" % number for number in range(3)]
        writers = [tf.python_io.TFRecordWriter(name) for name in output_files]
        rng, total = random.Random(12345), 0
        with tf.gfile.GFile(folder + "/text.txt", "r") as reader:
            for line in reader:
                words = line.split()
                if not words:
                    continue
                tokens = ["[CLS]"] + words + ["[SEP]"]
                positions = sorted(rng.sample(range(1, len(tokens) - 1), 2))
                label_ids = [vocab[tokens[position]] for position in positions]
                for position in positions:
                    tokens[position] = "[MASK]"
                ids = [vocab[token] for token in tokens]
                features = collections.OrderedDict()
                features["input_ids"] = int_feature(ids + [0] * (seq_length - len(ids)))
                features["input_mask"] = int_feature([1] * len(ids) + [0] * (seq_length - len(ids)))
                features["masked_lm_positions"] = int_feature(positions + [0])
                features["masked_lm_ids"] = int_feature(label_ids + [0])
                features["masked_lm_weights"] = float_feature([1.0] * len(label_ids) + [0.0])
                features["next_sentence_labels"] = int_feature([total % 2])
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writers[total % len(writers)].write(example.SerializeToString())
                if total < 2:
                    tf.logging.info("tokens: %s", " ".join(tokens))
                    for name in features:
                        feature = features[name]
                        values = feature.int64_list.value if feature.int64_list.value else feature.float_list.value
                        tf.logging.info("%s: %s", name, " ".join(str(x) for x in values))
                total += 1
        for writer in writers:
            writer.close()
        tf.logging.info("Wrote %d total instances", total)
        tf.logging.debug("not shown")
        tf.get_logger().removeHandler(kept)
        name_to_features = {
            "input_ids": tf.FixedLenFeature([seq_length], tf.int64),
            "input_mask": tf.FixedLenFeature([seq_length], tf.int64),
            "masked_lm_positions": tf.FixedLenFeature([max_predictions], tf.int64),
            "masked_lm_ids": tf.FixedLenFeature([max_predictions], tf.int64),
            "masked_lm_weights": tf.FixedLenFeature([max_predictions], tf.float32),
            "next_sentence_labels": tf.FixedLenFeature([1], tf.int64),
        }
        def decode_record(record):
            example = tf.parse_single_example(record, name_to_features)
            for name in list(example.keys()):
                t = example[name]
                if t.dtype == tf.int64:
                    t = tf.to_int32(t)
                example[name] = t
            return example
        def input_fn(is_training, batch_size):
            if is_training:
                d = tf.data.Dataset.from_tensor_slices(tf.constant(output_files)).repeat()
                d = d.shuffle(buffer_size=1)  # another buffer gives another order in each library
                d = d.apply(tf.contrib.data.parallel_interleave(
                    tf.data.TFRecordDataset, sloppy=False, cycle_length=min(4, len(output_files))))
                d = d.shuffle(buffer_size=1)
            else:
                d = tf.data.TFRecordDataset(output_files)
            return d.apply(tf.contrib.data.map_and_batch(
                decode_record, batch_size=batch_size, num_parallel_batches=4, drop_remainder=is_training))
        def gather_indexes(sequence, positions):
            batch_size, length, width = sequence.shape.as_list()
            flat_offsets = tf.reshape(tf.range(0, batch_size, dtype=tf.int32) * length, [-1, 1])
            flat_positions = tf.reshape(positions + flat_offsets, [-1])
            return tf.gather(tf.reshape(sequence, [batch_size * length, width]), flat_positions)
        def masked(features):
            embedded = tf.one_hot(features["input_ids"], depth=len(vocab), dtype=tf.float32)
            one_hot = tf.one_hot(tf.reshape(features["masked_lm_ids"], [-1]), depth=len(vocab), dtype=tf.float32)
            per_example = -tf.reduce_sum(gather_indexes(embedded, features["masked_lm_positions"]) * one_hot, axis=[-1])
            weights = tf.reshape(features["masked_lm_weights"], [-1])
            return tf.reduce_sum(weights * per_example) / (tf.reduce_sum(weights) + 1e-5)
        result = [logged]
        result += [(features, masked(features)) for features in input_fn(True, 3).take(6)]
        result += [(features, masked(features)) for features in input_fn(False, 3)]
    """,
    "Kaggle: rotation, shear, zoom and shift by matrices": """
        import math
        size = 8
        def matrix(rotation, shear, zoom, shift):
            rotation, shear = math.pi * rotation / 180.0, math.pi * shear / 180.0
            one, zero = tf.constant([1], dtype="float32"), tf.constant([0], dtype="float32")
            c, s = tf.math.cos(rotation), tf.math.sin(rotation)
            turned = tf.reshape(tf.concat([c, s, zero, -s, c, zero, zero, zero, one], axis=0), [3, 3])
            c, s = tf.math.cos(shear), tf.math.sin(shear)
            sheared = tf.reshape(tf.concat([one, s, zero, zero, c, zero, zero, zero, one], axis=0), [3, 3])
            zoomed = tf.reshape(tf.concat([one / zoom, zero, zero, zero, one / zoom, zero, zero, zero, one], axis=0), [3, 3])
            shifted = tf.reshape(tf.concat([one, zero, shift, zero, one, -shift, zero, zero, one], axis=0), [3, 3])
            return tf.matmul(tf.matmul(turned, sheared), tf.matmul(zoomed, shifted))
        def transform(number, image):
            odd = size % 2
            draw = lambda index: tf.random.stateless_normal([1], [tf.cast(number, tf.int32), index])
            m = matrix(15.0 * draw(0), 5.0 * draw(1), 1.0 + draw(2) / 10.0, draw(3))
            x = tf.repeat(tf.range(size // 2, -size // 2, -1), size)
            y = tf.tile(tf.range(-size // 2, size // 2), [size])
            idx = tf.stack([x, y, tf.ones([size * size], dtype="int32")])
            idx2 = tf.cast(tf.linalg.matmul(m, tf.cast(idx, dtype="float32")), dtype="int32")
            idx2 = tf.clip_by_value(idx2, -size // 2 + odd + 1, size // 2)
            idx3 = tf.stack([size // 2 - idx2[0,], size // 2 - 1 + idx2[1,]])
            d = tf.gather_nd(image, tf.transpose(idx3))
            return number, tf.reshape(d, [size, size, 3])
        def dropout(number, image):
            block = tf.concat([tf.ones([size, 2, 3]), tf.zeros([size, 3, 3]), tf.ones([size, size - 5, 3])], axis=1)
            return tf.cast(image, tf.float32) * block, tf.one_hot(tf.cast(number, tf.int32), 6)
        pictures = np.random.default_rng(3).integers(0, 256, (6, size, size, 3)).astype(np.uint8)
        dataset = tf.data.Dataset.from_tensor_slices(pictures).enumerate()
        dataset = dataset.map(transform, num_parallel_calls=tf.data.AUTOTUNE).map(dropout).batch(3)
        result = list(dataset)
        result.append([tf.shape(tf.image.random_jpeg_quality(picture, 50, 90)) for picture in pictures])
    """,
    "YouTube-8M: labels by sparse_to_dense, frames cut and filled up": """
        with tf.python_io.TFRecordWriter(folder + "/frames.tfrecord") as writer:
            for number in range(4):
                frames = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([number, frame])]))
                          for frame in range(2 * number + 1)]
                writer.write(tf.train.SequenceExample(
                    context=tf.train.Features(feature={
                        "labels": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 1][:number]))}),
                    feature_lists=tf.train.FeatureLists(feature_list={
                        "rgb": tf.train.FeatureList(feature=frames)})).SerializeToString())
        def resize_axis(tensor, axis, new_size, fill_value=0):
            shape = tf.unstack(tf.shape(tensor))
            pad_shape = shape[:]
            pad_shape[axis] = tf.maximum(0, new_size - shape[axis])
            shape[axis] = tf.minimum(shape[axis], new_size)
            shape = tf.stack(shape)
            resized = tf.concat([
                tf.slice(tensor, tf.zeros_like(shape), shape),
                tf.fill(tf.stack(pad_shape), tf.cast(fill_value, tensor.dtype))], axis)
            new_shape = tensor.get_shape().as_list()
            new_shape[axis] = new_size
            resized.set_shape(new_shape)
            return resized
        def prepare(record):
            contexts, features = tf.parse_single_sequence_example(
                record,
                context_features={"labels": tf.VarLenFeature(tf.int64)},
                sequence_features={"rgb": tf.FixedLenSequenceFeature([], dtype=tf.string)})
            labels = tf.cast(tf.sparse_to_dense(contexts["labels"].values, (5,), 1, validate_indices=False), tf.bool)
            decoded = tf.reshape(tf.cast(tf.decode_raw(features["rgb"], tf.uint8), tf.float32), [-1, 2])
            return labels, resize_axis(decoded, 0, 4), tf.minimum(tf.shape(decoded)[0], 4)
        result = list(tf.data.TFRecordDataset(folder + "/frames.tfrecord").map(prepare).batch(4))
        for indices in ([2, 0], [[0, 1], [2, 0]], 3, [9], [1, 0]):
            for values in (7, [7, 8], [True, False]):
                shape = [4] if np.ndim(indices) < 2 else [4, 2]
                try:
                    result.append(tf.sparse_to_dense(indices, shape, values))
                except Exception as error:
                    result.append(type(error).__name__)
    """,
}


class TensorFlow1:
    """The names of TensorFlow 1; what was ``tf.contrib.data`` is ``tf.data.experimental`` today."""

    contrib = types.SimpleNamespace(data=tf.data.experimental)

    def __getattr__(self, name: str) -> Any:
        return getattr(tf.compat.v1, name)


OF_TENSORFLOW_1 = ("Object Detection", "BERT", "YouTube-8M: labels")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_gives_what_it_gives_under_tensorflow(script: str, tmp_path: Path) -> None:
    results = []
    for name, library in (("mine", ours), ("theirs", tf)):
        folder = tmp_path / name
        folder.mkdir()
        if script.startswith(OF_TENSORFLOW_1):
            library = ours.compat.v1 if library is ours else TensorFlow1()  # noqa: PLW2901
        scope: dict[str, Any] = {"tf": library, "np": np, "folder": str(folder)}
        exec(textwrap.dedent(SCRIPTS[script]), scope)
        results.append(plain(scope["result"]))
    assert results[0] == results[1]
