"""TensorFlow's names for TFRecord input pipelines, without TensorFlow: ``import purerecord.tf as tf``.

The core reads, writes and parses. This folder adds what TensorFlow programs expect around it: tensors,
datasets, image functions, and TensorFlow's dtypes, error classes and messages. From the ground up:

    dtypes, errors        ``tf.int64``, ``tf.errors.DataLossError``; the core's errors as TensorFlow's
    _values/              tensors, and the functions of ``tf`` itself: ``reshape``, ``cast``, ``print``, ...
    math, strings, ...    the namespaces of functions on tensors: also ``bitwise``, ``debugging``, ``linalg``,
                          ``nest``, ``random``, ``ragged``, ``sparse``
    train                 ``tf.train.Example`` and its parts
    gfile, io/            files, records, parsing
    image/                ``decode_jpeg``, ``resize``, ...
    data/                 ``tf.data``: datasets
    lookup, audio, test   tables, WAV files, ``tf.test.TestCase``
    app, experimental, flags, logging, config, contrib, distribute, python_io, compat
                          small namespaces that scripts use, many of them from TensorFlow 1
    _text/, _random/      the larger parts of ``strings`` and ``random``
    _missing              the error for names that TensorFlow has and this namespace does not
    __main__              prints the list of all names, for docs/tensorflow.md

The tables below say which module a name comes from. A module is imported when one of its names is first
used, so ``import purerecord.tf`` costs almost nothing. No other part of purerecord knows this folder.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._missing import missing

# The TensorFlow release whose behaviour this namespace has.
__version__ = "2.21.0"

_LAZY = {
    "dtypes": (
        "DType as_dtype bfloat16 bool complex64 complex128 double float16 float32 float64 half int8 int16 "
        "int32 int64 string uint8 uint16 uint32 uint64"
    ),
    "_values.shapes": "RaggedTensorSpec SparseTensorSpec TensorShape TensorSpec TypeSpec",
    "_values.tensor": "Tensor constant convert_to_tensor is_tensor",
    "_values.ragged_sparse": "RaggedTensor SparseTensor type_spec_from_value",
    "_values.tensor_array": "TensorArray",
    "_values.variable": "Variable",
    "_values.casting": "cast saturate_cast",
    "_values.creation": "fill linspace one_hot ones ones_like range zeros zeros_like",
    "_values.reshaping": (
        "broadcast_dynamic_shape broadcast_static_shape broadcast_to ensure_shape "
        "expand_dims get_static_value "
        "identity identity_n newaxis rank reshape shape shape_n size squeeze stop_gradient transpose"
    ),
    "_values.joining": "concat pad repeat split stack tile unstack",
    "_values.indexing": "argsort boolean_mask gather reverse sequence_mask slice sort unique where",
    "_values.scatter": (
        "gather_nd scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update"
    ),
    "_values.rearranging": (
        "bitcast dynamic_partition dynamic_stitch histogram_fixed_width meshgrid reverse_sequence roll "
        "searchsorted setdiff1d strided_slice unique_with_counts unravel_index"
    ),
    "_values.matrices": "clip_by_global_norm clip_by_norm eig eigvals einsum eye matmul norm tensordot",
    "_values.protos": "make_ndarray make_tensor_proto",
    "_values.arithmetic": "complex realdiv truncatediv truncatemod",
    "math": (
        "abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh "
        "clip_by_value cos cosh cumsum divide equal exp floor greater greater_equal "
        "less less_equal logical_and logical_not logical_or maximum minimum multiply negative not_equal pow "
        "reduce_logsumexp scalar_mul sinh tan "
        "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum round sigmoid sign "
        "sin sqrt square subtract tanh truediv"
    ),
    "_values.eager": (
        "cond control_dependencies device disable_v2_behavior enable_eager_execution enable_v2_behavior "
        "executing_eagerly function name_scope no_op numpy_function py_func py_function while_loop"
    ),
    "_values.printing": "print",
    "_values.map_fn": "map_fn",
    "_values.control_flow": "case foldl foldr scan switch_case vectorized_map",
    "debugging": "Assert assert_equal assert_greater assert_less assert_rank",
    "logging": "get_logger",
    "data.structure": "NoneTensorSpec",
    "data.optional": "OptionalSpec",
    # Names of TensorFlow 1, which tutorials still use.
    "io": (
        "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed decode_csv "  # noqa: E501
        "decode_json_example deserialize_many_sparse encode_base64 matching_files "
        "parse_example parse_single_example parse_single_sequence_example parse_tensor read_file "
        "serialize_many_sparse serialize_sparse serialize_tensor write_file"
    ),
}
_RENAMED = {
    "sparse_tensor_to_dense": ("sparse", "to_dense"),
    "random_uniform": ("random", "uniform"),
    "random_normal": ("random", "normal"),
    "random_crop": ("image", "random_crop"),
    "random_shuffle": ("random", "shuffle"),
    "truncated_normal": ("random", "truncated_normal"),
    "multinomial": ("random", "multinomial"),
    "random_gamma": ("random", "gamma"),
    "random_poisson": ("random", "poisson_v1"),
    "as_string": ("strings", "as_string"),
    "decode_raw": ("io.tensors", "decode_raw_v1"),
    "reduce_join": ("strings", "reduce_join_v1"),
    "regex_replace": ("strings", "regex_replace"),
    "string_split": ("_text.splitting", "string_split"),
    "string_strip": ("strings", "strip"),
    "string_to_hash_bucket": ("strings", "to_hash_bucket_v1"),
    "string_to_hash_bucket_fast": ("strings", "to_hash_bucket_fast"),
    "string_to_hash_bucket_strong": ("strings", "to_hash_bucket_strong"),
    "string_join": ("strings", "join"),
    "string_to_number": ("strings", "string_to_number"),
    "substr": ("strings", "substr"),
    "set_random_seed": ("random", "set_seed"),
    "to_float": ("_values.casting", "to_float"),
    "to_int32": ("_values.casting", "to_int32"),
    "to_int64": ("_values.casting", "to_int64"),
    "to_double": ("_values.casting", "to_double"),
    "to_bfloat16": ("_values.casting", "to_bfloat16"),
    "to_complex64": ("_values.casting", "to_complex64"),
    "to_complex128": ("_values.casting", "to_complex128"),
    "tensor_scatter_add": ("_values.scatter", "tensor_scatter_nd_add"),
    "tensor_scatter_sub": ("_values.scatter", "tensor_scatter_nd_sub"),
    "reverse_v2": ("_values.indexing", "reverse"),
    "lin_space": ("_values.creation", "linspace"),
    "OpError": ("errors", "OpError"),
    "floor_div": ("math", "floordiv"),
    "div": ("_values.arithmetic", "div"),
    "div_no_nan": ("math", "divide_no_nan"),
    "diag": ("linalg", "tensor_diag"),
    "diag_part": ("linalg", "tensor_diag_part"),
    "matrix_determinant": ("linalg", "det"),
    "matrix_inverse": ("linalg", "inv"),
    "sparse_to_dense": ("_values.sparse_dense", "sparse_to_dense"),
    "sparse_tensor_dense_matmul": ("sparse", "sparse_dense_matmul"),
}
_NAMESPACES = [
    "app",
    "audio",
    "bitwise",
    "compat",
    "config",
    "contrib",
    "data",
    "debugging",
    "distribute",
    "dtypes",
    "errors",
    "experimental",
    "flags",
    "gfile",
    "image",
    "io",
    "linalg",
    "logging",
    "lookup",
    "math",
    "nest",
    "python_io",
    "ragged",
    "random",
    "sparse",
    "strings",
    "test",
    "train",
]
# Names of TensorFlow 1: a prefix, the namespace of the function, and what follows the prefix.
_OLDER = {
    "": {
        "math": (
            "accumulate_n angle bincount ceil conj count_nonzero cumprod erf erfc expm1 floordiv floormod "
            "imag invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing lgamma "
            "log log1p log_sigmoid logical_xor mod real reciprocal rint rsqrt segment_max segment_mean "
            "segment_min segment_prod segment_sum squared_difference unsorted_segment_max "
            "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
            "unsorted_segment_sum"
        ),
        "linalg": "cholesky cross global_norm matrix_transpose qr svd trace",
        "debugging": (
            "assert_greater_equal assert_integer assert_less_equal assert_near assert_negative "
            "assert_non_negative assert_non_positive assert_none_equal assert_positive "
            "assert_proper_iterable assert_rank_at_least assert_rank_in assert_same_float_dtype "
            "assert_scalar assert_type check_numerics is_numeric_tensor"
        ),
    },
    "matrix_": {"linalg": "band_part diag diag_part set_diag solve triangular_solve"},
    "sparse_": {
        "sparse": (
            "add concat fill_empty_rows maximum minimum reduce_max reduce_sum reorder reset_shape reshape "
            "retain slice softmax to_indicator transpose"
        ),
    },
}
_HOME = {name: (module, name) for module, names in _LAZY.items() for name in names.split()} | _RENAMED
_HOME |= {
    prefix + name: (module, name)
    for prefix, modules in _OLDER.items()
    for module, names in modules.items()
    for name in names.split()
}

__all__ = [*_HOME, *_NAMESPACES]  # noqa: PLE0604 - they are strings

_missing = missing()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name]
        value = getattr(import_module(f".{module}", __name__), attribute)
    elif name in _NAMESPACES:
        value = import_module(f".{name}", __name__)
    else:
        return _missing(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
