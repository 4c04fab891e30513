"""The layers of the design, enforced: which folder may import which, and what an import may cost.

``docs/internals/architecture.md`` draws the folders in the order in which data passes through them. A folder
imports only what ``SEES`` lists for it; the modules of one folder import each other without circles.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import purerecord

PACKAGE = Path(purerecord.__file__).parent
FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

# Which folders (or modules of the top) each folder may import from, itself excepted.
FACE = {"bytes_column", "errors", "printable", "records"}
CORE = {*FACE, "memory", "processes", "storage", "container", "payload", "dataset"}
SEES = {
    "printable": set(),
    "errors": {"printable"},
    "markup": {"printable"},
    "memory": set(),
    "bytes_column": {"memory"},
    "records": {"bytes_column", "errors", "memory"},
    "processes": {"errors", "memory"},
    "storage": {"errors", "printable", "memory"},
    "container": {*FACE, "memory", "storage"},
    "payload": {*FACE, "memory"},
    "recovery": {*FACE, "processes", "storage", "container"},
    "notebook": {*CORE, "markup", "recovery", "tools"},
    "dataset": CORE - {"dataset"},
    "torch": {*CORE, "torch_workers"},
    "torch_workers": {"memory", "processes"},
    "jax": CORE,
    "grain": CORE,
    "beam": {*CORE, "arrow"},
    "arrow": CORE,
    "ray": {*CORE, "recovery", "arrow"},
    "spark": {*CORE, "arrow"},
    "tfds": CORE,
    "tf": CORE,
    "tools": {*CORE, "markup", "recovery", "arrow", "tfds"},
    "view": {*CORE, "recovery", "tools"},
    "cli": {*CORE, "recovery", "tools", "view", "ray"},
}
# What a notebook shows comes from this module, which knows what stands above; so only functions import it.
WHEN_SHOWN = "notebook"
# One module may see more than its folder: there container and payload meet.
ALSO = {"recovery.validate": {"payload"}}
# The two folders inside payload and dataset on which the others build, and which do not see these.
INSIDE = {
    "payload.columns": {"payload"},
    "payload.encode": {"payload"},
    "payload.parse": {"payload", "payload.columns"},
    "payload": set(),
    "dataset.engine": set(),
    "dataset.transforms": {"dataset.engine"},
    "dataset": {"dataset.engine", "dataset.transforms"},
    "tools.converters": {"tools"},
    "tools.converters.pictures": {"tools", "tools.converters"},
    "tools.converters.tables": {"tools", "tools.converters"},
    "tools.rewrite": {"tools"},
    "tools.inspect": {"tools"},
}

# Which libraries the core imports, beside numpy; the standard library is free to all.
LIBRARIES = {
    "container.checksum": {"crc32c"},
    "payload.proto": {"google"},
    "notebook": {"PIL"},
    "payload.parse.schema_pbtxt": {"google"},
    "payload._descriptors": {"google"},
    "payload.example": {"google"},
    "payload.images": {"PIL", "simplejpeg"},
    "payload.tensor": {"google", "ml_dtypes"},
    "storage.stores": {"fsspec", "obstore"},
    "storage.bz2_xz_zstd": {"backports"},
}
ADAPTERS = {
    "torch",
    "torch_workers",
    "jax",
    "grain",
    "beam",
    "arrow",
    "ray",
    "spark",
    "tfds",
    "tf",
    "tools",
    "view",
    "cli",
}
TF_LIBRARIES = {"numpy", "PIL", "ml_dtypes", "fsspec", "google"}


def top(module: str) -> str:
    """The folder, or the module at the top, that a module belongs to."""
    return module.partition(".")[0]


def inner(module: str) -> str:
    """The innermost folder of a module."""
    return module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text())


@cache
def imports(module: str, *, at_import: bool = False) -> tuple[set[str], set[str]]:
    """The modules of this package, and the libraries, that a file imports: anywhere, or ``at_import``."""
    tree = parsed(module)
    package = list(FILES[module].parent.relative_to(PACKAGE).parts)
    ours, theirs = set(), set()
    for node in tree.body if at_import else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                longest = ".".join([*base, alias.name])
                ours.add(longest if longest in FILES else ".".join(base))
        elif isinstance(node, ast.ImportFrom):
            theirs.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.Import):
            theirs |= {alias.name.partition(".")[0] for alias in node.names}
    return ours & FILES.keys(), theirs - sys.stdlib_module_names


LAYERED = [module for module in FILES if module not in ("__init__", "__main__")]


def test_every_folder_has_its_rule_and_every_rule_its_folder():
    assert {top(module) for module in LAYERED} == SEES.keys()
    assert INSIDE.keys() | ALSO.keys() | LIBRARIES.keys() <= FILES.keys()


def test_modules_import_only_from_folders_that_their_own_may_see():
    for module in LAYERED:
        ours, _ = imports(module)
        at_import, _ = imports(module, at_import=True)
        assert WHEN_SHOWN not in at_import, module
        seen = {top(other) for other in ours} - {top(module), WHEN_SHOWN}
        allowed = SEES[top(module)] | ALSO.get(module, set())
        assert seen <= allowed, f"{module} must not import from {sorted(seen - allowed)}"
        beside = {inner(other) for other in ours if top(other) == top(module)} - {inner(module)}
        if inner(module) in INSIDE:
            assert beside <= INSIDE[inner(module)], f"{module} must not import from {sorted(beside)}"


def names_of_the_face(module: str) -> set[str]:
    """The names that a module imports from ``purerecord`` itself, and not from a folder of it."""
    depth = len(FILES[module].parent.relative_to(PACKAGE).parts) + 1
    return {
        alias.name
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ImportFrom) and node.level == depth and not node.module
        for alias in node.names
        if alias.name not in FILES
    }


def test_modules_import_only_the_public_mark_and_the_version_from_the_face():
    # The face is always imported first, and ``public`` is defined before it imports anything.
    for module in LAYERED:
        allowed = {"public", "__version__"} if top(module) in ADAPTERS else {"public"}
        assert names_of_the_face(module) <= allowed, module


def folders(module: str) -> set[str]:
    """The folders that a module lies in; Python imports them before it."""
    parts = module.split(".")
    return {".".join(parts[:depth]) for depth in range(1, len(parts))}


def needs(module: str) -> set[str]:
    """What must have been imported before a module can be."""
    ours, _ = imports(module, at_import=True)
    return (ours | {folder for other in ours for folder in folders(other)}) - folders(module) - {module}


def test_modules_import_each_other_without_circles():
    left = {module: needs(module) for module in LAYERED}
    while left:
        free = {module for module, needed in left.items() if not needed & left.keys()}
        assert free, f"these import each other: {sorted(left)}"
        left = {module: needed for module, needed in left.items() if module not in free}


def test_modules_import_only_their_libraries():
    for module in LAYERED:
        _, theirs = imports(module)
        if top(module) == "tf":
            assert theirs - {"purerecord"} <= TF_LIBRARIES, module
        elif top(module) not in ADAPTERS:
            assert theirs <= {"numpy"} | LIBRARIES.get(module, set()), module


def test_modules_say_what_they_are_for_and_their_functions_are_short():
    for module in FILES:
        tree = parsed(module)
        assert ast.get_docstring(tree), f"{module} must open with what it is for"
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert node.end_lineno - node.lineno < 70, f"{node.name} of {module} is too long"
        assert module.rpartition(".")[2] not in {"utils", "helpers", "common", "base"}, module


def test_only_the_face_the_adapters_and_folders_stand_at_the_top():
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "printable.py",
        "markup.py",
        "notebook.py",
        "bytes_column.py",
        "records.py",
        "py.typed",
        "torch.py",
        "torch_workers.py",
        "jax.py",
        "grain.py",
        "beam.py",
    }


def test_inner_folders_hold_nothing_but_the_path_through_them():
    exporting = {
        "dataset",
        "arrow",
        "ray",
        "spark",
        "tfds",
        "tools",
        "view",
        "cli",
        "tf",
        "tf.data",
        "tf.image",
        "tf.io",
    }
    for module, path in FILES.items():
        if path.name == "__init__.py" and module not in {"__init__", *exporting}:
            assert len(ast.parse(path.read_text()).body) == 1, f"{module} holds more than its docstring"


HEAVY = [
    "tensorflow",
    "torch",
    "jax",
    "ray",
    "pyspark",
    "pyarrow",
    "fsspec",
    "PIL",
    "google.protobuf",
]


@pytest.mark.parametrize("name", ["purerecord", "purerecord.tf"])
def test_import_brings_in_no_framework_and_no_protobuf(name):
    program = f"""
import sys
import {name}
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_reading_and_writing_bring_in_none_either(tmp_path):
    program = f"""
import sys
import purerecord
with purerecord.TFRecordWriter("file", purerecord.TFRecordOptions("GZIP", block_size=100)) as writer:
    writer.write_many([b"x"] * 100)
assert len(list(purerecord.read_records("file"))) == len(purerecord.RecordFile("file")) == 100
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    assert sorted(set(purerecord.__all__)) == sorted(purerecord.__all__)
    for name in purerecord.__all__:
        assert getattr(purerecord, name) is not None
    with pytest.raises(AttributeError):
        purerecord.no_such_name  # noqa: B018 - asking is the test
