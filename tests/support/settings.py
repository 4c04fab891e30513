"""Settings for all tests: hypothesis without clocks, and longer where a campaign is asked for."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))

settings.register_profile(
    "purerecord",
    deadline=None,
    max_examples=60 * CAMPAIGN,
    derandomize=bool(os.environ.get("CI")),  # what lands does not depend on luck
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("purerecord")
