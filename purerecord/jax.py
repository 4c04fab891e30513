"""JAX: ``batches`` yields the batches of any chain as device arrays, and transfers the next ones ahead.

Every process takes its share of one order, and a ``Sharding`` distributes a batch over devices. A thread
prepares batches on the host. Only the caller's thread talks to JAX, so the caller's JAX settings apply.
Only this module
imports jax. It must not know how a chain computes its elements.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .dataset.dataset import Dataset, DatasetIterator
from .dataset.engine.node import Node
from .dataset.engine.shares import check_even
from .dataset.engine.structure import apply
from .dataset.transforms.batch import Batch, PaddedBatch
from .errors import ClosedError, CorruptionError
from .payload.ragged import Ragged
from .payload.sparse import Sparse
from .payload.values import Array
from .records import Records

try:
    import jax
except ImportError as error:
    raise ImportError(f'purerecord.jax needs JAX: pip install "purerecord[jax]" ({error})') from error

__all__ = ["Batches", "batches"]


def batches(
    dataset: Dataset,
    *,
    sharding: Any = None,
    prefetch: int = 2,
    epoch: int | None = None,
    even: str = "drop",
    ragged_to: int | Mapping[str, int] | None = None,
    padding_value: Any = 0,
) -> Batches:
    """The batches of one epoch as device arrays; up to ``prefetch`` more are prepared while one is in use.

    Without ``sharding`` they are on the default device, and every process gets its share of the batches. A
    ``jax.sharding.Sharding`` distributes each batch over its devices. If these belong to several processes,
    the batches of all processes together form one global array. ``even`` decides about a last round with
    fewer batches than processes: "drop" leaves them out, "pad" adds batches from the beginning of the
    epoch, "uneven" hands them out. ``epoch`` is by default the one after the latest loop over ``dataset``.

    A ``Ragged`` is padded with ``padding_value`` to its longest row, or to ``ragged_to``: a length, or one
    for each feature by name. Bytes and text stay numpy object arrays, because no device can hold them.

    >>> sharding = NamedSharding(jax.make_mesh((4,), ("data",)), PartitionSpec("data"))
    >>> for batch in batches(dataset, sharding=sharding):
    ...     state = train_step(state, batch)
    """
    if prefetch < 0:
        raise ValueError(f"prefetch must not be negative, not {prefetch}")
    check_even(even)
    layout = _DeviceLayout(sharding)
    if layout.is_global:
        _check_global_batches(dataset._node, even)
    iterator = dataset.iterator(epoch, rank=layout.rank, world_size=layout.world_size, even=even)
    return Batches(iterator, layout, _Prepare(layout, ragged_to, padding_value), prefetch)


class Batches(Iterator[Any]):
    """Iterates over one epoch; ``batches`` makes it.

    ``state_dict()`` is the position after the last batch that was handed out, whatever has been prepared
    ahead. It is a state like that of ``dataset.iterator()``: any number of processes can continue from it.
    """

    def __init__(
        self, iterator: DatasetIterator, layout: _DeviceLayout, prepare: _Prepare, prefetch: int
    ) -> None:
        self._iterator = iterator
        self._layout = layout
        self._prepare = prepare
        self._prefetch = prefetch
        self._pulled: deque[Future[_Pulled]] = (
            deque()
        )  # prepared on the host; the end or an error stays first
        self._sent: deque[_Pulled] = deque()  # on the devices, to be handed out before those
        self._state = iterator.state_dict()
        self._closed = False
        # One thread keeps the batches in order. It does not refer to this object, so that garbage
        # collection of this object ends it.
        self._executor = ThreadPoolExecutor(1, "purerecord.jax")
        weakref.finalize(self, self._executor.shutdown, wait=False, cancel_futures=True)

    @property
    def epoch(self) -> int:
        """The epoch that this iterates over."""
        return self._iterator.epoch

    @property
    def skipped(self) -> int:
        """How many damaged places were skipped before the latest batch."""
        return int(self._state["skipped"])

    @property
    def last_error(self) -> CorruptionError | None:
        """The error of the latest damage that was skipped, perhaps in a batch that is still ahead."""
        return self._iterator.last_error

    def __next__(self) -> Any:
        if self._closed:
            raise ClosedError("the batches are closed")
        self._look_ahead()
        if not self._sent:
            pulled = self._pulled[0].result() if self._pulled else _pull(self._iterator, self._prepare)
            if pulled.batch is _END:
                self._state = pulled.state
                raise StopIteration
            self._send(pulled)
        batch, self._state = self._sent.popleft()
        return batch

    def _look_ahead(self) -> None:
        """Have the thread prepare batches, and send the prepared ones to the devices."""
        while self._prefetch and len(self._sent) + len(self._pulled) <= self._prefetch:
            self._pulled.append(self._executor.submit(_pull, self._iterator, self._prepare))
        while self._pulled and (first := self._pulled[0]).done():
            if first.exception() is not None or first.result().batch is _END:
                break  # it comes after the batches that have been sent
            self._send(first.result())

    def _send(self, pulled: _Pulled) -> None:
        self._sent.append(_Pulled(apply(self._layout.send, pulled.batch), pulled.state))
        if self._pulled:
            self._pulled.popleft()

    def state_dict(self) -> dict[str, Any]:
        """The position after the batch that was handed out last, as a few JSON values."""
        return dict(self._state)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where ``state_dict`` was taken, in this process or any other."""
        self._drop_ahead()
        self._iterator.load_state_dict(state_dict)
        self._state = self._iterator.state_dict()

    def _drop_ahead(self) -> None:
        for future in self._pulled:
            future.cancel()
        wait(self._pulled)
        self._pulled.clear()
        self._sent.clear()

    def close(self) -> None:
        """Release files, threads and processes."""
        if not self._closed:
            self._closed = True
            self._drop_ahead()
            self._executor.shutdown()
            self._iterator.close()


class _Pulled(NamedTuple):
    """A batch, and the state after it."""

    batch: Any
    state: dict[str, Any]


_END = object()  # instead of a batch


def _pull(iterator: DatasetIterator, prepare: _Prepare) -> _Pulled:
    """The next batch, prepared for the devices; the thread runs this."""
    batch = next(iterator, _END)
    if batch is not _END:
        batch = prepare(batch)
    return _Pulled(batch, iterator.state_dict())


class _Prepare:
    """Converts a batch to arrays that devices can hold; raises an error that says why where it cannot."""

    def __init__(
        self, layout: _DeviceLayout, ragged_to: int | Mapping[str, int] | None, padding_value: Any
    ) -> None:
        self._layout = layout
        self._ragged_to = ragged_to
        self._padding_value = padding_value
        self._wide = bool(jax.config.jax_enable_x64)

    def __call__(self, batch: Any) -> Any:
        if isinstance(batch, Mapping):
            return {name: apply(partial(self._leaf, name), part) for name, part in batch.items()}
        return apply(partial(self._leaf, ""), batch)

    def _leaf(self, name: str, leaf: Any) -> Any:
        where = f"feature {name!r}" if name else "a batch"
        if isinstance(leaf, Records) or (isinstance(leaf, bytes) and not name):
            raise TypeError(f"{where} holds raw records, not arrays; put parse(features) into the chain")
        if isinstance(leaf, Sparse):
            raise TypeError(f"{where} is sparse; use a RaggedFeature, or map it to what the model takes")
        if isinstance(leaf, Ragged):
            if leaf.dtype.kind == "O":
                return leaf
            leaf = self._padded(leaf, name, where)
        array = np.asarray(leaf)
        if array.dtype.kind in "OSU":
            return leaf
        self._layout.check_rows(array, where)
        return array if self._wide else _narrow(array, where)

    def _padded(self, column: Ragged, name: str, where: str) -> Array:
        length = self._ragged_to.get(name) if isinstance(self._ragged_to, Mapping) else self._ragged_to
        if length is None:
            if self._layout.is_global:
                raise ValueError(
                    f"{where} is ragged: its longest row may differ from process to process, so say with "
                    f"ragged_to how long rows are to be"
                )
            return column.to_dense(self._padding_value)
        longest = int(column.row_lengths().max(initial=0))
        if longest > length:
            raise ValueError(f"{where} has a row of length {longest}, which does not fit into {length}")
        dense = column.to_dense(self._padding_value)
        missing = [(0, 0)] * dense.ndim
        missing[1] = (0, length - longest)
        return np.pad(dense, missing, constant_values=self._padding_value)


def _narrow(array: Array, where: str) -> Array:
    """The array with 32 bits, where JAX would convert it too; an integer that does not fit is an error."""
    narrow = _NARROW.get(array.dtype.str[1:])
    if narrow is None:
        return array
    if array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(narrow)
        if array.min() < limits.min or array.max() > limits.max:
            raise ValueError(
                f"{where} holds integers that need 64 bits, and JAX is set to 32: set jax_enable_x64, or map "
                f"them to smaller ones"
            )
    return array.astype(narrow)


_NARROW: dict[str, Any] = {"i8": np.int32, "u8": np.uint32, "f8": np.float32, "c16": np.complex64}


class _DeviceLayout:
    """Which rows of a batch belong to this process, and how they get to its devices."""

    def __init__(self, sharding: Any) -> None:
        if not (sharding is None or isinstance(sharding, jax.sharding.Sharding)):
            raise TypeError(f"sharding must be a jax.sharding.Sharding, not {type(sharding).__name__}")
        self._sharding = sharding
        self.rank, self.world_size = jax.process_index(), jax.process_count()
        self.is_global = False
        self._parts = 1  # how many equal parts the rows of this process are cut into
        if sharding is not None:
            self.is_global = not sharding.is_fully_addressable
            self._find_rows(sharding)

    def _find_rows(self, sharding: Any) -> None:
        """Set rank and world size: processes that hold the same rows must get the same batches."""
        count = len(sharding.device_set)
        ndim = max(1, len(getattr(sharding, "spec", ())))
        rows: dict[int, set[int]] = {}
        for device, index in sharding.devices_indices_map((count,) * ndim).items():
            rows.setdefault(device.process_index, set()).add(index[0].start or 0)
        if jax.process_index() not in rows:
            raise ValueError("this process has no device in the sharding")
        own = rows[jax.process_index()]
        self._parts = len(own)
        if self.is_global:
            kinds = sorted({tuple(sorted(starts)) for starts in rows.values()})
            lengths = [len(kind) for kind in kinds]
            if len(set(lengths)) > 1 or sum(lengths) != len(set().union(*kinds)):
                raise ValueError(
                    "in this sharding processes have more rows of a batch than others, or some in common but "
                    "not all; lay the mesh out so that each has as many of its own, or the same as others"
                )
            self.rank, self.world_size = kinds.index(tuple(sorted(own))), len(kinds)

    def check_rows(self, array: Array, where: str) -> None:
        """Raise unless the rows can be cut into equal parts for the devices."""
        if self._sharding is not None and (array.ndim == 0 or len(array) % self._parts):
            rows = len(array) if array.ndim else "no"
            raise ValueError(
                f"{where} has {rows} rows, which cannot be cut into {self._parts} equal parts for the "
                f"devices: batch a multiple of {self._parts}, and drop a shorter last batch with "
                f"batch(..., drop_remainder=True)"
            )

    def send(self, leaf: Any) -> Any:
        """A leaf as a device array, if it is numeric."""
        if not isinstance(leaf, np.ndarray) or leaf.dtype.kind in "OSU":
            return leaf
        if self._sharding is None:
            return jax.device_put(leaf)
        return jax.make_array_from_process_local_data(self._sharding, leaf)


def _check_global_batches(node: Node, even: str) -> None:
    """Raise, in all processes alike, if some of them would wait for others that have no batch left."""
    if even == "uneven":
        raise ValueError('processes that train together need as many steps: use even="drop" or "pad"')
    if not isinstance(node, Batch):
        for part in node.inputs:
            _check_global_batches(part, even)
    elif not node.drop_remainder:
        raise ValueError(
            "a shorter last batch of one process makes no global array; use batch(..., drop_remainder=True)"
        )
    elif isinstance(node, PaddedBatch) and node.padded_shapes is None:
        raise ValueError(
            "the longest element of a batch may differ from process to process; use padded_batch with "
            "padded_shapes that say how long all are to be"
        )
