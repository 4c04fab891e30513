"""``Manifest``: the list of a dataset's files, with the size, the number of records and a checksum of each.

What is lost at the edges of frames, a shard that is swapped or stale, a file too many: nothing inside the
files tells. The manifest does, and so do the lengths of shards in the ``dataset_info.json`` of
tensorflow-datasets, which is read here too. This module compares nothing; ``recovery`` does.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from .. import public
from ..errors import CorruptionError
from ..printable import printable
from ..storage.file_handles import open_file
from ..storage.shard_sets import tfds_shard_names
from ..storage.url import Url, local_path, stored
from ..storage.whole_file import write_whole

SUFFIX = ".manifest.json"
IN_FOLDER = "MANIFEST.json"
_VERSION = 1
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
# An absolute path, a drive, a URL or a step upwards. A manifest may come from anywhere.
_LEADS_OUT = re.compile(r"^[/\\]|^[A-Za-z]:|://|(^|[/\\])\.\.([/\\]|$)")
# Shards of which dataset_info.json is believed that they exist.
_MOST_SHARDS = 1_000_000


@public
@dataclass(frozen=True)
class ManifestEntry:
    """One file: its name beside the manifest, its records, and its size and checksum if they are known.

    ``checksum`` is the SHA-256 of the CRCs that the frames store for their data, in order. It tells which
    records the file holds, in which order, whatever its compression.
    """

    name: str
    records: int
    size: int | None = None
    checksum: str | None = None


@public
@dataclass(frozen=True)
class Manifest:
    """What a dataset consists of; ``path`` is the file that this was loaded from.

    >>> manifest = load_manifest("train.tfrecord.manifest.json")
    >>> manifest.records, [entry.name for entry in manifest.files]
    """

    files: tuple[ManifestEntry, ...]
    path: str | None = None

    @property
    def records(self) -> int:
        """How many records all files have together."""
        return sum(entry.records for entry in self.files)

    def save(self, path: Any) -> None:
        """Write the manifest to ``path``, beside the files. The file appears whole."""
        files = []
        for entry in self.files:
            facts = {"name": entry.name, "size": entry.size, "records": entry.records}
            files.append(json.dumps({**facts, "checksum": entry.checksum}))
        head = f'{{"purerecord_manifest": {_VERSION}, "records": {self.records}, "files": ['
        text = head + ",".join(f"\n  {file}" for file in files) + "\n]}\n"
        write_whole(local_path(path), text.encode())

    def paths(self) -> list[str]:
        """The paths of the files, beside the manifest."""
        return [beside(self.path or "", entry.name) for entry in self.files]


def manifest_path(head: str, tail: str) -> str:
    """Where the manifest of the shards ``head-00000-of-00010tail`` lies: ``head`` and ``tail`` name it.

    A folder, which ends with a slash, has its manifest inside.
    """
    name = f"{head}{tail}"
    return name + (IN_FOLDER if name.endswith(("/", os.sep)) else SUFFIX)


def entry_name(head: str, name: str) -> str:
    """How a manifest names a file whose name begins with ``head``, in the folder of that."""
    return name[len(head) - len(head.replace(os.sep, "/").rpartition("/")[2]) :]


def beside(path: str, name: str) -> str:
    """The path of the file ``name`` in the folder of ``path``."""
    if isinstance(path, Url):
        folder, slash, _ = path.address.removesuffix(path.query).rpartition("/")
        return path.like(folder + slash + name + path.query, exact=True)
    return os.path.join(os.path.dirname(path), name)


@public
def load_manifest(
    path: Any, *, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
) -> Manifest:
    """The manifest in the file ``path``: one of ours, or a ``dataset_info.json`` of tensorflow-datasets."""
    name = local_path(stored(path, storage_options, filesystem))
    with closing(open_file(name)) as file:
        data = file.read_at(0, file.size())
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise CorruptionError("it is no manifest: not valid JSON", path=name) from None
    try:
        return Manifest(tuple(_entries(document)), name)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, CorruptionError):
            error.path = name
            raise
        reason = f"it is no manifest, neither ours nor dataset_info.json: {printable(repr(error))}"
        raise CorruptionError(reason, path=name) from None


def _entries(document: Any) -> Sequence[ManifestEntry]:
    if "purerecord_manifest" in document:
        if document["purerecord_manifest"] != _VERSION:
            raise CorruptionError("a newer version of purerecord has written this manifest")
        entries = [_entry(file) for file in document["files"]]
        if sum(entry.records for entry in entries) != document["records"]:
            raise CorruptionError("the manifest is damaged: its numbers of records do not add up")
    else:
        entries = _of_tfds(document)
    names = [entry.name for entry in entries]
    if len(set(names)) != len(names):
        raise CorruptionError("the manifest is damaged: it lists a file twice")
    return entries


def _entry(file: Mapping[str, Any]) -> ManifestEntry:
    size, checksum = file.get("size"), file.get("checksum")
    if checksum is not None and not _CHECKSUM.fullmatch(checksum):
        raise CorruptionError(f"a checksum must be like sha256:..., not {printable(str(checksum)[:80])}")
    return ManifestEntry(
        _name(file["name"]), _count(file["records"]), None if size is None else _count(size), checksum
    )


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name or _LEADS_OUT.search(name) or "\0" in name:
        raise CorruptionError(f"{printable(repr(name)[:200])} is not the name of a file beside the manifest")
    return name


def _count(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise CorruptionError(f"{printable(repr(number)[:80])} is not a size, nor a number of records")
    return number


def _of_tfds(document: Mapping[str, Any]) -> list[ManifestEntry]:
    """The files of all splits in a ``dataset_info.json``, which says how many records each has."""
    form = document.get("fileFormat") or "tfrecord"
    if form != "tfrecord":
        raise CorruptionError(f"the files are {printable(str(form))}, not tfrecord")
    entries = []
    for split in document["splits"]:
        lengths = [_count(int(length)) for length in split["shardLengths"]]
        if len(lengths) > _MOST_SHARDS:
            raise CorruptionError(f"{len(lengths)} shards in one split are too many to be true")
        template = split.get("filepathTemplate") or None
        names = tfds_shard_names(template, str(document["name"]), str(split["name"]), len(lengths))
        entries += [ManifestEntry(_name(name), length) for name, length in zip(names, lengths, strict=True)]
    return entries
