"""Names: the files that a path, URL, glob or shard pattern names, and the names of new files.

Patterns of URLs are listed through fsspec, which is imported on first use. This module opens no file.
"""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, BinaryIO, TypeVar, Union

from ..printable import printable
from .shard_sets import SHARD, complete_shards
from .stores import filesystem_of, named
from .url import Url, is_url, local_path

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Named = Union[str, BinaryIO]
_SHARD_PATTERN = re.compile(r"(?P<stem>.+)@(?P<count>\d+|\*)(?P<suffix>[^/@]*)", re.DOTALL)
_WILD = re.compile(r"[*?[]")
_INDEX_SUFFIXES = (".index", ".idx")
_Name = TypeVar("_Name", str, Named)


def resolve(source: Any, *, missing_ok: bool = False) -> list[Named]:
    """The files that ``source`` names, in order; open files pass through.

    A missing file is an error. With ``missing_ok`` it is part of the result, unless all shards of a pattern
    are missing.
    """
    if hasattr(source, "read"):
        return [source]
    if isinstance(source, (bytearray, memoryview)) or (isinstance(source, bytes) and b"\0" in source):
        raise TypeError("expected a path or an open file, not data; put data into an io.BytesIO")
    if isinstance(source, (str, bytes, os.PathLike)):
        path = local_path(source)
        if not isinstance(path, Url):
            return list(_expand(path, missing_ok=missing_ok))
        if path.exact:
            return [path]
        query = path.query  # a signature is for one file, and no pattern
        names = _expand(path.address.removesuffix(query), missing_ok=missing_ok, url=path)
        return [path.like(name + query, exact=True) for name in names]
    if isinstance(source, Iterable):
        return [file for item in source for file in resolve(item, missing_ok=missing_ok)]
    raise TypeError(f"expected a path, a list of paths or a binary file, not {type(source).__name__}")


def resolve_paths(source: Any) -> list[str]:
    """Like ``resolve``, for callers that need paths, not open files."""
    files = resolve(source)
    for file in files:
        if not isinstance(file, str):
            raise TypeError("this needs paths, not open files: it must be able to open them again")
    return [file for file in files if isinstance(file, str)]


def _expand(path: str, *, missing_ok: bool, url: Url | None = None) -> list[str]:
    """The files that ``path`` names; the address of ``url``, if that is given."""
    remote = url is not None
    if not remote and os.path.lexists(path):
        return [path]
    head, tail, count = split_pattern(path)
    if count == 0:
        raise ValueError(f"{printable(path)} names no shards; say how many there are, or @* for all")
    if count is not None and remote:  # not every server lists its files
        return shard_names(head + tail, count, at=len(head))
    if count is not None:
        found = _counted_shards(head, tail, count)
        if not found:
            none = "the one shard does not exist" if count == 1 else f"none of the {count} shards exists"
            raise FileNotFoundError(errno.ENOENT, none, path)
        return complete_shards(found, path, missing_ok=missing_ok)
    counted = head != path
    complete = counted or "-?????-of-" in path
    if counted:
        path = f"{head}-*-of-*{tail}"
    if not _WILD.search(path):
        return [path] if remote or missing_ok else _existing(path)
    found = sorted(glob.glob(path, recursive=True)) if url is None else _remote_glob(url.like(path))
    found = without_indexes([name for name in found if remote or not os.path.isdir(name)])
    if counted:  # without other files beside the shards
        found = [name for name in found if _is_shard(name, head, tail)]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no file matches", path)
    return complete_shards(found, path, missing_ok=missing_ok) if complete else found


def _is_shard(path: str, head: str, tail: str) -> bool:
    """Whether ``path`` has the name of ``head``, the number of a shard, and ``tail``, and nothing else."""
    match = SHARD.search(path)
    if match is None or not fnmatchcase(path[match.end() :], tail):
        return False
    # The folders are equal already; a system or a store may write them in another way.
    begin, wanted = (os.path.basename(name).rpartition("/")[2] for name in (path[: match.start()], head))
    return fnmatchcase(begin, wanted)


def _counted_shards(head: str, tail: str, count: int) -> list[str]:
    """The shards of ``count`` that exist."""
    name = shard_name(head, tail, 0, count)
    begin = len(head) + 1
    end = name.index("-of-", begin)
    digits = "[0-9]" * (end - begin)
    found = glob.iglob(f"{glob.escape(name[:begin])}{digits}{glob.escape(name[end:])}")
    return sorted(filter(os.path.exists, found))


def without_indexes(files: Sequence[_Name]) -> list[_Name]:
    """``files`` without those that are index files of others among them.

    The index of ``a.tfrecord`` is ``a.tfrecord.index``; other tools call it ``a.tfrecord.idx``, ``a.index``
    or ``a.idx``, too.
    """
    stems = {name: os.path.splitext(name)[0] for name in files if isinstance(name, str)}
    indexes = {name for name in stems if name.endswith(_INDEX_SUFFIXES)}
    data = stems.keys() - indexes
    indexed = data | {stems[name] for name in data}
    return [file for file in files if file not in indexes or stems[str(file)] not in indexed]


def _existing(path: str) -> list[str]:
    os.stat(path)  # report a missing file now, not hours later
    return [path]


def shard_names(name: str, count: int, *, at: int | None = None) -> list[str]:
    """``name-00000-of-00010`` and so on; the shard number comes after ``at`` characters, or at the end."""
    head, tail = (name, "") if at is None else (name[:at], name[at:])
    return [shard_name(head, tail, number, count) for number in range(count)]


def shard_name(head: str, tail: str, number: int, count: int) -> str:
    """The name of shard ``number`` of ``count``."""
    digits = max(5, len(str(count)))
    return f"{head}-{number:0{digits}d}-of-{count:0{digits}d}{tail}"


def shard_number(path: str) -> tuple[int, int] | None:
    """The number of the shard at ``path``, and how many there are, if its name says so."""
    match = SHARD.search(path)
    return None if match is None else (int(match[1]), int(match[2]))


def split_pattern(pattern: str) -> tuple[str, str, int | None]:
    """The text before the shard number, the text after it, and the number of shards, if it is given."""
    match = _SHARD_PATTERN.fullmatch(pattern)
    if match is None:
        return pattern, "", None
    return match["stem"], match["suffix"], None if match["count"] == "*" else int(match["count"])


def temporary_name(path: str, what: str = "partial") -> str:
    """A name beside ``path`` for a file that will replace it once complete; an error if that cannot be.

    ``what`` is a part of the name: "partial", or "replaced" for an old file that another one replaces.
    """
    ordinary = os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)
    stream = os.path.islink(path) and os.readlink(path).startswith("/proc/")  # such as /dev/stdout
    if stream or not ordinary:
        raise FileExistsError(errno.EEXIST, "it is no ordinary file, and so cannot be replaced", path)
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{what}-{os.urandom(4).hex()}")


def replace(temporary: str, target: str, *, keep: bool = False) -> None:
    """Give the file ``temporary``, which is complete, the name ``target``.

    Windows refuses that while a program has an old file of this name open. If ``keep``, the new file then
    stays, under a name that the error tells.
    """
    try:
        os.replace(temporary, target)
    except PermissionError as error:
        kept = ""
        if keep:
            kept = f"; the new file is complete and kept as {keep_complete(temporary)}"
        reason = f"the new file cannot take this name, perhaps because a program has the old one open{kept}"
        raise PermissionError(error.errno, reason, target) from None


def keep_complete(temporary: str) -> str:
    """Rename the file ``temporary``, which is complete but cannot get its name, and give the new name."""
    complete = ".complete-".join(temporary.rsplit(".partial-", 1))
    os.rename(temporary, complete)
    return complete


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Names ``path`` in any OSError of the block; the system names no file, or a temporary one."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def is_stream(path: str) -> bool:
    """Whether ``path`` names a pipe or a device: data without a size, that can be read forward only."""
    return not is_url(path) and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _remote_glob(pattern: Url) -> list[str]:
    with named(pattern):
        filesystem, inner = filesystem_of(pattern)
        given = pattern.filesystem is not None and "://" not in pattern.address
        return sorted(
            name if given else filesystem.unstrip_protocol(name)
            for name, about in filesystem.glob(inner, detail=True).items()
            if about.get("type") != "directory"
        )
