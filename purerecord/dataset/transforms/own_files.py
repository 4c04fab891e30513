"""``own_files``: gives each consumer its own files, for ``share="files"`` and ``parallel``.

A consumer then never opens the files of others. That matters for compressed files, which must be inflated
as a whole. The price: there is no one order of all elements any more. A consumer has as many elements as
its files have, and its state is for this consumer alone.
"""

from __future__ import annotations

from dataclasses import replace

from ..engine.node import Node, Transform
from ..engine.shares import Consumer
from .cache import Cache
from .files import Files


def own_files(node: Node, consumer: Consumer) -> Node:
    """The chain of ``node`` over every n-th file, beginning with the file of the consumer's number."""
    if isinstance(node, Files):
        if len(node.paths) < consumer.count:
            raise ValueError(
                f"{len(node.paths)} files are not enough for {consumer.count} consumers (workers x ranks, or "
                f'processes of parallel) to have their own; use fewer of those, or share="elements"'
            )
        return replace(node, paths=node.paths[consumer.number :: consumer.count])
    if isinstance(node, Cache):
        raise ValueError('share="files" and cache do not go together: what is kept is of all files')
    if not isinstance(node, Transform):
        raise ValueError(f'share="files" is for chains over one TFRecordDataset, not over {node.label()}')
    return replace(node, parent=own_files(node.parent, consumer))  # type: ignore[type-var]
