"""``TFDSFolder``: a dataset that tensorflow-datasets has written, opened without TensorFlow.

``dataset_info.json`` lists the splits and their files, ``features.json`` the features of an example. This
module reads both files and makes datasets of the splits. It must not know what features mean: ``features``
does.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from .. import public
from ..dataset.dataset import Dataset, TFRecordDataset
from ..errors import SchemaError
from ..payload.specs import FeatureSpec
from ..printable import printable
from ..storage.opened import read_whole
from ..storage.shard_sets import tfds_shard_names
from ..storage.url import Url, is_url, local_path, stored
from .features import TFDSFeature, describe

__all__ = ["TFDSFeature", "TFDSFolder", "TFDSSplit"]

_INFO, _FEATURES = "dataset_info.json", "features.json"
_NO_FEATURES = (
    "an old version of tensorflow-datasets has written this folder without a description of its features; "
    "write the specs yourself, or make the file: tfds.builder(name).info.features.save_config(folder)"
)
_DEPTH = 3  # nested folders: a name, a config and a version
# An absolute path, a drive, a URL or a step upwards. The JSON files of a folder may come from anywhere.
_LEADS_OUT = re.compile(r"^[/\\]|^[A-Za-z]:|://|(^|[/\\])\.\.([/\\]|$)")
_PART = re.compile(r"(?P<name>[\w-]+)(\[(?P<begin>[^:\[\]]*):(?P<end>[^:\[\]]*)\])?")
_BOUND = re.compile(r"(?P<number>-?\d+(\.\d+)?)%|(?P<whole>-?\d+)|")


@public
@dataclass(frozen=True)
class TFDSSplit:
    """One split: its files, the number of records in each, and the bytes of all records."""

    name: str
    paths: tuple[str, ...]
    lengths: tuple[int, ...]
    num_bytes: int

    @property
    def num_examples(self) -> int:
        """How many records the split has."""
        return sum(self.lengths)

    def __repr__(self) -> str:
        return f"<TFDSSplit {self.name!r}: {self.num_examples} examples in {len(self.paths)} files>"


@public
class TFDSFolder:
    """A folder that tensorflow-datasets has written, such as ``~/tensorflow_datasets/mnist/3.0.1``.

    ``path`` may also be a folder above that holds a single dataset; of several versions, the latest is taken.
    ``splits`` are the splits by name, ``features`` the specs for ``parse``, ``info`` the meaning of the
    features.

    >>> folder = TFDSFolder("~/tensorflow_datasets/mnist")
    >>> folder.splits["train"].num_examples
    60000
    >>> dataset = folder.dataset("train[:90%]").shuffle(10_000, seed=1).batch(128).parse(folder.features)
    """

    def __init__(
        self, path: Any, *, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
    ) -> None:
        given = local_path(stored(path, storage_options, filesystem))
        self.path = given if is_url(given) else _find(os.path.expanduser(given))
        document = _read_json(self._file(_INFO))
        try:
            self.name = str(document["name"])
            self.version = str(document.get("version", ""))
            self.config = str(document.get("configName", ""))
            self.description = str(document.get("description", ""))
            form = str(document.get("fileFormat") or "tfrecord")
            found = [self._split(split, form) for split in document.get("splits", ())]
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, SchemaError):
                raise
            reason = f"{self._file(_INFO)} is not as tensorflow-datasets writes it: {error!r}"
            raise SchemaError(reason) from error
        self.splits: dict[str, TFDSSplit] = {split.name: split for split in found}

    def _file(self, name: str) -> str:
        if _LEADS_OUT.search(name):
            raise SchemaError(f"{self.path}: {name!r} is not inside the folder, where all its files must be")
        if isinstance(self.path, Url):
            return self.path.like(f"{self.path.address.rstrip('/')}/{name}")
        return os.path.join(self.path, name)

    def _split(self, split: Mapping[str, Any], form: str) -> TFDSSplit:
        name = str(split["name"])
        if form != "tfrecord":
            raise SchemaError(f"{self._file(_INFO)}: the files are {form}, not tfrecord")
        if "shardLengths" not in split:
            raise SchemaError(f"{self._file(_INFO)}: split {name!r} does not say how long its files are")
        lengths = tuple(int(length) for length in split["shardLengths"])
        if min(lengths, default=0) < 0:
            raise ValueError(f"split {name!r} has a file of {min(lengths)} records")
        template = str(split.get("filepathTemplate") or "") or None
        paths = [self._file(part) for part in tfds_shard_names(template, self.name, name, len(lengths))]
        return TFDSSplit(name, tuple(paths), lengths, int(split.get("numBytes", 0)))

    @cached_property
    def info(self) -> dict[str, TFDSFeature]:
        """The shape, dtype, encoding and classes of each stored feature, by its flat name."""
        try:
            document = _read_json(self._file(_FEATURES))
        except FileNotFoundError as error:
            raise FileNotFoundError(error.errno, _NO_FEATURES, self._file(_FEATURES)) from error
        return describe(document, self._labels)

    @property
    def features(self) -> dict[str, FeatureSpec]:
        """Specs for all features, as ``parse`` takes them."""
        unknown = [feature for feature in self.info.values() if feature.spec is None]
        if unknown:
            kinds = ", ".join(f"{feature.name!r} ({feature.kind})" for feature in unknown)
            raise SchemaError(f"there is no telling how {kinds} is stored; take the other specs from info")
        return {name: feature.spec for name, feature in self.info.items() if feature.spec is not None}

    def _labels(self, name: str) -> tuple[str, ...] | None:
        try:
            text = _read(self._file(f"{name}.labels.txt"))
        except FileNotFoundError:
            return None
        return tuple(line.strip() for line in text.split("\n") if line.strip())

    def dataset(self, split: str, *, on_error: str = "raise") -> Dataset:
        """The records of a split, of a part of one, or of several: "train", "train[10%:]", "train+test[:9]".

        Percentages are rounded to the closest record, as tensorflow-datasets does. "all" is all splits.
        """
        parts: list[Dataset] = []
        for part in map(str.strip, split.split("+")):
            names = (part == "all" and list(self.splits)) or [part]
            parts += [self._part(name, on_error) for name in names]
        return _concatenated(parts)

    def _part(self, part: str, on_error: str) -> Dataset:
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"no split looks like {part!r}; one like 'train' or 'train[10%:]' is needed")
        if match["name"] not in self.splits:
            known = ", ".join(self.splits)
            raise ValueError(f"{self.path} has no split {match['name']!r}; there is {known or 'none'}")
        split = self.splits[match["name"]]
        self._check_there(split)
        if match["begin"] is None:
            return TFRecordDataset(list(split.paths), on_error=on_error)
        total = split.num_examples
        if len({"%" in bound for bound in (match["begin"], match["end"]) if bound.strip()}) > 1:
            raise ValueError(
                f"{part!r} has a number and a percentage; tensorflow-datasets would take both for percentages"
            )
        begin, end = _bound(match["begin"], 0, total, part), _bound(match["end"], total, total, part)
        if begin >= end:
            raise ValueError(f"there is no record in {part!r}: {begin} to {end} of {total}")
        return _slice_of_split(split, begin, end, on_error)

    def _check_there(self, split: TFDSSplit) -> None:
        if is_url(self.path):
            return
        missing = [path for path in split.paths if not os.path.exists(path)]
        if missing:
            count = f"{len(missing)} of {len(split.paths)} files of split {split.name!r}"
            raise FileNotFoundError(errno.ENOENT, f"{count} are missing, the first is", missing[0])

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {split.num_examples}" for name, split in self.splits.items())
        names = "/".join(part for part in (self.name, self.config, self.version) if part)
        return printable(f"<TFDSFolder {names} ({counts or 'no splits'})>")


def _slice_of_split(split: TFDSSplit, begin: int, end: int, on_error: str) -> Dataset:
    """The records [begin, end) of a split.

    Each file is sliced on its own: damaged records that are skipped in one must not move the bounds in
    another.
    """
    starts = [0, *accumulate(split.lengths)]
    bounds = [
        (max(begin - start, 0), min(end - start, length), length)
        for start, length in zip(starts[:-1], split.lengths, strict=True)
    ]
    chosen = [n for n, (first, last, _) in enumerate(bounds) if first < last]
    parts: list[Dataset] = []
    for is_whole, files in groupby(chosen, lambda n: bounds[n][:2] == (0, bounds[n][2])):
        if is_whole:
            parts.append(TFRecordDataset([split.paths[n] for n in files], on_error=on_error))
            continue
        for n in files:
            first, last, _ = bounds[n]
            parts.append(TFRecordDataset(split.paths[n], on_error=on_error).skip(first).take(last - first))
    return _concatenated(parts)


def _concatenated(parts: list[Dataset]) -> Dataset:
    return reduce(Dataset.concatenate, parts)


def _bound(text: str, otherwise: int, total: int, part: str) -> int:
    """The record at which a part of a split begins or ends."""
    match = _BOUND.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} in {part!r} is neither a whole number nor a percentage")
    bound = otherwise
    if match["number"] is not None:
        bound = round(float(match["number"]) * total / 100)
    elif match["whole"] is not None:
        bound = int(match["whole"])
    if abs(bound) > total:
        raise ValueError(f"{part!r} asks for more than the {total} records that there are")
    return bound + total if bound < 0 else bound


def _find(path: str) -> str:
    """The folder ``path``, or the one inside it that holds the dataset; of several versions, the latest."""
    if os.path.exists(os.path.join(path, _INFO)):
        return path
    if not os.path.isdir(path):
        raise FileNotFoundError(errno.ENOENT, "no folder of tensorflow-datasets", path)
    found = list(_dataset_folders(Path(path), _DEPTH))
    if not found:
        raise FileNotFoundError(errno.ENOENT, f"no {_INFO} here nor in the folders below", path)
    parents = {folder.parent for folder in found}
    if len(parents) > 1 or not all(map(_version, found)):
        shown = ", ".join(str(folder.relative_to(path)) for folder in found[:6])
        more = ", ..." if len(found) > 6 else ""
        raise ValueError(printable(f"{path} holds several datasets; name one of {shown}{more}"))
    return str(max(found, key=_version))


def _dataset_folders(folder: Path, depth: int) -> Iterator[Path]:
    for inner in sorted(folder.iterdir()):
        if inner.name.startswith((".", "incomplete.")) or not inner.is_dir():
            continue
        if (inner / _INFO).exists():
            yield inner
        elif depth > 1:
            yield from _dataset_folders(inner, depth - 1)


def _version(folder: Path) -> list[int]:
    """The version in the name of a folder; empty if its name is no version."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", folder.name)
    return [int(number) for number in match.groups()] if match else []


def _read_json(path: str) -> Any:
    try:
        return json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{path} is not JSON: {error}") from error


def _read(path: str) -> str:
    if is_url(path):
        return read_whole(path).decode()
    return Path(path).read_text(encoding="utf-8")
