"""``reshard``, ``merge`` and ``compress``: the same records in the same order, in other files.

Payloads keep their bytes. This module must not know what a payload means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import public
from ...storage.compression import TFRecordOptions
from .engine import Rewrite
from .how import How
from .inputs import BLOCK_SIZE
from .mapping import Unchanged
from .report import Rewritten

if TYPE_CHECKING:
    from typing_extensions import Unpack

COMPRESSIONS = {
    "gzip-blocks": TFRecordOptions("GZIP", block_size=BLOCK_SIZE),
    "gzip": TFRecordOptions("GZIP"),
    "zlib": TFRecordOptions("ZLIB"),
    "none": TFRecordOptions(""),
}


@public
def reshard(paths: Any, out: Any, **how: Unpack[How]) -> Rewritten:
    """Write the records of ``paths`` to other shards, in the same order.

    With ``shards``, or ``out`` like ``name@10.tfrecord``, the shards have equally many records, to within
    one. With ``max_bytes`` or ``max_records`` each is filled before the next. The keywords are those of
    ``purerecord.tools.How``.

    >>> reshard("train-*.tfrecord", "new/train@100.tfrecord", workers=8)
    """
    run = Rewrite("reshard", paths, out, {}, how)
    if run.output.as_inputs or run.output.exact:
        raise ValueError("say how many: out like name@10.tfrecord, or shards, max_bytes or max_records")
    return _rewritten(run)


@public
def merge(paths: Any, out: Any, **how: Unpack[How]) -> Rewritten:
    """Write the records of all ``paths``, file after file, to the one file ``out``, or to few shards.

    The keywords are those of ``purerecord.tools.How``.

    >>> merge(["a.tfrecord", "b.tfrecord"], "both.tfrecord")
    """
    run = Rewrite("merge", paths, out, {}, how)
    if run.output.as_inputs:
        raise ValueError("a merge has one output or few: name a file, or say how many shards")
    return _rewritten(run)


@public
def compress(paths: Any, out: Any, to: str, **how: Unpack[How]) -> Rewritten:
    """Write each of ``paths`` anew, compressed as ``to`` says; a payload keeps its bytes.

    ``to`` is "gzip-blocks" (GZIP in blocks of a megabyte, in which ``RecordFile`` can seek), "gzip", "zlib"
    or "none". ``out`` is a folder that takes files of the same names, or ``name@*.tfrecord``. The keywords
    are those of ``purerecord.tools.How``; ``options`` takes the place of ``to`` for any other setting.

    >>> compress("train-*.tfrecord", "compressed/", "gzip-blocks")
    """
    if to not in COMPRESSIONS:
        raise ValueError(f"to must be one of {', '.join(COMPRESSIONS)}, not {to!r}")
    if how.get("options") is None:
        how["options"] = COMPRESSIONS[to]
    return _rewritten(Rewrite("compress", paths, out, {}, how))


def _rewritten(run: Rewrite) -> Rewritten:
    if run.dry_run:
        return run.would()
    with run:
        return run.mapped(Unchanged()) if run.output.as_inputs else run.write(run.counted())
