"""``purerecord.tf`` without TensorFlow: the namespace, tensors, errors, chance, and the list of names.

``tests/interop`` compares the values themselves with TensorFlow.
"""

from __future__ import annotations

import errno
import io
import os
import pickle
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import purerecord
from purerecord import errors as core
from purerecord import tf
from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse
from purerecord.payload.specs import FixedLenFeature
from purerecord.tf.__main__ import listing, updated
from purerecord.tf._values.ragged_sparse import unwrap, wrap
from purerecord.tf.errors import combined_error, translate, translated
from tests.support.places import ROOT

REPRS = [
    ("tf.constant(5)", "<tf.Tensor: shape=(), dtype=int32, numpy=5>"),
    ("tf.constant(0.1)", "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>"),
    ("tf.constant('a')", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    ("tf.constant([1, 2])", "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    ("tf.constant(['a'])", "<tf.Tensor: shape=(1,), dtype=string, numpy=array([b'a'], dtype=object)>"),
    (
        "tf.constant([[1.0], [2.0]])",
        "<tf.Tensor: shape=(2, 1), dtype=float32, numpy=\narray([[1.],\n       [2.]], dtype=float32)>",
    ),
    ("str(tf.constant([1, 2]))", "'tf.Tensor([1 2], shape=(2,), dtype=int32)'"),
    ("tf.int64", "tf.int64"),
    ("str(tf.int64)", "\"<dtype: 'int64'>\""),
    ("tf.TensorShape([2, None])", "TensorShape([2, None])"),
    ("tf.TensorSpec([None], tf.int64)", "TensorSpec(shape=(None,), dtype=tf.int64, name=None)"),
    ("tf.ragged.constant([[1], []])", "<tf.RaggedTensor [[1], []]>"),
    (
        "tf.SparseTensor([[0, 1]], [5], [2, 3])",
        "SparseTensor(indices=tf.Tensor([[0 1]], shape=(1, 2), dtype=int64), values=tf.Tensor([5], "
        "shape=(1,), dtype=int32), dense_shape=tf.Tensor([2 3], shape=(2,), dtype=int64))",
    ),
]


@pytest.mark.parametrize(("expression", "text"), REPRS)
def test_repr_is_tensorflows(expression, text):
    assert repr(eval(expression, {"tf": tf})) == text


# --- The namespace ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("keras", "tf.keras (models, layers and training) is not in purerecord.tf"),
        ("no_such_thing", "tf.no_such_thing is not in purerecord.tf"),
        ("image.ssim", "tf.image.ssim is not in purerecord.tf"),
        ("io.decode_proto", "tf.io.decode_proto is not in purerecord.tf"),
        ("math.erf", "tf.math.erf is not in purerecord.tf"),
        ("strings.ngrams", "tf.strings.ngrams is not in purerecord.tf"),
        ("random.gamma", "tf.random.gamma is not in purerecord.tf"),
        ("sparse.add", "tf.sparse.add is not in purerecord.tf"),
        ("ragged.range", "tf.ragged.range is not in purerecord.tf"),
        ("train.Checkpoint", "tf.train.Checkpoint is not in purerecord.tf"),
        ("data.Dataset.counter", "tf.data.Dataset.counter is not in purerecord.tf"),
        ("data.ThreadingOptions", "tf.data.ThreadingOptions is not in purerecord.tf"),
    ],
)
def test_what_is_not_there_says_so_and_where_the_list_is(name, beginning):
    place: object = tf
    *path, last = name.split(".")
    for part in path:
        place = getattr(place, part)
    with pytest.raises(AttributeError) as caught:
        getattr(place, last)
    assert str(caught.value).startswith(beginning)
    assert "covers TFRecord input pipelines; docs/tensorflow.md" in str(caught.value)


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


def test_page_lists_what_is_there():
    page = (ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    assert page == updated(page), "python -m purerecord.tf docs/tensorflow.md"


# --- Tensors ----------------------------------------------------------------------------------------


def test_dtypes_are_taken_by_numpy_and_by_the_specs_of_the_core():
    assert np.zeros(2, tf.float32).dtype == np.float32
    assert np.dtype(tf.string) == object
    assert FixedLenFeature([], tf.string) == FixedLenFeature([], bytes)
    assert pickle.loads(pickle.dumps(tf.int64)) is tf.int64
    with pytest.raises(AttributeError):
        tf.constant(1).no_such_thing  # noqa: B018 - asking is the test


def test_tensor_does_not_change_with_the_array_it_was_made_of_nor_with_those_made_of_it():
    array = np.arange(3)
    tensor = tf.constant(array)
    array[0] = 9
    tensor.numpy()[0] = 8
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(tensor)[0] = 7
    assert tensor.numpy().tolist() == [0, 1, 2]


def test_tensors_can_be_pickled_and_stored_by_numpy(tmp_path):
    for tensor in (tf.constant([1, 2]), tf.constant(b"a\0"), tf.ragged.constant([[1], []])):
        again = pickle.loads(pickle.dumps(tensor))
        assert repr(again) == repr(tensor)
    sparse = pickle.loads(pickle.dumps(tf.SparseTensor([[0]], ["a"], [2])))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [b"a", b""]
    np.save(tmp_path / "tensor.npy", tf.constant([1, 2]))
    assert np.load(tmp_path / "tensor.npy").tolist() == [1, 2]


def test_core_types_are_wrapped_and_unwrapped_without_a_copy():
    array, ragged = np.arange(3), Ragged([1, 2], [0, 2])
    sparse = Sparse([[0]], [7], (2,))
    assert unwrap(wrap(array)) is array
    assert unwrap(wrap(ragged)) is ragged
    assert unwrap(wrap(sparse)) is sparse
    assert wrap(b"a\0").numpy() == b"a\0"
    assert unwrap("anything else") == "anything else"
    assert isinstance(wrap(ragged), tf.RaggedTensor)
    assert isinstance(wrap(sparse), tf.SparseTensor)


def test_tensor_is_a_tensor_for_the_helper_of_all_tutorials():
    def bytes_feature(value):
        if isinstance(value, type(tf.constant(0))):
            value = value.numpy()
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    assert bytes_feature(tf.constant("a")) == bytes_feature(b"a")
    assert bytes_feature(tf.io.serialize_tensor(tf.constant([1]))).bytes_list.value[0].startswith(b"\x08\x03")


def test_functions_run_with_and_without_arguments_of_the_decorator():
    @tf.function
    def one(x):
        return x + 1

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)], autograph=False)
    def two(x):
        """Doc."""
        return x + 2

    assert one(tf.constant(1)).numpy() == 2
    assert two(tf.constant(1)).numpy() == 3
    assert two.__doc__ == "Doc."
    assert one.__name__ == "one"


def test_numpy_function_refuses_another_type_than_it_was_told():
    with pytest.raises(tf.errors.InvalidArgumentError, match="is double, but expects float"):
        tf.numpy_function(lambda: 1.5, [], tf.float32)


def test_errors_of_python_functions_are_tensorflows_and_their_own():
    for wrong, kinds in (
        (lambda: {}["a"], (tf.errors.UnknownError, KeyError)),
        (lambda: int("a"), (tf.errors.InvalidArgumentError, ValueError)),
        (b"\xff".decode, (tf.errors.InvalidArgumentError, ValueError)),
        (lambda: 1 + "", (tf.errors.InvalidArgumentError, TypeError)),
    ):
        for call in (tf.py_function, tf.numpy_function):
            for kind in kinds:
                with pytest.raises(kind) as caught:
                    call(wrong, [], tf.int64)
                assert caught.value.__cause__ is not None


# --- Errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        ("DataLossError", ValueError),
        ("NotFoundError", FileNotFoundError),
        ("InvalidArgumentError", ValueError),
        ("OutOfRangeError", EOFError),
        ("OutOfRangeError", IndexError),
        ("FailedPreconditionError", ValueError),
        ("FailedPreconditionError", OSError),
        ("AlreadyExistsError", FileExistsError),
        ("PermissionDeniedError", PermissionError),
        ("UnimplementedError", NotImplementedError),
        ("ResourceExhaustedError", MemoryError),
    ],
)
def test_errors_are_the_builtin_exceptions_they_resemble(kind, builtin):
    error = getattr(tf.errors, kind)(None, None, "text")
    assert isinstance(error, builtin)
    assert isinstance(error, tf.errors.OpError)
    assert (str(error), error.message, error.op, error.node_def) == ("text", "text", None, None)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), "text")


LOSS = "DataLossError"
TRANSLATED = [
    (
        core.ChecksumError("x", part="length", offset=0),
        LOSS,
        "corrupted record at 0 (Is this even a TFRecord file?)",
    ),
    (core.ChecksumError("x", part="length", offset=30), LOSS, "corrupted record at 30"),
    (core.ChecksumError("x", part="data", offset=30), LOSS, "corrupted record at 42"),
    (
        core.TruncatedError("x", offset=30),
        LOSS,
        "truncated record at 30' failed with Read less bytes than requested",
    ),
    (
        core.CompressionError("the GZIP stream is broken at compressed byte 0 (incorrect header check)"),
        LOSS,
        "inflate() failed with error -3: incorrect header check",
    ),
    (core.CompressionError("odd"), LOSS, "odd"),
    (core.ClosedError("x"), "FailedPreconditionError", "Writer is closed."),
    (core.DecodeError("odd"), "InvalidArgumentError", "odd"),
    (core.SchemaError("odd", feature="a"), "InvalidArgumentError", "feature 'a': odd"),
    (
        FileNotFoundError(errno.ENOENT, "No such file or directory", "a"),
        "NotFoundError",
        "a; No such file or directory",
    ),
    (IsADirectoryError(errno.EISDIR, "Is a directory", "a"), "FailedPreconditionError", "a; Is a directory"),
    (OSError(errno.ENAMETOOLONG, "File name too long", "a"), "InvalidArgumentError", "a; File name too long"),
    (OSError("odd"), "UnknownError", "odd"),
]


@pytest.mark.parametrize(("error", "kind", "text"), TRANSLATED)
def test_errors_become_tensorflows_and_stay_what_they_were(error, kind, text):
    made = translate(error)
    assert type(made).__name__ == kind
    assert isinstance(made, getattr(tf.errors, kind))
    assert isinstance(made, type(error))
    assert str(made) == text
    for name, value in vars(error).items():
        assert getattr(made, name) == value
    if isinstance(error, OSError):
        assert (made.errno, made.filename) == (error.errno, error.filename)
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), str(again)) == (type(made), text)
    with pytest.raises(getattr(tf.errors, kind)), translated():
        raise error


def test_compressed_files_are_cut_with_other_words():
    made = translate(core.TruncatedError("x", offset=30), compressed=True)
    assert str(made) == "truncated record at 30' failed with EOF reached"


def test_other_errors_pass_and_translated_ones_stay():
    error = KeyError("x")
    assert translate(error) is error
    made = combined_error(tf.errors.DataLossError, core.ChecksumError("x"), "text")
    assert translate(made) is made
    with pytest.raises(KeyError), translated():
        raise error


# --- Chance -----------------------------------------------------------------------------------------


def test_same_seed_gives_the_same_numbers_and_no_seed_others():
    def draw():
        return [
            tf.random.uniform([3]).numpy().tolist(),
            tf.random.uniform([3], seed=5).numpy().tolist(),
            tf.random.uniform([3], seed=5).numpy().tolist(),
            tf.random.normal([2]).numpy().tolist(),
            tf.random.shuffle(tf.range(20)).numpy().tolist(),
        ]

    tf.random.set_seed(1)
    first = draw()
    tf.random.set_seed(1)
    assert draw() == first
    tf.random.set_seed(2)
    other = draw()
    assert all(one != two for one, two in zip(first, other, strict=True))
    assert first[1] != first[2]
    tf.random.set_seed(None)
    assert draw() != draw()


def test_random_numbers_have_their_range_shape_and_type():
    tf.random.set_seed(0)
    numbers = tf.random.uniform([1000], 5, 9, tf.int64).numpy()
    assert set(numbers.tolist()) == {5, 6, 7, 8}
    floats = tf.random.uniform((10, 100), -1.0, 3.0)
    assert (floats.shape, floats.dtype) == ((10, 100), tf.float32)
    assert -1 <= floats.numpy().min() < -0.8
    assert 2.8 < floats.numpy().max() < 3
    assert np.abs(tf.random.truncated_normal([1000]).numpy()).max() <= 2
    assert sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist()) == [1, 2, 3]
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random.uniform([1], dtype=tf.int32)


# --- Pictures ---------------------------------------------------------------------------------------


def test_random_functions_for_pictures_stay_in_their_bounds():
    tf.random.set_seed(0)
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    crops = {tuple(tf.image.random_crop(image, [2, 2, 3]).numpy()[0, 0].tolist()) for _ in range(100)}
    assert crops == {tuple(image[row, column].tolist()) for row in range(3) for column in range(4)}
    flips = [(tf.image.random_flip_left_right, image[:, ::-1]), (tf.image.random_flip_up_down, image[::-1])]
    for function, whole in flips:
        seen = [function(image).numpy() for _ in range(40)]
        flipped = sum(np.array_equal(one, whole) for one in seen)
        assert 5 < flipped < 35
        assert sum(np.array_equal(one, image) for one in seen) == 40 - flipped
    for function in (tf.image.random_saturation, tf.image.random_contrast):
        assert function(image, 0.5, 1.5).shape == (4, 5, 3)
    for function in (tf.image.random_brightness, tf.image.random_hue):
        assert function(image, 0.2).dtype is tf.uint8
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need value"):
        tf.image.random_crop(image, [9, 2, 3])


RESIZED = [  # what TensorFlow gives for the rows (0, 10) and (20, 30)
    ("bilinear", [[0, 5, 10], [10, 15, 20], [20, 25, 30]]),
    ("nearest", [[0, 10, 10], [20, 30, 30], [20, 30, 30]]),
    ("area", [[0, 5, 10], [10, 15, 20], [20, 25, 30]]),
]


@pytest.mark.parametrize(("method", "expected"), RESIZED)
def test_resize_gives_known_pixels(method, expected):
    image = np.array([[0, 10], [20, 30]], np.uint8)[..., None]
    resized = tf.image.resize(image, [3, 3], method)
    assert resized.dtype is (tf.uint8 if method == "nearest" else tf.float32)
    np.testing.assert_allclose(resized.numpy()[..., 0], expected, atol=1e-5)


def test_codecs_name_the_extra_when_pillow_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"purerecord\[images\]"):
        tf.io.decode_jpeg(b"\xff\xd8\xff\xe0")


def test_gif_whose_pictures_differ_in_size_is_broken():
    image = pytest.importorskip("PIL.Image")
    output = io.BytesIO()
    frames = [image.fromarray(np.full((4, 4), value, np.uint8)) for value in (0, 9)]
    frames[0].save(output, "GIF", save_all=True, append_images=frames[1:])
    data = bytearray(output.getvalue())
    place = data.rindex(b",") + 5
    data[place] = 9  # the width of the second picture
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_gif(bytes(data))


BROKEN = [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n" + bytes(50), b"GIF89a" + bytes(9), b"BM" + bytes(60)]


@pytest.mark.parametrize("data", BROKEN)
def test_broken_pictures_are_decode_errors(data):
    pytest.importorskip("PIL")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.decode_image(data)
    assert isinstance(caught.value, core.DecodeError)


def test_png_survives_the_way_there_and_back():
    pytest.importorskip("PIL")
    for shape in ((3, 4, 1), (3, 4, 2), (3, 4, 3), (3, 4, 4)):
        pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert np.array_equal(tf.io.decode_png(tf.io.encode_png(pixels)), pixels)


def test_version_is_that_of_tensorflow_and_not_ours():
    assert tf.__version__.split(".")[0] == "2"
    assert tf.__version__ != purerecord.__version__


def test_scripts_that_set_up_devices_first_go_on():
    assert tf.config.list_physical_devices("GPU") == []
    (cpu,) = tf.config.experimental.list_physical_devices()
    assert (cpu.name, cpu.device_type) == ("/physical_device:CPU:0", "CPU")
    for gpu in tf.config.get_visible_devices("GPU"):
        raise AssertionError(gpu)
    assert tf.config.set_visible_devices([], "GPU") is None
    assert tf.config.experimental.set_memory_growth(cpu, True) is None
    assert tf.config.run_functions_eagerly(True) is None
    with pytest.raises(AttributeError, match="config"):
        tf.config.threading  # noqa: B018 - asking is the test
