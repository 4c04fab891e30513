"""Strings, files, images, chance and tables of ``purerecord.tf``: expressions in both libraries."""

from __future__ import annotations

import io
import re
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord.tf as ours
from tests.support.facade_name_expressions import TABLES, data
from tests.support.facade_vs_tensorflow import plain
from tests.support.interop import interop
from tests.support.settings import tries

tf = interop("tensorflow")
Image = interop("PIL.Image")


def text(error: Exception) -> str:
    """The text of an error without what TensorFlow adds around it."""
    bare = re.sub(r"^\{\{function_node .*?\}\} ", "", str(error))
    return re.sub(r" \[Op:.*|\n\t; NodeDef.*|object at 0x\w+", "", bare, flags=re.DOTALL)


def outcome(namespace: Any, expression: str, values: dict[str, Any]) -> Any:
    try:
        return eval(expression, {"tf": namespace, "np": np, "D": values})
    except Exception as error:  # which one it is, is what the test compares
        return error


def difference(expression: str, values: dict[str, Any]) -> str | None:
    """How the two libraries differ, or None."""
    mark, rest = (expression[0], expression[2:]) if expression[0] in "~!" else ("", expression)
    mine, theirs = outcome(ours, rest, values), outcome(tf, rest, values)
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        same = type(mine).__name__ == type(theirs).__name__ and (mark or text(mine) == text(theirs))
        return None if same else f"{rest}\n  {theirs!r}\n  {mine!r}"
    if mark == "~":
        wanted = np.asarray(theirs)
        size = float(np.abs(wanted).max(initial=0, where=np.isfinite(wanted)))
        close = np.allclose(np.asarray(mine), wanted, rtol=3e-6, atol=3e-6 * max(size, 1), equal_nan=True)
        return None if close and mine.dtype.name == theirs.dtype.name else f"{rest}\n  {theirs}\n  {mine}"
    return None if plain(mine) == plain(theirs) else f"{rest}\n  {theirs!r}\n  {mine!r}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
def test_expressions_have_the_same_values_and_errors(table: str, tmp_path: Path) -> None:
    values = data(tmp_path)
    found = [wrong for expression in TABLES[table] if (wrong := difference(expression, values))]
    assert not found, "\n".join(found)


def test_hashes_of_any_string_are_tensorflows() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.bytes(int(size)) for size in (*range(200), *rng.integers(200, 3000, 40))]
    for function, more in (
        ("to_hash_bucket_fast", ()), ("to_hash_bucket", ()), ("to_hash_bucket_strong", ([5, 2**60],)),
    ):  # fmt: skip
        mine, theirs = (
            getattr(library.strings, function)(texts, 2**63 - 1, *more).numpy() for library in (ours, tf)
        )
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
def test_any_bytes_are_decoded_as_in_tensorflow(encoding: str) -> None:
    rng = np.random.default_rng(1)
    pieces = [
        b"a",
        b"\xc3\xa9",
        b"\xe2\x82\xac",
        b"\xf0\x9f\x98\x80",
        b"\xff",
        b"\x80",
        b"\xe2\x82",
        b"\0",
        b"\xd8",
    ]
    if encoding != "UTF-8":
        pieces = [
            "a".encode(encoding),
            "€".encode(encoding),
            "😀".encode(encoding),
            "\uffff".encode(encoding),
        ]
    texts = [
        b"".join(pieces[place] for place in rng.integers(0, len(pieces), rng.integers(0, 8)))
        for _ in range(tries(200))
    ]
    for errors in ("replace", "ignore"):
        for function in ("unicode_decode_with_offsets", "unicode_split"):
            mine, theirs = (
                plain(getattr(library.strings, function)(texts, encoding, errors)) for library in (ours, tf)
            )
            assert mine == theirs


# --- Cut off pictures -------------------------------------------------------------------------------


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_cut_off_jpegs_have_the_same_rows_or_are_refused(mode: str, progressive: bool) -> None:
    rng = np.random.default_rng(0)
    output = io.BytesIO()
    picture = Image.fromarray(rng.integers(0, 255, (64, 48, 3), np.uint8)).convert(mode)
    picture.save(output, "JPEG", quality=80, progressive=progressive)
    whole = output.getvalue()
    for cut in (2, 3, 10, 300, 700, 1000, 1500):
        for options in (
            {}, {"acceptable_fraction": 0.5}, {"acceptable_fraction": 0.0}, {"acceptable_fraction": 0.9},
            {"channels": 1, "acceptable_fraction": 0.1}, {"ratio": 2, "acceptable_fraction": 0.1},
        ):  # fmt: skip
            mine, theirs = (
                outcome_of(
                    lambda tf, options=options, cut=cut: tf.io.decode_jpeg(
                        whole[:-cut], dct_method="INTEGER_ACCURATE", **options
                    ),
                    library,
                )
                for library in (ours, tf)
            )
            assert type(mine) is type(theirs), (cut, options)
            np.testing.assert_array_equal(mine, theirs)


def test_recovered_jpegs_have_the_same_rows_before_the_break() -> None:
    rng = np.random.default_rng(0)
    output = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (64, 48, 3), np.uint8)).save(output, "JPEG", quality=80)
    whole = output.getvalue()
    for cut, rows in ((3, 64), (300, 46), (1000, 30)):
        mine, theirs = (
            library.io.decode_jpeg(
                whole[:-cut], try_recover_truncated=True, dct_method="INTEGER_ACCURATE"
            ).numpy()
            for library in (ours, tf)
        )
        assert mine.shape == theirs.shape
        np.testing.assert_array_equal(mine[:rows], theirs[:rows])


def outcome_of(program: Callable[[Any], Any], library: Any) -> Any:
    try:
        return program(library).numpy()
    except Exception as error:
        return type(error).__name__


# --- GFile ------------------------------------------------------------------------------------------

STEPS = [
    "f.read()", "f.read(2)", "f.readline()", "f.write('xy\\nz')", "f.tell()", "f.size()", "f.seek(1)", "f.flush()",  # noqa: E501
    "f.close()", "f.readlines()", "f.seek(0, 2)", "f.seek(-1, 1)", "f.seek(position=2)", "f.seek()",
    "f.seek(1, 5)", "f.seek(-3)", "f.seek(40)", "list(f)", "f.seekable()", "f.mode",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["r", "w", "a", "r+", "w+", "a+", "rb", "r+b", "w+b", "x"])
def test_any_steps_with_a_file_give_the_same(mode: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for number in range(tries(60)):
        steps = [STEPS[place] for place in rng.integers(0, len(STEPS), rng.integers(1, 6))]
        # TensorFlow does not see what it has written before, unless nothing has been read, and it is flushed.
        written = next((at for at, step in enumerate(steps) if "write" in step), len(steps))
        if any(word in step for step in steps[:written] for word in ("read", "list", "seek", "tell")):
            steps = steps[:written]
        steps = [part for step in steps for part in ([step, "f.flush()"] if "write" in step else [step])]
        steps = steps[: next((at + 2 for at, step in enumerate(steps) if "write" in step and at), len(steps))]
        results = []
        for name, library in (("mine", ours), ("theirs", tf)):
            path = tmp_path / f"{name}{number}"
            if number % 2:
                path.write_text("one\ntwo\nthree", encoding="utf-8")
            results.append(run_steps(library, path, mode, steps))
        assert results[0] == results[1], steps


def run_steps(library: Any, path: Path, mode: str, steps: list[str]) -> list[Any]:
    found: list[Any] = []
    try:
        file = library.io.gfile.GFile(str(path), mode)
    except Exception as error:
        return [type(error).__name__]
    for step in [*steps, "f.close()"]:
        try:
            found.append(eval(step, {"f": file}))
        except Exception as error:
            found.append(type(error).__name__)
    return [*found, path.read_bytes() if path.exists() else None]


def test_tensorflow_1_names_of_files_take_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    for library in (ours, tf):
        gfile = library.compat.v1.gfile
        assert gfile.Exists(filename=str(tmp_path / "a"))
        assert [Path(path).name for path in gfile.Glob(filename=str(tmp_path / "a*"))] == ["a"]
        assert gfile.IsDirectory(dirname=str(tmp_path))
        gfile.MakeDirs(dirname=str(tmp_path / "d" / "e"))
        gfile.MkDir(dirname=str(tmp_path / "d" / "f"))
        gfile.Copy(oldpath=str(tmp_path / "a"), newpath=str(tmp_path / "d" / "g"))
        gfile.Rename(oldname=str(tmp_path / "d" / "g"), newname=str(tmp_path / "d" / "h"), overwrite=True)
        assert gfile.Stat(filename=str(tmp_path / "d" / "h")).length == 1
        gfile.Remove(filename=str(tmp_path / "d" / "h"))
        assert sorted(gfile.ListDirectory(dirname=str(tmp_path / "d"))) == ["e", "f"]
        assert len(list(gfile.Walk(str(tmp_path / "d"), in_order=True))) == 3
        gfile.DeleteRecursively(dirname=str(tmp_path / "d"))


# --- tf.test.TestCase -------------------------------------------------------------------------------

ASSERTIONS = [
    "t.assertAllEqual([1, 2], tf.constant([1, 2]))",
    "t.assertAllEqual([1, 2], [1, 3])",
    "t.assertAllEqual([1, 2], [[1, 2]])",
    "t.assertAllEqual([float('nan')], [float('nan')])",
    "t.assertAllEqual(tf.constant(['a']), [b'a'])",
    "t.assertAllEqual(tf.ragged.constant([[1], []]), [[1], []])",
    "t.assertAllEqual(tf.ragged.constant([[1], []]), [[1], [2]])",
    "t.assertNotAllEqual([1], [1])",
    "t.assertNotAllEqual([1], [2])",
    "t.assertAllClose([1.0], [1.0 + 1e-7])",
    "t.assertAllClose([1.0], [1.1])",
    "t.assertAllClose({'a': 1.0}, {'a': tf.constant(1.0)})",
    "t.assertAllClose({'a': 1.0}, {'b': 1.0})",
    "t.assertAllClose({'a': 1.0}, [1.0])",
    "t.assertAllClose([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]])",
    "t.assertAllClose([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.5]])",
    "t.assertAllClose([1.0, 2.0], [1.0])",
    "t.assertNotAllClose([1.0], [1.1])",
    "t.assertNotAllClose([1.0], [1.0])",
    "t.assertAllCloseAccordingToType(tf.constant([1.0], tf.float16), [1.0005])",
    "t.assertAllCloseAccordingToType(tf.constant([1.0]), [1.0005])",
    "t.assertNear(1.0, 1.05, 0.1)",
    "t.assertNear(1.0, 1.5, 0.1)",
    "t.assertArrayNear([1.0], [1.05], 0.1)",
    "t.assertArrayNear([1.0], [1.5], 0.1)",
    "t.assertNDArrayNear(np.ones(2), np.ones(2) + 0.01, 0.1)",
    "t.assertNDArrayNear(np.ones(2), np.ones(2) + 1, 0.1)",
    "t.assertAllGreater([1, 2], 0)",
    "t.assertAllGreater([1, 2], 1)",
    "t.assertAllLess(tf.constant([1, 2]), 3)",
    "t.assertAllLess([1, 2], 2)",
    "t.assertAllGreaterEqual([1, 2], 1)",
    "t.assertAllLessEqual([1, 2], 1)",
    "t.assertAllInRange([1, 2], 1, 2)",
    "t.assertAllInRange([1, 2], 1, 2, open_upper_bound=True)",
    "t.assertAllInSet([1, 2], {1, 2, 3})",
    "t.assertAllInSet([1, 5], {1, 2, 3})",
    "t.assertDTypeEqual(tf.constant(1), tf.int32)",
    "t.assertDTypeEqual(tf.constant(1), tf.int64)",
    "t.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))",
    "t.assertShapeEqual(np.zeros((2, 3)), tf.zeros([3]))",
    "t.assertItemsEqual([1, 2], [2, 1])",
    "t.assertStartsWith('abc', 'ab')",
    "t.assertStartsWith('abc', 'b')",
    "t.assertEmpty([])",
    "t.assertNotEmpty([])",
    "t.assertLen([1], 2)",
    "t.evaluate({'a': tf.constant([1]), 'b': (tf.constant(2),)})['b'][0]",
    "t.evaluate([tf.constant([1]), tf.constant('a')])[1]",
]
RAISING = [
    "t.assertRaisesOpError('bad')",
    "t.assertRaisesOpError('good')",
    "t.assertRaisesWithPredicateMatch(tf.errors.InvalidArgumentError, lambda e: 'bad' in e.message)",
    "t.assertRaisesWithPredicateMatch(tf.errors.InvalidArgumentError, lambda e: False)",
    "t.assertRaisesWithPredicateMatch(ValueError, 'x')",
    "t.assertRaisesRegex(tf.errors.InvalidArgumentError, 'bad')",
]


@pytest.mark.filterwarnings("ignore")
def test_assertions_hold_and_fail_as_in_tensorflow() -> None:
    def result(library: Any, step: str, raising: bool) -> Any:
        class Case(library.test.TestCase):  # type: ignore[misc, name-defined]
            def runTest(self) -> None: ...  # noqa: N802 - unittest's name

        case = Case()
        try:
            context = eval(step, {"t": case, "tf": library, "np": np})
            if not raising:
                return context if isinstance(context, (bytes, int)) else None
            with context:
                raise library.errors.InvalidArgumentError(None, None, "a bad argument")
        except Exception as error:
            return type(error).__name__

    for raising, table in ((False, ASSERTIONS), (True, RAISING)):
        for step in table:
            mine, theirs = result(ours, step, raising), result(tf, step, raising)
            if raising and "ValueError" in step:
                assert mine is None or mine == "AssertionError"  # here it is a ValueError, too
                continue
            assert mine == theirs, step


def test_test_case_runs_its_tests() -> None:
    class Case(ours.test.TestCase):
        def test_values(self) -> None:
            with self.cached_session() as session:
                self.assertAllEqual(session.run(ours.constant([1, 2])), [1, 2])
            self.assertTrue(Path(self.get_temp_dir()).is_dir())  # noqa: PT009
            self.assertAllEqual(ours.random.uniform([2], seed=1), self._again())

        def _again(self) -> Any:
            ours.random.set_seed(87654321)
            return ours.random.uniform([2], seed=1)

    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(outcome)
    assert outcome.testsRun - len(outcome.skipped) == 1  # test_session is none
    assert outcome.wasSuccessful(), outcome.errors + outcome.failures
