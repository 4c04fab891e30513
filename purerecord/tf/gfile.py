"""``tf.io.gfile``: local files and folders and, through fsspec, those of a URL.

Names, error messages and peculiarities are TensorFlow's: a file is opened on first use, ``*`` matches hidden
files, too, and a pattern without a folder gives names that begin with ``./``. This module does not know what
files hold.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, cast

from ..storage.stores import import_fsspec, open_remote
from ..storage.url import is_url, local_path
from . import errors
from ._missing import missing
from .errors import invalid, translated

__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

_WILD = re.compile(r"[*?[]")
_MODES = ("r", "w", "a", "r+", "w+", "a+")


class FileStatistics(NamedTuple):
    """The result of ``stat``."""

    length: int
    mtime_nsec: int
    is_directory: bool


class GFile:
    """A file that is opened when it is first read or written; it iterates over its lines.

    As in TensorFlow, reading and writing are two handles: reading begins at the beginning of the file,
    and the first write of a mode with r or w empties it.
    """

    def __init__(self, name: Any, mode: str = "r", encoding: str = "utf-8") -> None:
        plain = mode.replace("b", "")
        if plain not in _MODES:
            text = "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            raise invalid(text)
        self._name, self._mode, self._encoding = name, mode, encoding
        self._binary = "b" in mode
        self._reads, self._writes = plain in ("r", "r+", "w+", "a+"), plain != "r"
        self._begins = "ab" if "a" in plain else "wb"
        self._reader: Any = None
        self._writer: Any = None

    @property
    def name(self) -> Any:
        """The name that the constructor was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode that the constructor was given."""
        return self._mode

    def _readable(self) -> Any:
        self.flush()
        if self._reader is None:
            if not self._reads:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            with translated():
                self._reader = _open(self._name, "rb")
        return self._reader

    def _writable(self) -> Any:
        if self._writer is None:
            if not self._writes:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            with translated():
                self._writer = _open(self._name, self._begins)
        return self._writer

    def _converted(self, data: bytes) -> Any:
        return data if self._binary else data.decode(self._encoding)

    def read(self, n: int = -1) -> Any:
        """``n`` bytes, or all the rest, as text unless the mode has a b."""
        file = self._readable()
        with translated():
            return self._converted(file.read(n))

    def readline(self) -> Any:
        """The next line with its line end; empty at the end of the file."""
        file = self._readable()
        with translated():
            return self._converted(file.readline())

    def readlines(self) -> list[Any]:
        """All remaining lines."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Write text or bytes."""
        file = self._writable()
        if not isinstance(file_content, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with translated():
            file.write(file_content.encode(self._encoding) if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to an offset from the beginning (0), the current position (1) or the end (2)."""
        file = self._readable()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise invalid(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        target = int(position if offset is None else offset)  # type: ignore[arg-type]
        target += (0, file.tell(), self.size() if whence == 2 else 0)[whence]
        if target < 0:
            raise invalid(f"Seeking to a negative position: {target}")
        size = self.size()
        file.seek(min(target, size))
        if target > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")

    def tell(self) -> int:
        """The current position in bytes: of reading, or of writing if the mode does not read."""
        return int((self._readable() if self._reads else self._writable()).tell())

    def size(self) -> int:
        """The size of the file in bytes."""
        return stat(self._name).length

    def flush(self) -> None:
        """Pass written data to the operating system."""
        if self._writer is not None:
            with translated():
                self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        reader, writer, self._reader, self._writer = self._reader, self._writer, None, None
        if reader is not None:
            reader.close()
        if writer is not None:
            with translated():
                writer.close()

    def seekable(self) -> bool:
        """True, as in TensorFlow."""
        return True

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_reader", None) or getattr(self, "_writer", None):
            self.close()


def _open(name: Any, mode: str) -> Any:
    path = local_path(name)
    with known_scheme(path):
        return open_remote(path, mode) if is_url(path) else open(path, mode)


def _remote(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path in it."""
    with known_scheme(path):
        found = import_fsspec().core.url_to_fs(path)
    return cast("tuple[Any, str]", found)


@contextmanager
def known_scheme(path: str) -> Iterator[None]:
    """Raise TensorFlow's UnimplementedError for a URL scheme that fsspec does not know."""
    try:
        yield
    except ValueError as error:
        if not is_url(path) or isinstance(error, errors.OpError):
            raise
        text = f"File system scheme {path.partition('://')[0]!r} not implemented (file: {path!r})"
        raise errors.UnimplementedError(None, None, text) from error


def exists(path: Any) -> bool:
    """Whether a file or folder of that name exists."""
    name = local_path(path)
    if is_url(name):
        system, inner = _remote(name)
        return bool(system.exists(inner))
    return os.path.exists(name)


def isdir(path: Any) -> bool:
    """Whether it is a folder."""
    name = local_path(path)
    if is_url(name):
        system, inner = _remote(name)
        return bool(system.isdir(inner))
    return os.path.isdir(name)


def listdir(path: Any) -> list[str]:
    """The names in a folder, without its path."""
    name = local_path(path)
    if not isdir(name):
        raise errors.NotFoundError(None, None, f"Could not find directory {name}")
    if is_url(name):
        system, inner = _remote(name)
        return [entry.rstrip("/").rpartition("/")[2] for entry in system.ls(inner, detail=False)]
    return os.listdir(name)


def glob(pattern: Any) -> list[str]:
    """The files and folders that match a pattern or a list of patterns, sorted for each pattern."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [path for one in patterns for path in _matches(os.fsdecode(one))]


def _matches(pattern: str) -> list[str]:
    if is_url(pattern):
        system, inner = _remote(pattern)
        return sorted(system.unstrip_protocol(name) for name in system.glob(inner))
    name = local_path(pattern)
    prefix = pattern[: len(pattern) - len(name)]
    if not _WILD.search(name):
        return [pattern] if os.path.exists(name) else []
    windows = os.sep == "\\"  # there, as in TensorFlow, both slashes separate names, and results have "\\"
    if windows:
        name = name.replace("\\", "/")
    first, *parts = name.rstrip("/").replace("[^", "[!").split("/")
    if _WILD.search(first):
        first, parts = ".", [first, *parts]
    found = [first]
    for part in parts:
        found = [match for folder in found for match in _entries(folder, part)]
    return [prefix + (match.replace("/", "\\") if windows else match) for match in found]


def _entries(folder: str, part: str) -> list[str]:
    """The paths in ``folder`` whose names match ``part``, which may have wildcards."""
    if not _WILD.search(part):
        path = f"{folder}/{part}"
        return [path] if os.path.lexists(path) else []
    try:
        names = sorted(os.listdir(f"{folder}/"))  # "C:" alone would be the current folder of that drive
    except OSError:  # not a folder, or no permission
        return []
    return [f"{folder}/{name}" for name in names if fnmatchcase(name, part)]


def makedirs(path: Any) -> None:
    """Create a folder and its missing parents; does nothing if it exists."""
    name = local_path(path)
    if is_url(name):
        system, inner = _remote(name)
        system.makedirs(inner, exist_ok=True)
        return
    above = name
    while above and not os.path.exists(above):
        above = os.path.dirname(above)
    if above and not os.path.isdir(above):
        raise errors.FailedPreconditionError(None, None, f"{above} is not a directory")
    with translated():
        os.makedirs(name, exist_ok=True)


def mkdir(path: Any) -> None:
    """Create a folder in an existing one; does nothing if it exists."""
    name = local_path(path)
    if is_url(name):
        makedirs(name)
    elif not os.path.isdir(name):
        with translated():
            os.mkdir(name)


def remove(path: Any) -> None:
    """Delete a file."""
    name = local_path(path)
    with translated():
        if is_url(name):
            system, inner = _remote(name)
            system.rm_file(inner)
        else:
            os.remove(name)


def rmtree(path: Any) -> None:
    """Delete a folder and everything in it."""
    name = local_path(path)
    if not exists(name):
        raise errors.NotFoundError(None, None, f"{name} not found")
    with translated():
        if is_url(name):
            system, inner = _remote(name)
            system.rm(inner, recursive=True)
        else:
            shutil.rmtree(name)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file, local or remote."""
    _transfer(src, dst, overwrite, None)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename or move a file or folder."""
    _transfer(src, dst, overwrite, os.replace)


def _transfer(src: Any, dst: Any, overwrite: bool, move: Callable[[str, str], Any] | None) -> None:
    source, target = local_path(src), local_path(dst)
    if not overwrite and exists(target):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with translated():
        if move is not None and not is_url(source) and not is_url(target):
            move(source, target)
            return
        with _open(source, "rb") as reading, _open(target, "wb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)
    if move is not None:
        remove(source)


def stat(path: Any) -> FileStatistics:
    """Length, modification time, and whether it is a folder."""
    name = local_path(path)
    with translated():
        if is_url(name):
            system, inner = _remote(name)
            found = system.info(inner)
            return FileStatistics(int(found["size"] or 0), 0, found["type"] == "directory")
        entry = os.stat(name)
    return FileStatistics(entry.st_size, entry.st_mtime_ns, os.path.isdir(name))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """``(folder, folders in it, files in it)`` for ``top`` and every folder below it."""
    name = local_path(top)
    try:
        names = sorted(listdir(name))
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [entry for entry in names if isdir(join(name, entry))]
    here = (name, folders, [entry for entry in names if entry not in folders])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(join(name, folder), topdown, onerror)
    if not topdown:
        yield here


def join(path: Any, *paths: Any) -> Any:
    """The parts of a path joined."""
    return os.path.join(path, *paths)


def get_registered_schemes() -> list[str]:
    """The known URL schemes: with fsspec, all of its schemes."""
    try:
        known = import_fsspec().available_protocols()
    except ImportError:
        known = []
    return sorted({"", "file", *known})


# --- The names in ``tf.gfile`` of TensorFlow 1 --------------------------------------------------------

FastGFile = Open = GFile


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802 - TensorFlow's names
    """Copy a file."""
    copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Delete a folder and everything in it."""
    rmtree(dirname)


def Exists(filename: Any) -> bool:  # noqa: N802
    """Whether a file or folder of that name exists."""
    return exists(filename)


def Glob(filename: Any) -> list[str]:  # noqa: N802
    """The files and folders that match a pattern or a list of patterns."""
    return glob(filename)


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether it is a folder."""
    return isdir(dirname)


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    """The names in a folder."""
    return listdir(dirname)


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Create a folder and its missing parents."""
    makedirs(dirname)


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Create a folder in an existing one."""
    mkdir(dirname)


def Remove(filename: Any) -> None:  # noqa: N802
    """Delete a file."""
    remove(filename)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Rename or move a file or folder."""
    rename(oldname, newname, overwrite)


def Stat(filename: Any) -> FileStatistics:  # noqa: N802
    """Length, modification time, and whether it is a folder."""
    return stat(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: N802
    """The folders below ``top``, each with the names in it."""
    return walk(top, in_order)


__getattr__ = missing("io.gfile")
