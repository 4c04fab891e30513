"""PyTorch: ``IterableDataset`` around any chain, ``MapDataset`` over files, and arrays as tensors.

Every worker of every rank takes its share of one order, so no element comes twice and none is left out.
Only this module imports torch. It must not know how a chain computes its elements.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .bytes_column import BytesColumn, Offsets
from .container.record_file import RecordFile
from .dataset.dataset import Dataset, DatasetIterator
from .dataset.engine.origins import add_note
from .dataset.engine.shares import check_even, check_share
from .dataset.engine.states import check_state, merge_states, with_position
from .dataset.engine.structure import apply
from .payload.images import ImageForm, Pixels, check_decoders, decoded_image
from .payload.parse.examples import parse_example, parse_single_example
from .payload.ragged import Ragged
from .payload.sparse import Sparse
from .payload.specs import FixedLenFeature, RaggedFeature, as_features
from .records import Records
from .storage.paths import resolve_paths

try:
    import torch
    from torch import distributed
    from torch.utils import data
    from torch.utils.data._utils.collate import collate, default_collate_fn_map

    from .torch_workers import BytesList, in_worker
except ImportError as error:
    raise ImportError(f'purerecord.torch needs PyTorch: pip install "purerecord[torch]" ({error})') from error

__all__ = ["IterableDataset", "MapDataset", "merge_states", "to_tensors"]

Note = Callable[[Exception, str, "int | None"], None]
Decode = Mapping[str, Any]  # functions of bytes, or forms of images
RAGGED = ("padded", "list", "nested")


def to_tensors(element: Any, *, ragged: str = "padded", padding_value: Any = 0) -> Any:
    """An element or batch with tensors in place of arrays; they share memory that is writable.

    A ``Ragged`` becomes one tensor padded with ``padding_value`` ("padded"), a list of tensors ("list") or a
    nested tensor ("nested"). Bytes stay bytes: an array of them, or ``Records``, becomes a list. A
    ``BytesColumn`` becomes a list of uint8 tensors, and an array of arrays a list of tensors. The tensors of
    a ``BytesColumn`` lie in its memory, so clone one before you write to it.
    """
    return apply(lambda leaf: _to_tensor(leaf, ragged, padding_value), element)


def _to_tensor(leaf: Any, ragged: str, padding_value: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return _from_objects(leaf) if leaf.dtype.kind in "OSU" else _from_array(leaf)
    if isinstance(leaf, (np.bytes_, np.str_)):
        return leaf.item()
    if isinstance(leaf, np.generic):
        return torch.as_tensor(leaf.item(), dtype=_from_array(np.empty(0, leaf.dtype)).dtype)
    if isinstance(leaf, Ragged):
        return _from_ragged(leaf, ragged, padding_value)
    if isinstance(leaf, Sparse) and leaf.dtype.kind != "O":
        indices, values = _from_array(leaf.indices.T), _from_array(leaf.values)
        # The indices come from a file. Unchecked, torch would read out of bounds with wrong ones.
        return torch.sparse_coo_tensor(indices, values, leaf.dense_shape, check_invariants=True)
    if isinstance(leaf, BytesColumn):
        leaf = list(leaf) if isinstance(leaf, Records) else _from_bytes(leaf)
    return leaf


def _from_objects(array: np.ndarray[Any, Any]) -> list[Any]:
    """A list of the strings, or of tensors for images of different sizes."""
    items = array.tolist()
    return [_from_array(item) if isinstance(item, np.ndarray) else item for item in items]


class _Memory:
    """The used part of a column's buffer, as numpy's array interface describes it: as if it were writable.

    torch has no read-only tensors, and warns of an array that says it is read-only.
    """

    def __init__(self, column: BytesColumn) -> None:
        self._octets = np.frombuffer(column.buffer, np.uint8)  # keeps the memory
        self.__array_interface__ = {
            **self._octets.__array_interface__,
            "data": (self._octets.ctypes.data, False),
        }


def _from_bytes(column: BytesColumn) -> list[torch.Tensor]:
    """A uint8 tensor for each string, over the memory of the column; over a copy if that is immutable."""
    if isinstance(column.buffer, bytes):
        column = BytesColumn(bytearray(column.buffer), column.begins, column.ends)
    whole = torch.from_numpy(np.asarray(_Memory(column)))
    places = zip(column.begins.tolist(), column.ends.tolist(), strict=True)
    return [whole[begin:end] for begin, end in places]


def _from_array(array: np.ndarray[Any, Any]) -> torch.Tensor:
    # torch has no read-only tensors, no negative strides and no foreign byte order, so it gets a copy.
    if not array.flags.writeable or not array.dtype.isnative or min(array.strides, default=0) < 0:
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    return torch.from_numpy(array)


def _from_ragged(column: Ragged, ragged: str, padding_value: Any) -> Any:
    flat = column.flat_values
    if isinstance(flat, BytesColumn) or (flat.size and isinstance(flat.flat[0], np.ndarray)):
        return [_to_tensor(row, ragged, padding_value) for row in column]
    if column.dtype.kind == "O":
        return column.to_list()
    if ragged == "padded":
        return _from_array(column.to_dense(padding_value))
    if ragged == "list":
        if isinstance(column.values, Ragged):
            return [_to_tensor(row, ragged, padding_value) for row in column]
        splits = column.row_splits.tolist()
        values = _from_array(flat)
        return [values[begin:end] for begin, end in pairwise(splits)]
    if isinstance(column.values, Ragged):
        raise ValueError('a nested tensor has one ragged dimension; use ragged="list" or "padded" for more')
    values, splits = _from_array(flat), _from_array(column.row_splits)
    return torch.nested.nested_tensor_from_jagged(values, splits)


class _Convert:
    """Converts elements to tensors; the features that ``decode`` names are decoded from bytes first."""

    def __init__(self, decode: Decode | None, ragged: str, padding_value: Any) -> None:
        if ragged not in RAGGED:
            raise ValueError(f"ragged must be one of {', '.join(RAGGED)}, not {ragged!r}")
        self._decode = {name: _decoder(name, given) for name, given in (decode or {}).items()}
        self._ragged = ragged
        self._padding_value = padding_value

    def __call__(self, element: Any, note: Note) -> Any:
        """The element as tensors; ``note`` notes on an error in which feature and row it came."""
        if not self._decode:
            return to_tensors(element, ragged=self._ragged, padding_value=self._padding_value)
        if not isinstance(element, Mapping):
            raise TypeError("decode names features, so the elements must be dicts, as parse makes them")
        if missing := self._decode.keys() - element.keys():
            raise KeyError(f"decode names features that the elements do not have: {sorted(missing)}")
        rest = {name: part for name, part in element.items() if name not in self._decode}
        converted = to_tensors(rest, ragged=self._ragged, padding_value=self._padding_value)
        decoded = {name: self._decoded(name, element[name], note) for name in self._decode}
        both = {**converted, **decoded}
        return {name: both[name] for name in element}

    def _decoded(self, name: str, value: Any, note: Note) -> Any:
        single = isinstance(value, bytes)
        values: list[Any] = []
        try:
            for item in [value] if single else value.views() if isinstance(value, BytesColumn) else value:
                values.append(_to_tensor(self._decode[name](item), self._ragged, self._padding_value))
        except Exception as error:
            note(error, f"decode of {name!r}", None if single else len(values))
            raise
        if single:
            return values[0]
        kinds = {(item.shape, item.dtype) if isinstance(item, torch.Tensor) else None for item in values}
        return torch.stack(values) if len(kinds) == 1 and None not in kinds else values


def _decoder(name: str, given: Any) -> Callable[[Any], Any]:
    """The function that decodes the bytes of a feature: the one given, or that of a form of images."""
    if callable(given):
        return given  # type: ignore[no-any-return]
    form = ImageForm.of(name, given)
    check_decoders(form)
    return partial(_decoded_image, form=form)


def _decoded_image(data: Any, form: ImageForm) -> Pixels:
    if not isinstance(data, (bytes, memoryview)):
        raise TypeError(
            f"an image is one string, and this is a {type(data).__name__}; give decode to parse, which also "
            "decodes several images a record"
        )
    return decoded_image(data, form)


def _to_send(element: Any) -> Any:
    """In a worker, the element with each list of bytes as one that is sent in one piece."""
    return apply(_in_one_piece, element) if in_worker() else element


def _in_one_piece(leaf: Any) -> Any:
    return BytesList(leaf) if type(leaf) is list and leaf and type(leaf[0]) is bytes else leaf


class IterableDataset(data.IterableDataset):  # type: ignore[type-arg, misc, unused-ignore]
    """A dataset for ``DataLoader``: every worker of every rank gets its share, and every element comes once.

    Put ``batch`` into the chain and give the loader ``batch_size=None``, so that workers take whole
    batches. The rank is the one given, else that of ``torch.distributed``, else that of the environment
    (``RANK``, ``WORLD_SIZE``). ``even`` decides about a last round with fewer elements than ranks:
    "uneven", "drop" or "pad". With ``share="files"`` every worker reads its own files instead. Call
    ``set_epoch`` before each epoch, as for a ``DistributedSampler``.

    >>> dataset = TFRecordDataset("train-*.tfrecord").shuffle(10_000, seed=1).batch(128).parse(features)
    >>> loader = DataLoader(IterableDataset(dataset), batch_size=None, num_workers=4)
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        rank: int | None = None,
        world_size: int | None = None,
        even: str = "uneven",
        share: str = "elements",
        ragged: str = "padded",
        padding_value: Any = 0,
        decode: Decode | None = None,
    ) -> None:
        super().__init__()
        if (rank is None) != (world_size is None):
            raise ValueError("rank and world_size belong together: give both, or none")
        check_even(even)
        check_share(share)
        self._dataset = dataset
        self._rank = None if rank is None or world_size is None else (rank, world_size)
        self._even = even
        self._share = share
        self._convert = _Convert(decode, ragged, padding_value)
        # The epoch of the latest set_epoch, and the number of its calls. Shared memory, because persistent
        # workers must see it too.
        self._set_epochs: torch.Tensor = torch.zeros(2, dtype=torch.int64)
        self._set_epochs.share_memory_()  # type: ignore[no-untyped-call, unused-ignore]
        self._set_epochs_seen = 0  # how many of these calls this process has followed
        self._epoch = 0  # of the next loop in this process
        self._resume: Mapping[str, Any] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Make the next loop epoch ``epoch``; with persistent workers, later loops count on from there."""
        self._set_epochs[0] = epoch
        self._set_epochs[1] += 1

    def resume(self, state: Any) -> None:
        """Make the next loop continue where ``state`` was taken; call it before the loader starts workers.

        ``state`` comes from an iterator's ``state_dict()`` or from ``merge_states``, or says how many steps
        each rank has done in an epoch: ``{"epoch": 3, "steps": 20}``, with the ``"world_size"`` of then if it
        was another.
        """
        check_state(with_position(state, 1))
        self._resume = state
        self.set_epoch(state["epoch"])

    def __iter__(self) -> Iterator[Any]:
        epoch, calls = self._set_epochs.tolist()
        if calls != self._set_epochs_seen:
            self._epoch, self._set_epochs_seen = epoch, calls
        rank, world_size = self._rank_and_world_size()
        info = data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        iterator = self._dataset.iterator(
            self._epoch,
            rank=rank,
            world_size=world_size,
            worker=worker,
            workers=workers,
            even=self._even,
            share=self._share,
        )
        if self._resume is not None and self._resume["epoch"] == self._epoch:
            iterator.load_state_dict(self._resume)
        return _TensorIterator(self, iterator, self._convert)

    def note_epoch(self, epoch: int) -> None:
        """Note that a loop over ``epoch`` has begun in this process: the next loop is the next epoch."""
        self._epoch = epoch + 1

    def __len__(self) -> int:
        if self._share == "files":
            raise TypeError('with share="files" the length depends on the files of each worker')
        rank, world_size = self._rank_and_world_size()
        size = len(self._dataset)
        if self._even == "uneven":
            return len(range(rank, size, world_size))
        return size // world_size if self._even == "drop" else -(-size // world_size)

    def _rank_and_world_size(self) -> tuple[int, int]:
        if self._rank is not None:
            return self._rank
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))

    def __getstate__(self) -> dict[str, Any]:
        # A spawned worker has no process group to ask, so the rank travels with the dataset.
        return {**self.__dict__, "_rank": self._rank_and_world_size()}

    def __repr__(self) -> str:
        return f"IterableDataset({self._dataset!r}, even={self._even!r})"


class _TensorIterator(Iterator[Any]):
    """Elements as tensors; its state is that of the dataset's iterator."""

    def __init__(self, owner: IterableDataset, iterator: DatasetIterator, convert: _Convert) -> None:
        self._owner = owner
        self._iterator = iterator
        self._convert = convert

    def __next__(self) -> Any:
        # Not in __init__: some loaders make an iterator that they never use.
        self._owner.note_epoch(self._iterator.epoch)
        return _to_send(self._convert(next(self._iterator), self._iterator._note_origin))

    @property
    def skipped(self) -> int:
        """How many damaged places were skipped."""
        return self._iterator.skipped

    def state_dict(self) -> dict[str, Any]:
        """The position before the next element."""
        return self._iterator.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where ``state_dict`` was taken."""
        self._iterator.load_state_dict(state_dict)


class MapDataset(data.Dataset):  # type: ignore[type-arg, misc, unused-ignore]
    """The records of files by number, for samplers: as ``bytes``, or with ``features`` as dicts of tensors.

    The files must be uncompressed, or GZIP written with a ``block_size``. It works with any sampler,
    ``DistributedSampler`` included, and reads and parses a whole batch at once. The loader's own
    ``collate_fn`` takes such a batch as it is; to another one it is a sequence of dicts.

    >>> loader = DataLoader(MapDataset("train-*.tfrecord", features), batch_size=64, shuffle=True)
    """

    def __init__(
        self,
        paths: Any,
        features: Mapping[str, Any] | None = None,
        *,
        decode: Decode | None = None,
    ) -> None:
        self._table = RecordFile(resolve_paths(paths))
        self._table.load_indexes()
        self._features = None if features is None else as_features(features)
        self._convert = _Convert(decode, "list", 0)
        # With these specs a row of a column depends on no other record, so columns can be cut into rows.
        kinds = () if self._features is None else map(type, self._features.values())
        self._columnar = all(kind in (FixedLenFeature, RaggedFeature) for kind in kinds)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, index: int) -> Any:
        (element,) = self.__getitems__([index])
        return dict(element) if isinstance(element, _Row) else element

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """The elements with these numbers, in this order."""
        every = range(len(self))  # a range resolves negative indices and raises IndexError
        numbers = np.array([every[operator.index(place)] for place in indices], np.int64)
        records = self._table.fetch(numbers)
        if self._features is None:
            rows: Sequence[bytes] = _to_send(list(records))
            return rows
        if not self._columnar:
            notes = [partial(self._note, numbers[row : row + 1]) for row in range(len(records))]
            examples = [parse_single_example(record, self._features) for record in records]
            return [self._convert(*pair) for pair in zip(examples, notes, strict=True)]
        columns = self._convert(parse_example(records, self._features), partial(self._note, numbers))
        return _Rows(_to_send(columns), len(records))

    def _note(self, numbers: Offsets, error: Exception, what: str, row: int | None) -> None:
        """Note on ``error`` the file and the record of one of ``numbers``."""
        files, inside = self._table.locate(numbers)
        add_note(error, f"{what}: {self._table.paths[files[row or 0]]}: record {inside[row or 0]}")


class _Rows(Sequence[dict[str, Any]]):
    """The rows of a parsed batch, as dicts; to ``default_collate`` they are the batch."""

    def __init__(self, columns: dict[str, Any], count: int) -> None:
        self._columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[row] for row in range(self._count)[key]]
        row = range(self._count)[key]
        return _Row({name: column[row] for name, column in self._columns.items()})

    def collated(self, collate_fn_map: Any) -> dict[str, Any]:
        """What ``default_collate`` would make of the rows."""
        return {
            name: part if isinstance(part, torch.Tensor) else collate(part, collate_fn_map=collate_fn_map)
            for name, part in self._columns.items()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _row_dicts, (self._columns, self._count)


class _Row(dict[str, Any]):
    """A row of ``_Rows``, by which ``default_collate`` knows them; it arrives elsewhere as a plain dict."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (list(self.items()),)


def _row_dicts(columns: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [{name: column[row] for name, column in columns.items()} for row in range(count)]


def _collate(batch: Sequence[_Row], *, collate_fn_map: Any = None) -> Any:
    if isinstance(batch, _Rows):
        return batch.collated(collate_fn_map)
    return collate([dict(row) for row in batch], collate_fn_map=collate_fn_map)


# Process-wide state: torch's table of what default_collate does with the elements of some type.
default_collate_fn_map[_Row] = _collate
