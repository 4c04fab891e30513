"""The page of findings names a test for each one that is mended, and these tests are there and can fail."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.places import ROOT

PAGE = ROOT / "docs" / "internals" / "findings.md"
TESTS = ROOT / "tests"
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [A-Z]\d", line)
]


@cache
def functions_of(path: Path) -> dict[str, ast.FunctionDef]:
    """The functions of a file, and those that it imports from other tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        file = ROOT / (module.replace(".", "/") + ".py")
        if isinstance(node, ast.ImportFrom) and module.startswith("tests.") and file.is_file():
            other = functions_of(file)
            found |= {name.name: other[name.name] for name in node.names if name.name in other}
    return found | {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def can_fail(function: ast.FunctionDef, others: dict[str, ast.FunctionDef]) -> bool:
    """Whether a function that runs, or one that it calls, asserts something or expects an error."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    if any(re.match(r"pytest\.mark\.(skip|xfail)\b", ast.unparse(node)) for node in function.decorator_list):
        return False
    if "raises" in attributes or any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    rest = {name: other for name, other in others.items() if name != function.name}
    return any(can_fail(rest[name], rest) for name in sorted(names & set(rest)))


def problem(test: str) -> str:
    """What is wrong with ``folder/test_file.py::test_name``; "" if nothing is."""
    path, _, name = test.partition("::")
    if not (TESTS / path).is_file():
        return "there is no such file"
    functions = functions_of(TESTS / path)
    if name not in functions or not name.startswith("test_"):
        return "there is no such test"
    return "" if can_fail(functions[name], functions) else "it checks nothing"


def test_every_finding_is_mended_with_a_test_or_left_with_a_reason():
    assert len(ROWS) > 80
    assert len({row[0] for row in ROWS}) == len(ROWS)
    for number, finding, now, *tests in ROWS:
        assert finding, number
        assert now.startswith("left: ") or any("::" in test for test in tests), number
        assert now.removeprefix("left: ").strip(), number


def test_the_tests_that_it_names_are_there_and_can_fail():
    named = [test for row in ROWS for test in re.findall(r"`([\w/]+\.py::\w+)`", " ".join(row))]
    assert not {test: problem(test) for test in named if problem(test)}
    assert len(named) > 100


@pytest.mark.parametrize(
    ("code", "fails"),
    [
        ("def test_it(): pass", False),
        ("def test_it(): print(helper)", False),
        ("@pytest.mark.skip\ndef test_it(): assert False", False),
        ("def test_it(): assert 1", True),
        ("def test_it():\n with pytest.raises(ValueError): pass", True),
        ("def check(): assert 1\ndef test_it(): check()", True),
        ("def check(): test_it()\ndef test_it(): check()", False),
    ],
)
def test_a_test_that_checks_nothing_is_noticed(tmp_path, code, fails):
    (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
    functions = functions_of(tmp_path / "test_it.py")
    assert can_fail(functions["test_it"], functions) is fails
    assert problem("repository/test_findings.py::test_that_is_not_there")
