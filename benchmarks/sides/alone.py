"""purerecord's side in a second process, for comparisons of purerecord with itself."""

from __future__ import annotations

from benchmarks.sides.ours import ACTIONS, VERSION, plain

__all__ = ["ACTIONS", "VERSION", "plain"]
