"""``own_files``: a chain over a consumer's own files, where files are dealt out instead of elements.

Then nobody opens the files of others, which is what a compressed file takes that must be inflated as a whole.
But there is no one order of all elements any more: a consumer has as many as its files have, and its state is
for it alone.
"""

from __future__ import annotations

from dataclasses import replace

from ..engine.node import Node, Step
from ..engine.shares import Consumer
from .cache import Cache
from .files import Files


def own_files(node: Node, consumer: Consumer) -> Node:
    """The chain of ``node`` over every n-th file, beginning with that of the consumer's number."""
    if isinstance(node, Files):
        if len(node.paths) < consumer.count:
            raise ValueError(
                f"{len(node.paths)} files are not enough for {consumer.count} consumers (workers x ranks, or "
                f'processes of parallel) to have their own; use fewer of those, or share="elements"'
            )
        return replace(node, paths=node.paths[consumer.number :: consumer.count])
    if isinstance(node, Cache):
        raise ValueError('share="files" and cache do not go together: what is kept is of all files')
    if not isinstance(node, Step):
        raise ValueError(f'share="files" is for chains over one TFRecordDataset, not over {node.label()}')
    return replace(node, up=own_files(node.up, consumer))  # type: ignore[type-var]
