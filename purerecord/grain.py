"""grain: ``IterDataset`` wraps any chain. ``RecordFile`` needs no wrapper: it is a grain source as it is.

Every worker process of grain takes its share of one order, and grain's checkpoints contain the states of
purerecord. Only this module imports grain. It must not know how a chain computes its elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .dataset.dataset import Dataset, DatasetIterator
from .dataset.engine.shares import check_even
from .dataset.engine.states import merge_states

try:
    import grain  # type: ignore[import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError(f'purerecord.grain needs grain: pip install "purerecord[grain]" ({error})') from error

__all__ = ["IterDataset", "merge_states"]


class IterDataset(grain.IterDataset):  # type: ignore[misc, unused-ignore]
    """A dataset for grain's chains, ``mp_prefetch`` included: every element comes once.

    As always in grain, every ``iter`` yields the same elements: those of epoch ``epoch``. For several
    epochs, put ``repeat`` into the chain. With ``state`` it begins where that state was taken;
    ``merge_states`` makes such a state out of grain's, for another number of workers.

    >>> dataset = TFRecordDataset("train-*.tfrecord").shuffle(10_000).repeat(3).batch(128).parse(features)
    >>> batches = IterDataset(dataset).mp_prefetch(grain.MultiprocessingOptions(num_workers=4))
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        epoch: int = 0,
        state: Mapping[str, Any] | None = None,
        rank: int = 0,
        world_size: int = 1,
        even: str = "uneven",
    ) -> None:
        super().__init__()
        check_even(even)
        self._dataset = dataset
        self._epoch = epoch
        self._state = state
        self._consumer: dict[str, Any] = {"rank": rank, "world_size": world_size, "worker": 0, "workers": 1}
        self._even = even

    def set_slice(self, sl: slice, sequential_slice: bool = False) -> None:
        """Become the share of one of grain's workers: start, start + step ... of the slice ``sl``."""
        if sequential_slice:
            raise ValueError("records are dealt out in turn; leave out sequential_slice")
        self._consumer |= {"worker": sl.start or 0, "workers": sl.step or 1}

    def __iter__(self) -> _Iterator:
        iterator = self._dataset.iterator(self._epoch, even=self._even, **self._consumer)
        if self._state is not None:
            iterator.load_state_dict(self._state)
        return _Iterator(iterator)

    def __str__(self) -> str:
        return f"IterDataset({self._dataset!r})"


class _Iterator(grain.DatasetIterator):  # type: ignore[misc, unused-ignore]
    """The elements as they are; its state is that of the dataset's iterator."""

    def __init__(self, iterator: DatasetIterator) -> None:
        super().__init__()
        self._iterator = iterator

    def __next__(self) -> Any:
        return next(self._iterator)

    def get_state(self) -> dict[str, Any]:
        """The position before the next element."""
        return self._iterator.state_dict()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue where ``state`` was taken."""
        self._iterator.load_state_dict(state)

    def close(self) -> None:
        """Release files, threads and processes."""
        super().close()
        self._iterator.close()
