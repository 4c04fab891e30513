"""``Dataset``: chains that read, shuffle, batch and parse, for any number of workers and ranks.

A dataset is a description: it does nothing by itself and can be pickled. Iterating over it does the work.
Every (seed, epoch) defines one order of its elements, whatever the number of workers and ranks.
``engine.shares`` says which consumer gets which elements, and how a run resumes. Methods that TensorFlow
has too have its signatures.

This module checks arguments and makes nodes. It must not know how a transform works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any

from .. import public
from ..container.reader import check_max_record_size, check_on_error
from ..errors import ClosedError, CorruptionError
from ..payload.parse.decode import as_forms
from ..payload.parse.examples import check_bytes_columns
from ..payload.specs import as_features
from ..storage.paths import resolve_paths
from ..storage.url import stored
from .engine.node import Context, Node, SkippedDamage, pickled
from .engine.origins import Locator
from .engine.shares import Consumer, Share, check_share
from .engine.states import KIND, VERSION, check_state, with_position
from .transforms.batch import Batch, PaddedBatch, Unbatch
from .transforms.cache import Cache
from .transforms.concatenate import Concatenate
from .transforms.enumerate import Enumerate
from .transforms.files import Files
from .transforms.filter import Filter
from .transforms.interleave import Interleave
from .transforms.map import Map
from .transforms.own_files import own_files
from .transforms.pack import Pack
from .transforms.parallel import Parallel
from .transforms.parse import Parse, from_file, inferred
from .transforms.prefetch import Prefetch
from .transforms.repeat import Repeat
from .transforms.sample import Sample
from .transforms.shuffle import GlobalShuffle, Shuffle
from .transforms.slice import Slice
from .transforms.sources import Generated, Range, Slices
from .transforms.zip import Zip


@public
class Dataset:
    """A chain of transforms, and the elements that come out of it.

    >>> dataset = TFRecordDataset("train-*.tfrecord").shuffle(10_000, seed=1).batch(128).parse(features)
    >>> for batch in dataset:  # every loop is an epoch with its own order
    ...     ...
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._epoch = 0  # of the next loop

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The rows of an array, a Ragged, Records, a list, or of a dict or tuple of those."""
        node = Slices(tensors)
        len(node)  # raises at once if the numbers of rows differ
        return Dataset(node)

    @staticmethod
    def from_generator(generator: Callable[..., Iterable[Any]], *, args: Sequence[Any] = ()) -> Dataset:
        """The elements of ``generator(*args)``, called once an epoch; they must always be the same."""
        return Dataset(Generated(generator, tuple(args)))

    @staticmethod
    def range(*args: int) -> Dataset:
        """Whole numbers, as Python's ``range``."""
        return Dataset(Range(range(*args)))

    @staticmethod
    def zip(*datasets: Any) -> Dataset:
        """Tuples of one element of each dataset, as long as all of them have one."""
        parts = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], (tuple, list)) else datasets
        if not parts:
            raise ValueError("zip needs at least one dataset")
        return Dataset(Zip(tuple(_node(part) for part in parts)))

    @staticmethod
    def sample(
        datasets: Sequence[Dataset],
        weights: Sequence[float] | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
    ) -> Dataset:
        """Each element comes from one of ``datasets`` that has not ended, drawn by ``weights``."""
        shares = [1.0] * len(datasets) if weights is None else [float(weight) for weight in weights]
        if len(shares) != len(datasets) or not datasets:
            raise ValueError(f"{len(datasets)} datasets need as many weights, not {len(shares)}")
        if min(shares) < 0 or not 0 < sum(shares) < float("inf"):
            raise ValueError("weights must not be negative, and not all zero")
        parts = tuple(_node(dataset) for dataset in datasets)
        return Dataset(Sample(parts, tuple(shares), seed, stop_on_empty_dataset))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Every ``num_shards``-th element, beginning with number ``index``.

        An ``iterator`` with ``rank`` and ``worker`` needs no ``shard``, nor do the adapters for loaders.
        """
        if not 0 <= index < num_shards:
            raise ValueError(f"index must be in [0, {num_shards}), not {index}")
        return self._then(Slice(self._node, f"shard({num_shards}, {index})", index, None, num_shards))

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True
    ) -> Dataset:
        """Again and again a random one of the next ``buffer_size`` elements; no seed means seed 0."""
        _check_positive("buffer_size", buffer_size)
        return self._then(Shuffle(self._node, buffer_size, seed, reshuffle_each_iteration))

    def global_shuffle(self, seed: int | None = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """A random permutation of all elements. They must be readable in any order, as most files are."""
        return self._then(GlobalShuffle(self._node, seed, reshuffle_each_iteration))

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """``batch_size`` elements at a time; raw records become ``Records``, other elements arrays."""
        _check_positive("batch_size", batch_size)
        return self._then(Batch(self._node, batch_size, drop_remainder))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Like ``batch``, but arrays are padded to ``padded_shapes``, or to the longest in the batch."""
        _check_positive("batch_size", batch_size)
        return self._then(PaddedBatch(self._node, batch_size, drop_remainder, padded_shapes, padding_values))

    def unbatch(self) -> Dataset:
        """The rows of batches, one by one."""
        return self._then(Unbatch(self._node))

    def pack(self, length: int, *, drop_remainder: bool = False, padding_value: Any = 0) -> Dataset:
        """Join sequences, such as tokens, and cut them into pieces of ``length``.

        An element is a 1-D array, or a dict of 1-D arrays of equal length. A dict gets ``segment_ids`` (1, 2
        ... for the sequences of a pack, 0 for padding) and ``positions`` (in the sequence). The last pack is
        padded with ``padding_value``, which may be a dict by feature, or dropped.
        """
        _check_positive("length", length)
        return self._then(Pack(self._node, length, drop_remainder, padding_value))

    def parse(
        self,
        features: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        decode: Mapping[str, Any] | None = None,
        bytes_columns: bool | Iterable[str] = False,
    ) -> Dataset:
        """Parse serialized Examples by the specs in ``features``; fastest after ``batch``.

        A dtype's name is short for a ``FixedLenFeature`` of one value: ``{"label": "int64"}``. A path names a
        file with specs, as ``schema_to_json`` and ``purerecord schema`` write them, or TFX. Without
        ``features``, ``infer_schema`` makes them here and now, from the first 1000 records (or 64 MiB) of the
        first file. A feature that comes later only is left out; a later record that does not fit is an error.

        ``decode={"image": "rgb"}`` decodes images (JPEG, PNG, GIF, BMP, WebP) to arrays of uint8, (height,
        width, 3), or with "gray" (height, width, 1), in threads. ``("rgb", (224, 224))`` resizes them all, so
        that a batch is one array; else it is an array of arrays. ``bytes_columns`` is that of
        ``parse_example``.
        """
        if features is None:
            features = inferred(self._node)
        elif isinstance(features, (str, os.PathLike)):
            features = from_file(features)
        specs = as_features(features)
        check_bytes_columns(specs, bytes_columns)
        in_place = bytes_columns if isinstance(bytes_columns, bool) else tuple(bytes_columns)
        return self._then(Parse(self._node, specs, as_forms(decode or {}, specs), in_place))

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        *,
        processes: bool = False,
        seed: int | None = None,
    ) -> Dataset:
        """``map_func`` of every element, in order, also if it runs in parallel in threads or ``processes``.

        ``num_parallel_calls=-1`` means one for each CPU. ``deterministic`` is there for TensorFlow's
        signature. With a ``seed``, ``map_func`` gets a ``numpy.random.Generator`` as its last argument. It
        depends only on the seed, the epoch and the number of the element at this point of the chain. So
        random augmentation is the same for any number of workers, and after resuming.
        """
        if seed is not None:
            seed = index(seed)
        parallel = -1 if processes and num_parallel_calls is None else num_parallel_calls
        return self._then(Map(self._node, map_func, parallel, processes, seed))

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which ``predicate`` is true."""
        return self._then(Filter(self._node, predicate))

    def repeat(self, count: int | None = None) -> Dataset:
        """``count`` epochs one after the other, each shuffled anew; endless if None or -1."""
        return self._then(Repeat(self._node, None if count is None or index(count) < 0 else count))

    def take(self, count: int) -> Dataset:
        """The first ``count`` elements; all if -1."""
        return self._then(Slice(self._node, f"take({count})", 0, None if index(count) < 0 else count))

    def skip(self, count: int) -> Dataset:
        """All but the first ``count`` elements; none if -1."""
        begin, end = (0, 0) if index(count) < 0 else (count, None)
        return self._then(Slice(self._node, f"skip({count})", begin, end))

    def cache(self, filename: Any = "") -> Dataset:
        """The elements of epoch 0 in every epoch, kept in memory or in a file; put ``shuffle`` after it.

        All epochs share the arrays of a cache in memory, so they are read-only. A file holds pickles: it can
        run any code in who reads it, so use only files that you trust. Delete it when the data has changed.
        """
        return self._then(Cache(self._node, os.fsdecode(filename)))

    def prefetch(self, buffer_size: int) -> Dataset:
        """The same elements, fetched by a thread up to ``buffer_size`` elements ahead."""
        return self._then(Prefetch(self._node, buffer_size))

    def parallel(self, processes: int | None = None) -> Dataset:
        """Run the chain so far in ``processes`` processes, this one included; by default one for each CPU.

        Each process reads its own files, and they give their elements in turn, one each. Use it for whole
        batches: ``batch(4096).parse(features).parallel(4)``.
        """
        count = os.cpu_count() or 1 if processes is None else processes
        _check_positive("processes", count)
        node = Parallel(self._node, count)
        len(node.chains)  # raises at once if there are too few files
        return self._then(node)

    def interleave(
        self,
        map_func: Callable[..., Dataset],
        cycle_length: int | None = None,
        block_length: int | None = None,
    ) -> Dataset:
        """``block_length`` elements in turn of each of ``cycle_length`` datasets that ``map_func`` makes."""
        cycle, block = cycle_length or 4, block_length or 1
        _check_positive("cycle_length", cycle)
        _check_positive("block_length", block)
        return self._then(Interleave(self._node, _Nodes(map_func), cycle, block))

    def enumerate(self, start: int = 0) -> Dataset:
        """Tuples of a number, counted from ``start``, and an element."""
        return self._then(Enumerate(self._node, start))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this dataset, then those of another."""
        return self._then(Concatenate(self._node, _node(dataset)))

    def _then(self, node: Node) -> Dataset:
        return Dataset(node)

    def iterator(
        self,
        epoch: int | None = None,
        *,
        rank: int = 0,
        world_size: int = 1,
        worker: int = 0,
        workers: int = 1,
        even: str = "uneven",
        share: str = "elements",
    ) -> DatasetIterator:
        """The elements of one epoch that belong to worker ``worker`` of rank ``rank``.

        ``epoch`` is by default the one after the latest loop. ``even`` decides about a last round with
        fewer elements than ranks: "uneven" hands them out, "drop" leaves them out, "pad" adds elements from
        the beginning of the epoch. With ``share="files"`` every worker reads its own files and opens no
        others. It then has as many elements as its files have, and its state is for the same worker of as
        many.
        """
        if epoch is None:
            epoch = self._epoch
        if index(epoch) < 0:
            raise ValueError(f"epochs are counted from 0, so there is no epoch {epoch}")
        self._epoch = epoch + 1
        check_share(share)
        return DatasetIterator(self, epoch, Consumer(rank, world_size, worker, workers), even, share)

    def __iter__(self) -> DatasetIterator:
        return self.iterator()

    def __len__(self) -> int:
        size = self._node.size()
        if size is None:
            raise TypeError("how many elements this dataset has is not known before it has been gone through")
        if size < 0:
            raise TypeError("this dataset never ends, so it has no length")
        return size

    def __bool__(self) -> bool:
        return True  # without asking for the length, which may read all files

    def __repr__(self) -> str:
        return f"<{self._node.chain()}>"

    def _repr_html_(self) -> str:
        from ..notebook import show_dataset  # noqa: PLC0415 - only a notebook asks for it

        return show_dataset(self._node)

    def __getstate__(self) -> dict[str, Any]:
        return {"node": self._node, "epoch": self._epoch}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._node, self._epoch = state["node"], state["epoch"]


@public
class TFRecordDataset(Dataset):
    """The records of TFRecord files, as ``bytes``, one file after the other.

    ``paths`` is a path, a glob, a shard pattern or a list of those. ``on_error`` decides about damage:
    "raise" raises an error, "skip" continues after it and counts it in the iterator's ``skipped``, "stop"
    ends there, and "tail" raises except at a last record that is cut, before which the file ends. With
    ``with_path``, the elements are pairs of path and record. A record of more than ``max_record_size`` bytes
    is damage; with that limit the files are read forward only, and have no length. ``storage_options`` and
    ``filesystem`` open URLs, as in ``read_records``; remote files have a length if they have indexes.
    """

    def __init__(
        self,
        paths: Any,
        compression_type: Any = "auto",
        *,
        on_error: str = "raise",
        with_path: bool = False,
        max_record_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        check_on_error(on_error)
        check_max_record_size(max_record_size)
        files = tuple(resolve_paths(stored(paths, storage_options, filesystem)))
        super().__init__(Files(files, compression_type, on_error, with_path, max_record_size))


@public
class DatasetIterator(Iterator[Any]):
    """Iterates over one epoch of a dataset, or over one consumer's share of it.

    ``state_dict()`` returns a few JSON values; ``load_state_dict()`` continues exactly there, also with
    other numbers of workers and ranks. (``get_state`` and ``set_state`` are grain's names for them.)
    ``skipped`` counts the damaged places that were skipped, and ``last_error`` is the latest of them.
    """

    def __init__(self, dataset: Dataset, epoch: int, consumer: Consumer, even: str, share: str) -> None:
        self._dataset = dataset
        self._consumer = consumer
        self._even = even
        self._closed = False
        self._node = dataset._node
        self._files: list[int] | None = (
            None  # with share="files": the number of this consumer, and of how many
        )
        if share == "files":
            if even != "uneven":
                raise ValueError(
                    f'even={even!r} needs share="elements": files have different numbers of them'
                )
            self._node = own_files(self._node, consumer)
            self._files, self._consumer = [consumer.number, consumer.count], Consumer()
        self.epoch = epoch
        self._damage = SkippedDamage()
        self._share = self._begin(epoch, self._damage)

    def _begin(self, epoch: int, damage: SkippedDamage) -> Share:
        context = Context(epoch, damage, self._consumer.pattern, shared=self._consumer.count > 1)
        node = self._node
        return Share(
            lambda again: node.open(replace(context, again=again)), self._consumer, self._even, damage
        )

    @property
    def skipped(self) -> int:
        """How many damaged places were skipped."""
        return self._damage.skipped

    @property
    def last_error(self) -> CorruptionError | None:
        """The error of the latest damage that was skipped."""
        return self._damage.last_error

    def __next__(self) -> Any:
        if self._closed:
            raise ClosedError("the iterator is closed")
        return self._share.next()

    def state_dict(self) -> dict[str, Any]:
        """The position before the next element, as a few JSON values."""
        place = {KIND: VERSION, "chain": self._dataset._node.outline(), "epoch": self.epoch}
        files = {} if self._files is None else {"files": self._files}
        return {**place, **files, **self._share.state(), "skipped": self.skipped}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where ``state_dict`` was taken, as this iterator's worker and rank.

        ``{"epoch": 3, "steps": 1000}`` is a state too: after as many elements (or batches) of each rank. Say
        the ``world_size`` of then, if it was another.
        """
        state_dict = with_position(state_dict, self._consumer.ranks)
        check_state(state_dict)
        version, chain = state_dict.get(KIND, VERSION), self._dataset._node.outline()
        if version != VERSION:
            raise ValueError(f"this is a state of version {version}, which is not known here")
        if state_dict.get("chain", chain) != chain:
            raise ValueError(f"this is a state of another dataset: {state_dict['chain']}, here {chain}")
        if state_dict.get("files") != self._files:
            raise ValueError('with share="files" a state is for the same consumer of as many, and no other')
        damage = SkippedDamage()
        share = self._begin(state_dict["epoch"], damage)
        try:
            share.restore(state_dict)
        except BaseException:
            share.close()
            raise
        before, self._share = self._share, share
        self.epoch, self._damage = state_dict["epoch"], damage
        self._dataset._epoch = self.epoch + 1
        before.close()

    def _note_origin(self, error: Exception, what: str, row: int | None = None) -> None:
        """Note on ``error`` where the latest element, or a row of it, came from; for adapters."""
        Locator(what, self._node, Context(self.epoch)).note_at(error, *self._share.latest(), row)

    get_state = state_dict
    set_state = load_state_dict

    def close(self) -> None:
        """Release files, threads and processes, and wait until they are gone.

        Garbage collection of an iterator releases them too, but does not wait: it may run in a thread that
        holds a lock that they need to end.
        """
        if not self._closed:
            self._closed = True
            self._share.close()


@pickled
class _Nodes:
    """Wraps a function that returns datasets into one that returns their nodes."""

    def __init__(self, function: Callable[..., Dataset]) -> None:
        self._function = function
        self.__qualname__ = getattr(function, "__qualname__", type(function).__name__)

    def __call__(self, *element: Any) -> Node:
        return _node(self._function(*element))


def _node(dataset: Any) -> Node:
    if not isinstance(dataset, Dataset):
        raise TypeError(f"expected a Dataset, not {type(dataset).__name__}")
    return dataset._node


def _check_positive(name: str, value: int) -> None:
    if index(value) < 1:
        raise ValueError(f"{name} must be positive, not {value}")
