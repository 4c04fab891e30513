"""How the workers of a ``DataLoader`` send batches: all tensors and bytes of a batch in one lent buffer.

torch sends each tensor through a file descriptor of its own. Here a worker copies what a batch holds into one
buffer, when the batch is pickled; the training process gets plain tensors, which are views of it. The buffer
is filled again when these have died. torch pickles tensors as storages with a shape. Only storages are
pickled differently here, so every tensor, whatever a ``collate_fn`` has made, arrives as it otherwise would.
Only ``torch`` imports this module. It must not know what a batch is.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch
from torch.multiprocessing import reductions
from torch.utils import data

from .memory.malloc import in_batches_of_bytes
from .processes.lent_memory import Lender, Loan, accept

__all__ = ["BytesList", "in_worker"]

_SHORT_BYTES = 512  # bytes of this mean length or less are pickled one by one

# Process-wide state, in workers only: what lends the memory. A process forked from a worker lends none.
_lenders: list[Lender] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lenders.clear)


def in_worker() -> bool:
    """Whether this is a worker of a DataLoader; if so, it lends memory for what it sends from now on."""
    if data.get_worker_info() is None:
        return False
    if not _lenders:
        _lenders.append(Lender())
        ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
        ForkingPickler.register(BytesList, _reduce_bytes)
    return True


class BytesList(list[bytes]):
    """A list that a worker sends as one part of the buffer; it arrives as a plain list."""

    def __copy__(self) -> BytesList:
        return BytesList(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _place(parts: Sequence[Any]) -> tuple[Any, int] | None:
    return _lenders[0].place(parts) if _lenders else None


def _reduce_storage(storage: torch.UntypedStorage) -> Any:
    if storage.device.type == "cpu" and storage.nbytes() and not storage.is_shared():
        octets = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
        if placed := _place([octets.data]):
            return _storage, (*placed, storage.nbytes())
    return _accompanied(*reductions.reduce_storage(storage))


def _storage(loan: Loan, place: int, size: int) -> torch.UntypedStorage:
    return torch.from_numpy(loan.part(place, size)).untyped_storage()


def _reduce_bytes(strings: BytesList) -> Any:
    if set(map(type, strings)) == {bytes}:
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        if lengths.sum() > _SHORT_BYTES * len(lengths):
            if placed := _place(strings):
                return _bytes, (*placed, lengths.tobytes())
            return _accompanied(list, (list(strings),))
    return list, (list(strings),)


def _bytes(loan: Loan, place: int, lengths: bytes) -> list[bytes]:
    sizes = np.frombuffer(lengths, np.int64)
    ends = np.cumsum(sizes)
    view = loan.view(place, int(ends[-1]))
    begins = (ends - sizes).tolist()
    strings: list[bytes] = []
    for some in in_batches_of_bytes(sizes):
        strings += map(bytes, map(view.__getitem__, map(slice, begins[some], ends[some].tolist())))
    return strings


def _accompanied(rebuild: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What is sent in another way, together with what the training process must know, if anything."""
    for lender in _lenders:
        offer = lender.offer()
        failure, lender.failure = lender.failure, None
        if offer or failure:
            return _rebuild, (offer, failure, rebuild, arguments)
    return rebuild, arguments


def _rebuild(
    offer: tuple[int, int, int] | None, failure: str | None, rebuild: Callable[..., Any], arguments: Any
) -> Any:
    if offer is not None:
        accept(offer)
    if failure is not None:
        warnings.warn(
            f"a worker of a DataLoader got no memory to send batches in ({failure}); torch sends them",
            RuntimeWarning,
            stacklevel=2,
        )
    return rebuild(*arguments)
