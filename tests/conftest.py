"""Settings for all tests, and for the processes that they start."""

import gc
import os
from collections import defaultdict

import pytest

# Before numpy is imported: OpenBLAS would start a thread for each core, which takes as long as the rest of
# the import, and no test multiplies matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.support import settings  # importing it sets them

# Hundreds of processes import the package: they may keep its bytecode, whatever holds for this one.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Bytes of a string that can be part of the name of a test.
_LONGEST_NAME = 20


def pytest_make_parametrize_id(val: object) -> str | None:
    """Long strings are named by their length: GZIP holds the time, but all processes need the same names."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > _LONGEST_NAME else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves ``items`` without the cases that only the long form runs: see ``settings.sampled``."""
    cases = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("light"):
            cases[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    kept = {item for (_, count), group in cases.items() for item in settings.sampled(group, count)}
    left_out = {item for group in cases.values() for item in group} - kept
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what the collection made, which lives to the end, out of every later ``gc.collect``."""
    gc.collect()
    gc.freeze()
