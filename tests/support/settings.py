"""Settings for all tests: hypothesis without deadlines, and how much is tried.

The suite has two forms. The light form is the default; it tries a sample of each large set of cases. The long
form (``PURERECORD_CAMPAIGN=2`` or more) tries all cases, and more random ones; ``.ci/run`` runs it once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from random import Random
from typing import TypeVar

from hypothesis import HealthCheck, settings

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))
LONG = CAMPAIGN > 1

_T = TypeVar("_T")


def tries(count: int) -> int:
    """How many random cases to try: ``count`` times the campaign in the long form, else a third."""
    return count * CAMPAIGN if LONG else -(-count // 3)


def sampled(cases: Iterable[_T], count: int) -> list[_T]:
    """All ``cases`` in the long form, else ``count`` of them in their order.

    The sample is fixed for one version of Python, and differs between the versions that CI runs.
    """
    cases = list(cases)
    if LONG or len(cases) <= count:
        return cases
    places = Random(f"{sys.version_info.minor} {len(cases)}").sample(range(len(cases)), count)
    return [cases[place] for place in sorted(places)]


settings.register_profile(
    "purerecord",
    deadline=None,
    max_examples=tries(60),
    derandomize=bool(os.environ.get("CI")),  # what lands does not depend on luck
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("purerecord")
