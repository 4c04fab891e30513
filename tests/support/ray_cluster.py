"""A local cluster of Ray with two CPUs, the same for all tests of a process."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.interop import interop

# Ray leaves sockets and files to the garbage collector, and speaks of its own future.
QUIET = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)


def cluster() -> Any:
    """The module ``ray``, connected to the cluster."""
    ray = interop("ray")
    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
    return ray
