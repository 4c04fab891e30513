"""Values, operators and functions of ``purerecord.tf``: each expression is evaluated with both libraries.

Equal means the same dtype, shape, values, ``repr`` and ``str``, or the same class of error with the same
text, without what TensorFlow adds around it. The last table lists the differences that are on purpose.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, mutually_broadcastable_shapes

import purerecord.tf as ours
from purerecord.tf.__main__ import listing
from tests.support.facade_expressions import APPROXIMATE, DIFFERENT, ERRORS, EXACT, PREFIXES
from tests.support.interop import interop

tf = interop("tensorflow")


def outcome(namespace: Any, expression: str) -> Any:
    """The value of an expression, or the error that it raises."""
    try:
        return eval(expression, {"tf": namespace, "np": np})
    except Exception as error:
        return error


def plain(value: Any) -> Any:  # noqa: PLR0911 - a table of kinds
    """A value of either library as built-in types and arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(plain(part) for part in value)
    if hasattr(value, "nested_row_splits"):
        return ("ragged", plain(value.flat_values), [plain(splits) for splits in value.nested_row_splits])
    if hasattr(value, "dense_shape"):
        return ("sparse", plain(value.indices), plain(value.values), plain(value.dense_shape))
    if hasattr(value, "as_numpy_dtype"):
        return ("dtype", value.name)
    if hasattr(value, "numpy"):
        # TensorFlow caches scalars, and returns a cached -0.0 for 0.0.
        shown = re.sub(r"-0\.0(?![0-9e])", "0.0", repr(np.asarray(value).tolist()))
        return ("tensor", value.dtype.name, value.shape.as_list(), shown)
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, repr(value.tolist()))
    if isinstance(value, np.generic):
        return ("scalar", str(value.dtype), value.item())
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return value
    return ("shown", repr(value))


def text(error: Exception) -> str:
    """The text of an error without what TensorFlow adds around it."""
    bare = re.sub(r"^\{\{function_node .*?\}\} ", "", str(error))
    bare = re.sub(r" \[Op:.*", "", bare, flags=re.DOTALL)
    return bare


@pytest.mark.parametrize("expression", EXACT)
def test_expression_gives_the_same_value(expression):
    theirs, mine = outcome(tf, expression), outcome(ours, expression)
    assert not isinstance(theirs, Exception), theirs
    if isinstance(mine, Exception):
        raise mine
    assert plain(mine) == plain(theirs)
    assert repr(mine) == repr(theirs)
    assert str(mine) == str(theirs)


@pytest.mark.parametrize("expression", APPROXIMATE)
def test_expression_gives_the_same_value_up_to_rounding(expression):
    theirs, mine = outcome(tf, expression), outcome(ours, expression)
    assert not isinstance(theirs, Exception), theirs
    if isinstance(mine, Exception):
        raise mine
    assert (mine.dtype.name, mine.shape.as_list()) == (theirs.dtype.name, theirs.shape.as_list())
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("expression", ERRORS)
def test_expression_raises_the_same_error(expression):
    theirs, mine = outcome(tf, expression), outcome(ours, expression)
    assert isinstance(theirs, Exception), theirs
    assert type(mine).__name__ == type(theirs).__name__, mine
    assert text(mine) == text(theirs)


@pytest.mark.parametrize(("expression", "beginning"), PREFIXES)
def test_expression_raises_an_error_that_begins_in_the_same_way(expression, beginning):
    theirs, mine = outcome(tf, expression), outcome(ours, expression)
    assert isinstance(theirs, Exception), theirs
    assert type(mine).__name__ == type(theirs).__name__, mine
    assert text(mine).startswith(beginning)
    assert text(theirs).startswith(beginning)


@pytest.mark.parametrize(("expression", "why"), DIFFERENT)
def test_expression_differs_on_purpose(expression, why):
    theirs, mine = outcome(tf, expression), outcome(ours, expression)
    assert why
    assert not isinstance(mine, Exception), mine
    if not isinstance(theirs, Exception):
        assert plain(mine) != plain(theirs)


NAMES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string"
FACTS = "name as_datatype_enum size is_bool is_integer is_floating is_complex is_unsigned as_numpy_dtype"


def test_all_dtypes_have_tensorflows_numbers_sizes_and_limits():
    for name in NAMES.split():
        mine, theirs = getattr(ours, name), getattr(tf, name)
        for attribute in FACTS.split():
            assert getattr(mine, attribute) == getattr(theirs, attribute), (name, attribute)


def test_all_errors_have_tensorflows_codes():
    for name in [name for name in dir(tf.errors) if not name.startswith("_")]:
        mine, theirs = getattr(ours.errors, name), getattr(tf.errors, name)
        if isinstance(theirs, int):
            assert mine == theirs
        elif hasattr(theirs, "error_code") or issubclass(theirs, tf.errors.OpError):
            if name != "OpError":
                assert mine(None, None, "x").error_code == theirs(None, None, "x").error_code
            assert str(mine(None, None, "x")) == "x"
            assert mine(None, None, "x").message == "x"


# Names that have another place in TensorFlow, or are not functions.
ELSEWHERE = {"newaxis", "logging.get_logger", "math.clip_by_value", "contrib.data"}
# Parameters without effect here, which our functions leave out or collect in ``**options``.
OPTIONS = {"name", "layout", "options", "kwargs", "args"}


def find(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part)
    return root


def in_tensorflow(path: str) -> Any:
    """TensorFlow's object of this name, from TensorFlow 1 if version 2 does not have it."""
    try:
        return find(tf, path)
    except AttributeError:
        return find(tf.compat.v1, path)


# TensorFlow 2 has nothing of TensorFlow 1's ``contrib``.
PATHS = [
    f"{section}.{name}" if section else name
    for section, names in listing().items()
    for name in names
    if not section.startswith("contrib") and not name.startswith("contrib")
]


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ELSEWHERE])
def test_every_name_is_tensorflows_with_its_parameters_in_its_order(path):
    mine, theirs = find(ours, path), in_tensorflow(path)
    if not inspect.isfunction(mine) or "experimental" in path or "flags" in path:  # absl wraps its functions
        return
    parameters = [name for name in inspect.signature(mine).parameters if name not in OPTIONS]
    known = [name for name in inspect.signature(theirs).parameters if name not in OPTIONS]
    if path in SHORTENED:
        assert parameters == known[: len(parameters)]
    elif path not in DATED:
        assert parameters == known


# The other parameters are about running graphs.
SHORTENED = {"function", "map_fn", "while_loop", "image.decode_and_crop_jpeg", "enable_eager_execution"}
# The parameters differ between TensorFlow 1 and 2; ours are those of TensorFlow 2.
DATED = {
    *("decode_raw", "parse_example", "parse_single_example", "data.Dataset.range", "string_to_number"),
    *("name_scope", "bincount", "count_nonzero", "sparse_add", "sparse_concat"),
    *("sparse_reduce_max", "sparse_reduce_sum"),
    *(
        f"assert_{name}"
        for name in ["negative", "positive", "non_negative", "non_positive", "near", "none_equal"]
    ),
    *(f"assert_{name}" for name in ["greater_equal", "less_equal", "rank_at_least", "rank_in"]),
}


@pytest.mark.parametrize(
    "values",
    ["1, 'a', 2.5", "[1, 2, 3, 4, 5, 6, 7, 8]", "tf.range(20)", "tf.constant([[1, 2], [3, 4]])",
     "tf.constant(['a', 'b'])", "tf.constant('a'), tf.constant(0.1), True", "{'a': tf.constant(1)}",
     "tf.zeros((2, 2, 2))", "(1, tf.constant([True, False]))", "tf.constant([0.1, 1e10, -2.0])",
     "'x', sep=', '",
     "1, 2, sep=', '", "tf.range(20), summarize=-1", "tf.range(9), summarize=2"],
)  # fmt: skip
def test_print_writes_the_same(values, capfd):
    for namespace in (tf, ours):
        eval(f"tf.print({values})", {"tf": namespace})
        namespace.print("---")
    written = capfd.readouterr().err
    theirs, mine, _ = written.split("---\n")
    assert mine == theirs


def test_print_appends_to_files(tmp_path):
    for namespace, name in ((tf, "theirs"), (ours, "mine")):
        namespace.print(namespace.constant([1, 2]), "x", output_stream=f"file://{tmp_path / name}")
        namespace.print("y", output_stream=f"file://{tmp_path / name}", end="")
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "theirs").read_bytes()


# --- Anything ---------------------------------------------------------------------------------------

leaves = st.one_of(
    st.integers(-(2**33), 2**33),
    st.sampled_from([0, 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)]),
    st.booleans(),
    # TensorFlow caches constants, and so confuses 0.0 and -0.0.
    st.floats(width=32).map(lambda x: x or 0.0),
    st.floats(-1e39, 1e39).map(lambda x: x or 0.0),
    st.text(max_size=2),
    st.binary(max_size=2),
    st.integers(-128, 127).map(np.int8),
    st.floats(-10, 10).map(lambda x: np.float64(x or 0.0)),
    st.integers(0, 9).map(np.arange),
    st.just(None),
)
nested = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
dtypes = st.sampled_from([None, "int32", "int64", "uint8", "float32", "float64", "bool", "string"])


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(value=nested, dtype=dtypes)
def test_anything_becomes_the_same_tensor_or_is_refused_by_both(value, dtype):
    results = []
    for namespace in (tf, ours):
        try:
            results.append(plain(namespace.constant(value, dtype)))
        except (TypeError, ValueError):
            results.append("refused")
    if results[0] == "refused" and "True" in repr(value).replace("False", "True"):
        return  # TensorFlow converts booleans to some numbers and not to others; here to all
    if results[1] == "refused" and re.search(r"[\[ ]b['\"]", repr(value)):
        return  # TensorFlow takes bytes instead of a list for a list of numbers
    assert results[0] == results[1]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_slice_gives_the_same_or_is_refused_with_the_same_error(data):
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    ends = st.one_of(st.none(), st.integers(-4, 4))
    part = st.one_of(st.integers(-4, 4), st.builds(slice, ends, ends, ends), st.just(None), st.just(Ellipsis))
    key = data.draw(st.lists(part, max_size=4).map(tuple))
    if key.count(Ellipsis) > 1:
        return
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    results = []
    for namespace in (tf, ours):
        try:
            results.append(plain(namespace.constant(array)[key]))
        except Exception as error:
            results.append((type(error).__name__, text(error)))
    assert results[0] == results[1]


kinds = st.sampled_from([np.int32, np.float32, np.bool_, object])
elements = {
    "i": st.integers(-3, 5),
    "f": st.integers(-8, 8).map(lambda n: n / 4),
    "b": st.booleans(),
    "O": st.sampled_from([b"a", b"bb", b""]),
}
anyarray = kinds.flatmap(
    lambda kind: arrays(
        kind,
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        elements=elements[np.dtype(kind).kind],
    )
)
axis = st.integers(-4, 3)
axes = st.one_of(st.none(), axis, st.lists(axis, min_size=1, max_size=2))
lengths = st.lists(st.integers(-1, 4), min_size=1, max_size=3)
numbers = st.integers(0, 4)
CALLS = {
    "reshape": (anyarray, lengths),
    "squeeze": (anyarray, axes),
    "expand_dims": (anyarray, axis),
    "stack": (st.tuples(anyarray, anyarray), axis),
    "concat": (st.lists(anyarray, min_size=2, max_size=2), axis),
    "one_hot": (arrays(np.int64, (2, 2), elements=st.integers(-1, 4)), numbers, st.none(), st.none(), axis),
    "gather": (anyarray, arrays(np.int32, (2,), elements=numbers), st.none(), axis),
    "reduce_sum": (anyarray, axes, st.booleans()),
    "reduce_mean": (anyarray, axes),
    "reduce_max": (anyarray, axes),
    "reduce_any": (anyarray, axes),
    "argmax": (anyarray, axis),
    "transpose": (anyarray, st.one_of(st.none(), st.permutations(range(3)))),
    "tile": (anyarray, st.lists(numbers, min_size=1, max_size=3)),
    "pad": (anyarray, st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=3)),
    "split": (anyarray, st.integers(1, 3), axis),
    "slice": (anyarray, st.lists(numbers, min_size=1, max_size=3), lengths),
    "where": (anyarray,),
    "boolean_mask": (anyarray, anyarray),
    "cumsum": (anyarray, axis, st.booleans(), st.booleans()),
    "repeat": (anyarray, numbers, st.one_of(st.none(), axis)),
    "sort": (anyarray, axis),
    "unstack": (anyarray, st.none(), axis),
    "broadcast_to": (anyarray, st.lists(numbers, min_size=1, max_size=3)),
    "unique": (anyarray,),
    "maximum": (anyarray, anyarray),
    "clip_by_value": (anyarray, st.just(-1), st.just(2)),
    "strings.reduce_join": (anyarray, axes, st.booleans()),
    "strings.split": (anyarray,),
    "sparse.from_dense": (anyarray,),
}


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_call_gives_the_same_value_or_an_error_that_is_meant(name, data):
    arguments = [data.draw(strategy) for strategy in CALLS[name]]
    results: list[Any] = []
    for namespace in (tf, ours):
        try:
            results.append(plain(find(namespace, name)(*arguments)))
        except np.exceptions.AxisError:  # a ValueError, but not one of TensorFlow's
            raise
        except (TypeError, ValueError, namespace.errors.OpError):
            results.append(None)
    if None not in results:
        assert results[0] == results[1]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_two_tensors_give_the_same_under_every_operator(data):
    dtype = data.draw(st.sampled_from(["int32", "int64", "uint8", "float32", "float64", "bool"]))
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3)).input_shapes
    # Not too small: TensorFlow flushes subnormal numbers to zero.
    elements = st.integers(-20, 20).map(lambda n: n / 4) if dtype.startswith("float") else None
    one, two = (data.draw(arrays(dtype, shape, elements=elements)) for shape in shapes)
    for operator in ("+", "-", "*", "//", "%", "/", "==", "!=", "<", ">=", "&", "|", "^"):
        results = []
        for namespace in (tf, ours):
            scope = {"x": namespace.constant(one), "y": namespace.constant(two)}
            try:
                results.append(plain(eval(f"x {operator} y", scope)))
            except Exception as error:
                results.append(type(error).__name__)
        assert results[0] == results[1], operator
