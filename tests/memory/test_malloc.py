"""The allocator keeps freed memory: a batch uses the pages of the one before. New pages are large."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import purerecord
from purerecord.memory.malloc import in_batches_of_bytes

MIB = 1 << 20
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
HOME = str(Path(purerecord.__file__).parents[1])
PROGRAM = """
import resource, sys
from purerecord.memory.malloc import retain_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytes(b"x") * 3_000_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
retain_freed_memory()
faults()
print(faults())
"""


LARGE_PAGES = """
import resource
import numpy as np
from purerecord.memory.malloc import in_batches_of_bytes

sizes = np.full(1500, 60_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
made = [bytes(b"x") * size for some in in_batches_of_bytes(sizes) for size in sizes[some].tolist()]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc's heap that is meant")
def test_memory_that_was_freed_is_used_again():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={"PYTHONPATH": HOME}, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 3_000_000 // 4096  # the page faults of one block, not of all twenty


@pytest.mark.skipif(
    not HUGE_PAGES.exists() or "[never]" in HUGE_PAGES.read_text() or platform.libc_ver()[0] != "glibc",
    reason="the system has no large pages, or not for glibc's heap",
)
def test_objects_of_many_megabytes_are_made_in_large_pages():
    done = subprocess.run(
        [sys.executable, "-c", LARGE_PAGES],
        env={"PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 1500 * 60_000 // 4096 // 2


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [0],
        [1, 2, 3],
        [0] * 5,
        [30 * MIB] * 3,
        [MIB] * 100,
        [100 * MIB, 1, 1],
        [1, 1, 100 * MIB],
        [24 * MIB, 0, 0],
    ],
    ids=["none", "empty", "few", "all empty", "large", "many", "large first", "large last", "one portion"],
)
def test_portions_are_all_of_them_in_order(sizes):
    made = list(in_batches_of_bytes(np.array(sizes, np.int64)))
    assert [i for some in made for i in range(len(sizes))[some]] == list(range(len(sizes)))
    for some in made:
        assert sum(sizes[some][:-1]) <= 24 * MIB
