"""``sort``: all records in the order of a feature, however many there are.

This module must not know how records are brought into an order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import public
from .external_sort import write_sorted
from .how import How
from .report import Rewritten
from .sort_keys import FeatureOrder

if TYPE_CHECKING:
    from typing_extensions import Unpack


@public
def sort(
    paths: Any,
    out: Any,
    by: str,
    *,
    descending: bool = False,
    memory: int | str = "1GB",
    **how: Unpack[How],
) -> Rewritten:
    """Write all records in the order of the feature ``by``: numbers, or strings byte by byte.

    Records with the same value keep their order. Those whose value is NaN come behind all others, and
    those without a value last, also with ``descending``. A record with several values is an error, and so are
    numbers in one record and strings in another. ``memory`` is what all processes take together; it does not
    change the result. The data lies twice on disk meanwhile, once in the folder for temporary files. The
    keywords are those of ``purerecord.tools.How``.

    >>> sort("events@10.tfrecord", "sorted/events@10.tfrecord", "timestamp")
    """
    order = FeatureOrder(by, descending)
    return write_sorted(
        "sort", paths, out, order, parameters={"by": by, "descending": descending}, memory=memory, **how
    )
