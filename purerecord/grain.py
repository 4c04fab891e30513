"""grain: ``IterDataset`` wraps any chain; ``Source`` is a data source of parsed records, for random access.

``RecordFile`` needs no wrapper: it is a grain source of bytes as it is. ``batch`` asks a ``Source`` for whole
batches, which are parsed together; grain's own ``batch`` asks for one element at a time.

Every worker process of grain takes its share of one order, and grain's checkpoints contain the states of
purerecord. Only this module imports grain. It must not know how a chain computes its elements.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .container.record_file import RecordFile
from .dataset.dataset import Dataset, DatasetIterator
from .dataset.engine.shares import check_even
from .dataset.engine.states import merge_states
from .dataset.engine.structure import select
from .payload.parse.examples import parse_example, parse_single_example
from .payload.specs import FixedLenFeature, RaggedFeature, as_features

try:
    import grain  # type: ignore[import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError(f'purerecord.grain needs grain: pip install "purerecord[grain]" ({error})') from error

__all__ = ["IterDataset", "Source", "batch", "merge_states"]


class Source:
    """The parsed records of files by number, as a data source of grain.

    The files must be uncompressed, or GZIP written with a ``block_size``. Follow it with ``batch``:

    >>> source = grain.MapDataset.source(Source("train-*.tfrecord", features))
    >>> batches = batch(source.shuffle(seed=1), 64).to_iter_dataset()
    """

    def __init__(self, paths: Any, features: Mapping[str, Any]) -> None:
        self._records = RecordFile(paths)
        self._count = len(self._records)  # grain asks for it once for each element
        self._features = as_features(features)
        # With these specs a row of a column depends on no other record, so columns can be cut into rows.
        self._columnar = all(
            type(spec) in (FixedLenFeature, RaggedFeature) for spec in self._features.values()
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, in the order of their records."""
        return self._records.paths

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        return parse_single_example(self._records[index], self._features)

    def __getitems__(self, indices: Sequence[int]) -> _Rows | list[dict[str, Any]]:
        """Several records in the order of ``indices``, read and parsed together."""
        every = range(len(self))  # a range resolves negative indices and raises IndexError
        records = self._records.fetch(np.array([every[operator.index(place)] for place in indices], np.int64))
        if self._columnar:
            return _Rows(parse_example(records, self._features), len(records))
        return [parse_single_example(record, self._features) for record in records]

    _getitems = __getitems__  # the name that grain uses

    def __repr__(self) -> str:
        return f"Source({self._records!r}, {list(self._features)})"


class _Rows:
    """The rows of a parsed batch. It is no ``Sequence``, so that grain does not look for arrays inside."""

    def __init__(self, columns: dict[str, Any], count: int) -> None:
        self.columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        row: dict[str, Any] = select(self.columns, range(self._count)[index])
        return row

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.__getitem__, range(self._count))


def batch(dataset: grain.MapDataset, batch_size: int, *, drop_remainder: bool = False) -> grain.MapDataset:
    """The batches of ``dataset``, like ``dataset.batch``, but read and parsed together.

    ``dataset`` is ``grain.MapDataset.source(Source(...))``, perhaps sliced, shuffled or repeated. A batch
    holds the columns as ``parse_example`` makes them: arrays of bytes hold objects, rows of different
    lengths are ``Ragged``. After other steps the elements come one by one, as in ``dataset.batch``.
    """
    return _Batches(dataset, batch_size, drop_remainder)


class _Batches(grain.MapDataset):  # type: ignore[misc, unused-ignore]
    """Batches of the elements of its parent, which it asks for all elements of a batch at once."""

    def __init__(self, parent: grain.MapDataset, batch_size: int, drop_remainder: bool) -> None:
        super().__init__(parent)
        # grain's own batches: how many there are, and the form of a batch of other elements
        self._plain = parent.batch(batch_size, drop_remainder=drop_remainder)
        self._elements = parent
        self._batch_size = batch_size

    def __len__(self) -> int:
        return len(self._plain)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.slice(index)
        epoch, number = divmod(operator.index(index), len(self))
        before = epoch * len(self._elements)
        begin = number * self._batch_size
        end = min(begin + self._batch_size, len(self._elements))
        elements = self._elements._getitems(range(before + begin, before + end))
        return elements.columns if isinstance(elements, _Rows) else self._plain[index]

    def __str__(self) -> str:
        return f"batch(batch_size={self._batch_size})"


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
