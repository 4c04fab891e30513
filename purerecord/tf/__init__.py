"""TensorFlow's names for TFRecord input pipelines, without TensorFlow: ``import purerecord.tf as tf``.

The core reads, writes and parses. This folder adds what TensorFlow programs expect around it: tensors,
datasets, image functions, and TensorFlow's dtypes, error classes and messages. From the ground up:

    dtypes, errors        ``tf.int64``, ``tf.errors.DataLossError``; the core's errors as TensorFlow's
    _values/              tensors, and the functions of ``tf`` itself: ``reshape``, ``cast``, ``print``, ...
    math, strings, ...    the namespaces of functions on tensors: also ``random``, ``ragged``, ``sparse``
    train                 ``tf.train.Example`` and its parts
    gfile, io/            files, records, parsing
    image/                ``decode_jpeg``, ``resize``, ...
    data/                 ``tf.data``: datasets
    app, experimental, flags, logging, config, contrib, python_io, compat
                          small namespaces that scripts use, many of them from TensorFlow 1
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
    "_values.casting": "cast saturate_cast",
    "_values.creation": "eye fill linspace one_hot ones ones_like range zeros zeros_like",
    "_values.reshaping": (
        "broadcast_to ensure_shape expand_dims identity newaxis rank reshape shape size squeeze transpose"
    ),
    "_values.joining": "concat pad repeat split stack tile unstack",
    "_values.indexing": "argsort boolean_mask gather reverse sequence_mask slice sort unique where",
    "math": (
        "abs add add_n argmax argmin clip_by_value cos cumsum divide equal exp floor greater greater_equal "
        "less less_equal logical_and logical_not logical_or maximum minimum multiply negative not_equal pow "
        "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum round sigmoid sign "
        "sin sqrt square subtract tanh truediv"
    ),
    "_values.eager": (
        "cond control_dependencies device disable_v2_behavior enable_eager_execution enable_v2_behavior "
        "executing_eagerly function name_scope no_op numpy_function py_func py_function while_loop"
    ),
    "_values.printing": "print",
    "_values.map_fn": "map_fn",
    "logging": "get_logger",
    "data.structure": "NoneTensorSpec",
    "data.optional": "OptionalSpec",
    # Names of TensorFlow 1, which tutorials still use.
    "io": (
        "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_raw matching_files "
        "parse_example parse_single_example parse_single_sequence_example parse_tensor read_file "
        "serialize_tensor write_file"
    ),
}
_RENAMED = {
    "sparse_tensor_to_dense": ("sparse", "to_dense"),
    "random_uniform": ("random", "uniform"),
    "random_normal": ("random", "normal"),
    "random_crop": ("image", "random_crop"),
    "random_shuffle": ("random", "shuffle"),
    "truncated_normal": ("random", "truncated_normal"),
    "ceil": ("math", "ceil"),
    "floordiv": ("math", "floordiv"),
    "is_nan": ("math", "is_nan"),
    "log": ("math", "log"),
    "mod": ("math", "mod"),
    "as_string": ("strings", "as_string"),
    "regex_replace": ("strings", "regex_replace"),
    "string_join": ("strings", "join"),
    "string_to_number": ("strings", "to_number"),
    "substr": ("strings", "substr"),
    "set_random_seed": ("random", "set_seed"),
    "to_float": ("_values.casting", "to_float"),
    "to_int32": ("_values.casting", "to_int32"),
    "to_int64": ("_values.casting", "to_int64"),
}
_NAMESPACES = [
    "app",
    "compat",
    "config",
    "contrib",
    "data",
    "dtypes",
    "errors",
    "experimental",
    "flags",
    "gfile",
    "image",
    "io",
    "logging",
    "math",
    "python_io",
    "ragged",
    "random",
    "sparse",
    "strings",
    "train",
]
_HOME = {name: (module, name) for module, names in _LAZY.items() for name in names.split()} | _RENAMED

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
