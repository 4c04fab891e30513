"""Settings for all tests, and for the processes that they start."""

import os
import shutil
import tempfile
from collections import defaultdict

import pytest

# Before numpy is imported: OpenBLAS would start a thread for each core, which takes as long as the rest of
# the import, and no test multiplies matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.support import settings  # importing it sets them

# Hundreds of processes import the package. If Python must not keep bytecode beside the sources, they compile
# once, into a folder that goes with the tests.
_BYTECODE = tempfile.mkdtemp(prefix="bytecode-") if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") else ""
if _BYTECODE:
    os.environ["PYTHONPYCACHEPREFIX"] = _BYTECODE


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves ``items`` without the cases that only the long form runs: see ``settings.sampled``."""
    cases = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("light"):
            cases[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    marked = {item for group in cases.values() for item in group}
    kept = {item for (_, count), group in cases.items() for item in settings.sampled(group, count)}
    config.hook.pytest_deselected(items=[item for item in items if item in marked - kept])
    items[:] = [item for item in items if item not in marked - kept]


def pytest_unconfigure() -> None:
    if _BYTECODE:
        shutil.rmtree(_BYTECODE, ignore_errors=True)
