"""Without Ray, ``purerecord.ray`` says how to install it; its names are known without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import purerecord.ray as prr

WITHOUT = """
import sys
sys.modules["{missing}"] = None
import purerecord.ray
assert "read_tfrecords" in dir(purerecord.ray)
try:
    purerecord.ray.{name}
except ImportError as error:
    print(error)
"""


@pytest.mark.light(2)
@pytest.mark.parametrize("missing", ["ray", "pyarrow"])
@pytest.mark.parametrize("name", ["Cluster", "Skipped", "read_tfrecords", "write_tfrecords"])
def test_the_error_says_what_to_install(missing, name):
    script = WITHOUT.format(missing=missing, name=name)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith('purerecord.ray needs Ray: pip install "purerecord[ray]"')


def test_a_wrong_name_is_an_attribute_error():
    assert not hasattr(prr, "read_everything")
