"""purerecord's side once more, in a process of its own: for where it is its own peer."""

from __future__ import annotations

from benchmarks.sides.ours import ACTIONS, VERSION, plain

__all__ = ["ACTIONS", "VERSION", "plain"]
