"""``shuffle``: all records in a random order, however many there are.

This module must not know how records are brought into an order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import public
from .external_sort import write_sorted
from .how import How
from .report import Rewritten
from .sort_keys import RandomOrder

if TYPE_CHECKING:
    from typing_extensions import Unpack


@public
def shuffle(
    paths: Any, out: Any, *, seed: int = 0, memory: int | str = "1GB", **how: Unpack[How]
) -> Rewritten:
    """Write all records in a random order.

    The order follows from the ``seed`` and the input files, and from nothing else: ``memory``, which all
    processes take together, and their number do not change it. The data lies twice on disk meanwhile, once
    in the folder for temporary files. The keywords are those of ``purerecord.tools.How``.

    >>> shuffle("train@10.tfrecord", "shuffled/train@100.tfrecord", seed=7, memory="4GB", workers=8)
    """
    return write_sorted(
        "shuffle", paths, out, RandomOrder(seed), parameters={"seed": seed}, memory=memory, **how
    )
