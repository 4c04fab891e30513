"""The layers of the design, enforced: which module may import which, and what an import may cost.

A module imports only from layers above its own. The container side does not know that Example exists, the
payload side does not know that files exist; both know the shared ones. They meet in the dataset.
A new module gets its place in one of these tables. The files of ``purerecord/tf`` are together one module of
the top: they see everything above them, nothing above sees them, and they import each other without circles.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import purerecord

PACKAGE = Path(purerecord.__file__).parent
MODULES = {
    path.stem: path for path in sorted(PACKAGE.glob("*.py")) if path.stem not in ("__init__", "__main__")
}

TF = {f"tf.{path.stem}": path for path in sorted((PACKAGE / "tf").glob("*.py"))}

SHARED = ["errors heap ranges", "records"]
CONTAINER = [
    "checksum damage openfiles memory",
    "walk inflate report",
    "frame deflate",
    "storage resync",
    "index sweep verify",
    "forward",
    "stream",
    "reader plainfile",
    "recordfile writer",
    "shards quarantine repeats",
    "recovery",
    "workers",
]
PAYLOAD = [
    "_descriptors varint septets arrays",
    "dtypes ragged",
    "features",
    "wire proto spans",
    "found pieces layout keytable example",
    "longentry short",
    "skim",
    "lockstep cells maps strides tensor",
    "anyorder anyentry shortentry steps",
    "scatter",
    "columns",
    "batch lists",
    "assemble partition",
    "parse",
    "sequence schema",
]
MEETING = [
    "cursor rows filetable validation parcel",
    "ahead share shuffle combining source filesource",
    "batching mapping caching desk",
    "mixing parsing ownfiles crew",
    "parallel",
    "dataset",
]
TOP = [
    "arrowtypes tfdsfeatures",
    "toarrow fromarrow",
    "growing",
    "outcome progress show demo tf arrow torch jax grain ray spark convert view tfds",
    "commands",
    "cli",
]

SIDES = {"shared": SHARED, "container": CONTAINER, "payload": PAYLOAD, "meeting": MEETING, "top": TOP}
SEES = {
    "shared": ["shared"],
    "container": ["shared", "container"],
    "payload": ["shared", "payload"],
    "meeting": ["shared", "container", "payload", "meeting"],
    "top": ["shared", "container", "payload", "meeting", "top"],
}
PLACES = {
    module: (side, layer)
    for side, layers in SIDES.items()
    for layer, modules in enumerate(layers)
    for module in modules.split()
}

# Which libraries are imported where; the standard library is free to all.
LIBRARIES = {
    "checksum": {"crc32c", "numpy"},
    "proto": {"google"},
    "_descriptors": {"google"},
    "storage": {"fsspec"},
    "tensor": {"numpy", "ml_dtypes", "google"},
    "example": {"numpy", "google"},
}


def imports(path: Path) -> tuple[set[str], set[str]]:
    """The modules of this package, and the libraries, that a file imports anywhere in it."""
    ours, theirs = set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            ours |= {node.module.partition(".")[0]} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            theirs.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.Import):
            theirs |= {alias.name.partition(".")[0] for alias in node.names}
    return ours & MODULES.keys(), theirs - sys.stdlib_module_names


def test_no_module_stands_twice_in_the_tables():
    words = [module for layers in SIDES.values() for modules in layers for module in modules.split()]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_place_and_imports_only_from_above_it(module):
    assert module in PLACES, f"give {module} its place in the tables of {Path(__file__).name}"
    side, layer = PLACES[module]
    ours, _ = imports(MODULES[module])
    for other in sorted(ours):
        other_side, other_layer = PLACES[other]
        assert other_side in SEES[side], f"{module} ({side}) must not know {other} ({other_side})"
        if other_side == side:
            assert other_layer < layer, f"{module} must not import {other}, which is not above it"


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_its_libraries(module):
    _, theirs = imports(MODULES[module])
    if PLACES.get(module, ("top", 0))[0] != "top":
        theirs -= {"purerecord"}
        assert theirs <= LIBRARIES.get(module, {"numpy"}) | {"numpy"}


def tf_imports(path: Path) -> tuple[set[str], set[str]]:
    """The files of ``tf``, and the modules of the core, that a file of ``tf`` imports when it is imported."""
    beside, above = set(), set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = {node.module.partition(".")[0]} if node.module else {alias.name for alias in node.names}
            (beside if node.level == 1 else above).update(names)
    return {f"tf.{name}" for name in beside} & TF.keys(), above


@pytest.mark.parametrize("module", TF)
def test_tf_sees_the_core_but_no_other_module_of_the_top(module):
    _, above = tf_imports(TF[module])
    assert not [name for name in above if PLACES.get(name, ("top", 0))[0] == "top"]
    _, theirs = imports(TF[module])
    assert theirs - {"purerecord"} <= {"numpy", "PIL", "ml_dtypes", "fsspec"}


def test_core_does_not_see_tf():
    for module, path in MODULES.items():
        tree = ast.walk(ast.parse(path.read_text()))
        seen = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom) and node.level]
        assert not any(name.partition(".")[0] == "tf" for name in seen), module


def test_tf_imports_itself_without_circles():
    left = {module: tf_imports(path)[0] - {module} for module, path in TF.items()}
    while left:
        free = {module for module, needs in left.items() if not needs & left.keys()}
        assert free, f"these import each other: {sorted(left)}"
        left = {module: needs for module, needs in left.items() if module not in free}


@pytest.mark.parametrize("module", [*MODULES, *TF])
def test_module_says_what_it_is_for_and_stays_small(module):
    source = (MODULES | TF)[module].read_text()
    assert ast.get_docstring(ast.parse(source)), "a module opens with what it is for"
    assert len(source.splitlines()) <= 450
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno - node.lineno < 70, f"{node.name} is too long"
    assert module not in {"utils", "helpers", "common", "base", "compat"}


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
