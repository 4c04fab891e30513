"""``Skipped``: each piece of a file counts once, however often it is read and by whom."""

from __future__ import annotations

import pytest

from tests.support.interop import interop
from tests.support.ray_cluster import QUIET, cluster

ray = interop("ray")
import purerecord.ray as prr  # noqa: E402 - only where ray is

pytestmark = QUIET


@pytest.fixture(autouse=True, scope="module")
def _cluster():
    cluster()


def test_notes_of_tasks_come_back_and_count_once():
    skipped = prr.Skipped()

    @ray.remote
    def task(skipped, path, begin):
        skipped.add(path, begin, 2, f"{path} at {begin}")

    for _ in range(2):
        ray.get([task.remote(skipped, path, begin) for path in "ab" for begin in (0, 100)])
    assert skipped.places == 8
    assert skipped.files == {"a": 4, "b": 4}
    assert skipped.errors == ["a at 0", "a at 100", "b at 0", "b at 100"]
    assert prr.Skipped().places == 0
