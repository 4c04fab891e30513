"""The tests of a module can be found: ``a/b.py`` has ``tests/a/test_b.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

import purerecord
from tests.support.places import TESTS

PACKAGE = Path(purerecord.__file__).parent
MODULES = [
    path.relative_to(PACKAGE).with_suffix("").as_posix()
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.stem not in ("__init__", "__main__")
]

# The adapters need a framework. Their tests are skipped without it, and lie together.
IN_INTEROP = {
    "beam",
    "grain",
    "jax",
    "torch",
    "torch_workers",
    "ray/cluster",
    "ray/library",
    "ray/sink",
    "ray/skipped",
    "ray/source",
    "spark/source",
}
# Generated from the .proto files; proto uses it.
GENERATED = {"payload/_descriptors"}


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_test_file_of_its_name(module):
    folder, _, name = module.rpartition("/")
    if module in GENERATED:
        return
    place = TESTS / folder
    if module in IN_INTEROP:
        place, name = TESTS / "interop", module.replace("/", "_")
    assert (place / f"test_{name.lstrip('_')}.py").exists(), (
        f"{place.relative_to(TESTS.parent)}/test_{name}.py is missing"
    )
