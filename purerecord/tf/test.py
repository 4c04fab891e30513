"""``tf.test``: ``TestCase`` with assertions about tensors, for tests of input pipelines.

Everything runs eagerly: a session runs nothing but gives the values of tensors. This module does not know
datasets.
"""

# ruff: noqa: N802, PT009 - the names are TensorFlow's, and it is a TestCase

from __future__ import annotations

import os
import re
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from ._missing import missing
from ._values.convert import Array
from ._values.ragged_sparse import RaggedTensor, SparseTensor
from ._values.tensor import EagerTensor
from .dtypes import as_dtype, of_numpy
from .errors import InvalidArgumentError, OpError
from .random import set_seed

__all__ = [
    "TestCase",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_gpu_available",
    "main",
    "mock",
]

_SEED = 87654321  # the seed that TensorFlow sets before each test


def _value(tensor: Any) -> Any:
    """The value of one tensor, or of what is none."""
    if isinstance(tensor, SparseTensor):
        return SparseTensorValue(
            *(part.numpy() for part in (tensor.indices, tensor.values, tensor.dense_shape))
        )
    if isinstance(tensor, RaggedTensor):
        return tensor
    return tensor.numpy() if isinstance(tensor, EagerTensor) else tensor


class SparseTensorValue(tuple[Any, Any, Any]):
    """The indices, values and shape of a sparse tensor, as arrays."""

    __slots__ = ()

    def __new__(cls, indices: Any, values: Any, dense_shape: Any) -> SparseTensorValue:
        return super().__new__(cls, (indices, values, dense_shape))

    indices = property(lambda self: self[0])
    values = property(lambda self: self[1])
    dense_shape = property(lambda self: self[2])


def _values(structure: Any) -> Any:
    """A structure of tensors as the same structure of arrays."""
    if structure is None or isinstance(structure, SparseTensorValue):
        return structure
    if isinstance(structure, Mapping):
        return {key: _values(part) for key, part in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*map(_values, structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(map(_values, structure))
    return _value(structure)


class _Session:
    """What ``cached_session`` gives: ``run`` evaluates tensors, and nothing is to be fed."""

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of tensors."""
        if feed_dict:
            raise NotImplementedError("there are no placeholders in purerecord.tf: everything runs eagerly")
        return _values(fetches)


class TestCase(unittest.TestCase):
    """``unittest.TestCase`` with assertions about tensors and arrays."""

    def setUp(self) -> None:
        """Sets the global seed, so that each test has the same random numbers."""
        super().setUp()
        set_seed(_SEED)
        np.random.seed(_SEED)

    # --- Values and files -----------------------------------------------------------------------

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors."""
        return _values(tensors() if callable(tensors) else tensors)

    @contextmanager
    def session(self, *_: Any, **__: Any) -> Iterator[_Session]:
        """A context manager whose ``run`` evaluates tensors."""
        yield _Session()

    cached_session = session

    def test_session(self, *_: Any, **__: Any) -> Any:
        """``session`` under its former name, which is no test although it begins like one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.session()

    def get_temp_dir(self) -> str:
        """A folder for this test, removed when it ends."""
        if not hasattr(self, "_folder"):
            self._folder = tempfile.TemporaryDirectory(prefix=f"{type(self).__name__}-")
            self.addCleanup(self._folder.cleanup)
        return self._folder.name

    def _array(self, value: Any) -> Array:
        if isinstance(value, RaggedTensor):
            return np.asarray(value.numpy())
        if isinstance(value, (list, tuple)):
            value = _values(value)
        return np.asarray(_value(value))

    # --- Equality -------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails unless both have the same shape and values; NaN equals NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            self.assertEqual(self._list(a), self._list(b), msg)
            return
        one, two = self._array(a), self._array(b)
        self.assertEqual(
            one.shape, two.shape, f"Shape mismatch: expected {one.shape}, got {two.shape}. {msg or ''}"
        )
        same = one == two
        if one.dtype.kind in "fc" and two.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(one), np.isnan(two)))
        if not np.all(same):
            where = np.argwhere(np.broadcast_to(np.logical_not(same), one.shape))[:10].tolist()
            self.fail(f"Arrays are not equal at {where}: {one!r} != {two!r}. {msg or ''}")

    def _list(self, value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            return value.to_list()
        if isinstance(value, (list, tuple)):
            return [part.encode() if isinstance(part, str) else self._list(part) for part in value]
        found = self._array(value).tolist()
        return (
            [part.encode() if isinstance(part, str) else part for part in found]
            if isinstance(found, list)
            else found
        )

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails if both have the same shape and values."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless two structures have the same shapes and nearly the same values."""
        one, two = (value._asdict() if hasattr(value, "_asdict") else value for value in (a, b))
        if isinstance(one, Mapping) != isinstance(two, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, {one} vs {two}. {msg or ''}")
        if isinstance(one, Mapping):
            self.assertCountEqual(one, two, msg)
            for key in one:
                self.assertAllClose(one[key], two[key], rtol, atol, f"at {key!r}. {msg or ''}")
            return
        if isinstance(one, RaggedTensor) or isinstance(two, RaggedTensor):
            self._close_lists(self._list(one), self._list(two), rtol, atol, msg)
            return
        try:
            pair = self._array(one), self._array(two)
        except ValueError:
            pair = None
        if pair is not None and "O" not in (pair[0].dtype.kind, pair[1].dtype.kind):
            self._close_arrays(*pair, rtol, atol, msg)
            return
        if not isinstance(one, (list, tuple)) or not isinstance(two, (list, tuple)):
            raise TypeError(f"cannot compare {one!r} to {two!r}. {msg or ''}")
        if len(one) != len(two):
            raise ValueError(f"Mismatched length: {len(one)} items, but {len(two)} items. {msg or ''}")
        for number, (first, second) in enumerate(zip(one, two, strict=True)):
            self.assertAllClose(first, second, rtol, atol, f"at {number}. {msg or ''}")

    def _close_lists(self, one: Any, two: Any, rtol: float, atol: float, msg: str | None) -> None:
        self.assertEqual(isinstance(one, list), isinstance(two, list), msg)
        if not isinstance(one, list):
            self._close_arrays(np.asarray(one), np.asarray(two), rtol, atol, msg)
            return
        self.assertEqual(len(one), len(two), msg)
        for first, second in zip(one, two, strict=True):
            self._close_lists(first, second, rtol, atol, msg)

    def _close_arrays(self, one: Array, two: Array, rtol: float, atol: float, msg: str | None) -> None:
        self.assertEqual(
            one.shape, two.shape, f"Shape mismatch: expected {one.shape}, got {two.shape}. {msg or ''}"
        )
        wide: list[Any] = [
            part.astype(np.float32) if part.dtype.name == "bfloat16" else part for part in (one, two)
        ]
        np.testing.assert_allclose(wide[0], wide[1], rtol=rtol, atol=atol, err_msg=msg or "", equal_nan=True)

    def assertAllCloseAccordingToType(  # noqa: PLR0917 - TensorFlow's signature
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """``assertAllClose`` with a larger tolerance for floats of less precision."""
        kinds = {self._array(value).dtype.name for value in (a, b)}
        for kind, relative, absolute in (
            ("float32", float_rtol, float_atol),
            ("float16", half_rtol, half_atol),
            ("bfloat16", bfloat16_rtol, bfloat16_atol),
        ):
            if kind in kinds or (kind == "float32" and "complex64" in kinds):
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails if both are nearly equal."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are close at all elements.")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless two numbers differ by ``err`` at most."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless the numbers of two vectors differ by ``err`` at most."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for one, two in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(two), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless the distance of two arrays (as vectors) is less than ``err``."""
        distance = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self.assertTrue(distance < err, msg or f"the arrays are {distance} apart")

    # --- Comparison -----------------------------------------------------------------------------

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are greater."""
        self.assertGreater(self._array(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are less."""
        self.assertLess(self._array(a).max(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are greater or equal."""
        self.assertGreaterEqual(self._array(a).min(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are less or equal."""
        self.assertLessEqual(self._array(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fails unless all elements lie in a range, whose ends belong to it unless they are open."""
        array = self._array(target)
        if array.dtype.kind not in "fiu":
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has type: {array.dtype}"  # noqa: E501
            )
        low = array <= lower_bound if open_lower_bound else array < lower_bound
        high = array >= upper_bound if open_upper_bound else array > upper_bound
        wrong = np.argwhere(np.isnan(array) | low | high)
        if len(wrong):
            ends = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"  # noqa: E501
            self.fail(
                f"{len(wrong)} of {array.size} elements are outside the range {ends}, first {wrong[:10].tolist()}"  # noqa: E501
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Fails unless all elements are in a set."""
        found = set(self._array(target).reshape(-1).tolist()) - set(np.asarray(list(expected_set)).tolist())
        if found:
            raise AssertionError(
                f"elements that are not in the set {expected_set}: {sorted(found, key=repr)[:10]}"
            )

    # --- Types, shapes, text --------------------------------------------------------------------

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails unless the elements have this dtype."""
        found = of_numpy(self._array(target).dtype)
        self.assertEqual(
            found, as_dtype(expected_dtype), f"found {found!r}, expected {as_dtype(expected_dtype)!r}"
        )

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless two arrays or tensors have one shape."""
        for value in (input_a, input_b):
            if not hasattr(value, "shape"):
                raise TypeError(f"arguments must be arrays or tensors, got {type(value)}")
        shapes = [tuple(value.shape) for value in (input_a, input_b)]
        self.assertEqual(shapes[0], shapes[1], msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Fails unless two names of devices are equal."""
        self.assertEqual(str(device1), str(device2), msg)

    def assertDictEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Fails unless two dictionaries have the same keys and values, which may be tensors."""
        self.assertAllEqual(sorted(a), sorted(b), msg) if a.keys() != b.keys() else None
        for key in a:
            self.assertAllEqual(a[key], b[key], msg)

    def assertItemsEqual(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:
        """Fails unless both have the same elements in any order."""
        self.assertCountEqual(expected_seq, actual_seq, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Fails unless the text begins like this."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} does not start with {expected_start!r}"))

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Fails unless the container has no elements."""
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """Fails if the container has no elements."""
        self.assertTrue(len(container), msg or f"{container!r} has length of 0.")

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Fails unless the container has this length."""
        found = len(container)
        self.assertEqual(
            found, expected_len, msg or f"{container!r} has length of {found}, expected {expected_len}."
        )

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, validate_message: Any, msg: Any = None
    ) -> None:
        """Fails unless two messages are equal; the first may be one in text format."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from google.protobuf import text_format  # noqa: PLC0415 - protobuf is imported on first use

            expected = text_format.Parse(expected, type(validate_message)())
        self.assertEqual(expected, validate_message, msg)

    # --- Errors ---------------------------------------------------------------------------------

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], Any]
    ) -> Iterator[None]:
        """Fails unless the block raises an error of this type whose text matches, or that fits."""
        expected = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            text = error.message if isinstance(error, OpError) else str(error)
            fits = expected(error) if callable(expected) else re.search(expected, text)
            if not fits:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Fails unless the block raises one of TensorFlow's errors whose text matches, or that fits."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type: Any = InvalidArgumentError, *_: Any) -> Any:
        """Fails unless the block raises an error about shapes."""
        return self.assertRaisesWithPredicateMatch(
            exception_type, r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        )

    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex  # noqa: N815 - its former name


def main(argv: Any = None) -> None:
    """Runs the tests of the program."""
    unittest.main(argv=sys.argv if argv is None else argv)


def get_temp_dir() -> str:
    """A folder for tests."""
    folder = os.environ.get("TEST_TMPDIR") or os.path.join(tempfile.gettempdir(), "purerecord-tests")
    os.makedirs(folder, exist_ok=True)
    return folder


def gpu_device_name() -> str:
    """An empty name: there is no GPU."""
    return ""


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: there is no GPU."""
    return False


def is_built_with_cuda() -> bool:
    """False."""
    return False


def is_built_with_gpu_support() -> bool:
    """False."""
    return False


def is_built_with_rocm() -> bool:
    """False."""
    return False


def is_built_with_xla() -> bool:
    """False."""
    return False


__getattr__ = missing("test")
