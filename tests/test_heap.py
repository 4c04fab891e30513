"""The heap keeps what is freed: a batch finds the pages of the one before it."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

import purerecord

HOME = str(Path(purerecord.__file__).parents[1])
PROGRAM = """
import resource, sys
from purerecord.heap import keep_freed

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytes(b"x") * 3_000_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
keep_freed()
faults()
print(faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc's heap that is meant")
def test_memory_that_was_freed_is_used_again():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={"PYTHONPATH": HOME}, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 3_000_000 // 4096  # those of one block, where all twenty have as many
