"""The namespace ``purerecord.tf``: all names, all ways to import them, and the cost of the import."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

import purerecord
from purerecord import tf
from purerecord.tf.__main__ import listing
from tests.support.places import ROOT


def test_every_name_is_there():
    for name in tf.__all__:
        getattr(tf, name)
    assert set(tf.__all__) <= set(dir(tf))
    for section, names in listing().items():
        assert names, section


PROMISED = """
io: TFRecordWriter TFRecordOptions parse_example parse_single_example parse_sequence_example
io: parse_single_sequence_example FixedLenFeature VarLenFeature FixedLenSequenceFeature RaggedFeature
io: SparseFeature
io: serialize_tensor parse_tensor decode_raw read_file write_file matching_files decode_jpeg decode_png
io: decode_image encode_jpeg encode_png gfile.glob gfile.exists gfile.makedirs gfile.GFile gfile.listdir
io: gfile.remove gfile.isdir
python_io: TFRecordWriter TFRecordOptions tf_record_iterator
tf: parse_single_example parse_example FixedLenFeature VarLenFeature serialize_tensor parse_tensor gfile.GFile
compat: v1.io.tf_record_iterator v1.python_io.TFRecordWriter
train: Example SequenceExample Feature Features FeatureList FeatureLists BytesList FloatList Int64List
data: TFRecordDataset AUTOTUNE experimental.AUTOTUNE experimental.TFRecordWriter
data.Dataset: from_tensor_slices from_generator range list_files zip map filter batch padded_batch shuffle
data.Dataset: repeat take skip cache prefetch interleave flat_map enumerate shard unbatch concatenate reduce
data.Dataset: as_numpy_iterator element_spec cardinality
tf: constant convert_to_tensor cast dtypes.cast reshape shape stack concat one_hot expand_dims squeeze
tf: py_function numpy_function int64 float32 string uint8 TensorSpec TensorShape sparse.to_dense RaggedTensor
image: decode_jpeg decode_png decode_image resize random_crop central_crop random_flip_left_right
image: random_brightness random_saturation convert_image_dtype
errors: DataLossError NotFoundError InvalidArgumentError OutOfRangeError FailedPreconditionError
tf: random.set_seed function print executing_eagerly __version__
"""


@pytest.mark.parametrize("line", PROMISED.split("\n")[1:-1])
def test_what_was_promised_is_there(line):
    place, _, names = line.partition(": ")
    for name in names.split():
        found: object = tf
        for part in f"{place}.{name}".removeprefix("tf.").split("."):
            found = getattr(found, part)


def test_all_ways_of_importing_work():
    from purerecord.tf import constant, int64, io  # noqa: PLC0415 - importing is the test
    from purerecord.tf.io import TFRecordWriter  # noqa: PLC0415

    assert constant(1, int64).dtype is tf.int64
    assert io.TFRecordWriter is tf.io.TFRecordWriter is tf.python_io.TFRecordWriter is TFRecordWriter
    assert tf.compat.v1 is tf
    assert tf.io.gfile is tf.gfile
    assert import_module("purerecord.tf.compat.v1") is tf
    assert tf.dtypes.int64 is tf.int64


def test_import_brings_in_two_small_modules_only():
    program = """
import sys
import purerecord
before = set(sys.modules)
import purerecord.tf
print(sorted(set(sys.modules) - before))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['purerecord.tf', 'purerecord.tf._missing']"


def test_version_is_that_of_tensorflow_and_not_ours():
    assert tf.__version__.split(".")[0] == "2"
    assert tf.__version__ != purerecord.__version__
