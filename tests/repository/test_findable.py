"""The tests of a module can be found: ``a/b.py`` has ``tests/a/test_b.py``."""

from __future__ import annotations

from pathlib import Path

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


def test_modules_have_a_test_file_of_their_name():
    for module in MODULES:
        folder, _, name = module.rpartition("/")
        if module in GENERATED:
            continue
        place = TESTS / folder
        if module in IN_INTEROP:
            place, name = TESTS / "interop", module.replace("/", "_")
        file = place / f"test_{name.lstrip('_')}.py"
        assert file.exists(), f"{file.relative_to(TESTS.parent)} is missing"
