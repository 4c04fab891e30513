"""Stores of remote files: one small interface, and two libraries behind it.

obstore reads S3, GCS and Azure where it is installed and has the credentials; fsspec reads everything else,
lists and writes. Both are imported on first use. A connection belongs to the process that made it. This
module does not retry, read ahead or keep data: ``remote_file`` does.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple, Protocol

from .url import Url

# The options of fsspec's classes that obstore has too, under its own names; and those that are credentials,
# with the variables of the environment that are.
_S3 = {
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token",
    "anon": "skip_signature",
    "endpoint_url": "endpoint",
    "region_name": "region",
}
_AZURE = {"account_name": "account_name", "account_key": "account_key", "sas_token": "sas_token"}
_OBSTORE_OPTIONS = {
    "s3": (_S3, {"key", "anon", "AWS_ACCESS_KEY_ID"}),
    "gs": ({}, {"GOOGLE_APPLICATION_CREDENTIALS"}),
    "az": (_AZURE, {"account_key", "sas_token"}),
}
# The schemes whose files can be sent in parts and appear on request.
_UPLOADS = {"s3", "s3a", "gs", "gcs", "file", "local"}
# What tells one version of an object from the next, in the order of preference.
_VERSIONS = (
    "ETag",
    "etag",
    "generation",
    "md5Hash",
    "checksum",
    "LastModified",
    "last_modified",
    "mtime",
    "created",
)

_obstores: dict[tuple[str, str], Any] = {}  # the stores of this process
_obstore_process: int | None = None  # the process that has used obstore, which does not survive a fork


class Status(NamedTuple):
    """The size of a remote file, None if the server does not say, and a text that changes with it."""

    size: int | None
    version: str
    ranges: bool = True  # whether the server gives a range of it


class StoredObject(Protocol):
    """One remote file."""

    def status(self) -> Status:
        """Its size and version now."""

    def read(self, begin: int, end: int) -> bytes:
        """The bytes [begin, end); the caller checks how many there are."""


class ChangedError(OSError):
    """A remote file was replaced while it was read."""


class StoreError(OSError):
    """What a library raised that has error classes of its own; ``status`` is that of HTTP, if it is known."""

    status: int | None = None


def import_fsspec() -> Any:
    """The module ``fsspec``; an error that says how to install it if it is missing."""
    try:
        import fsspec  # noqa: PLC0415 - an extra, imported when a URL is
    except ImportError:
        raise ImportError('URLs need fsspec: pip install "purerecord[remote]"') from None
    return fsspec


def open_object(url: Url) -> StoredObject:
    """The remote file at ``url``; nothing is read yet."""
    with named(url):
        if _is_pyarrow(url.filesystem):
            return _PyarrowObject(url)
        return _obstore_object(url) or _FsspecObject(url)


def open_remote(path: str, mode: str = "rb") -> BinaryIO:
    """The remote file at ``path`` as a file object of fsspec."""
    url = Url(path)
    with named(url):
        filesystem, inner = filesystem_of(url)
        file: BinaryIO = filesystem.open(inner, mode)
        return file


def exists(url: Url) -> bool:
    """Whether there is a file at ``url``."""
    with named(url):
        filesystem, path = filesystem_of(url)
        return bool(filesystem.isfile(path))


def same_file(one: Url, other: Url) -> bool:
    """Whether both name the same file: memory://a and memory:///a do."""
    with named(one):
        return filesystem_of(one) == filesystem_of(other)


def rename(source: Url, target: Url) -> None:
    """Give the file at ``source`` the name ``target``, in the same store."""
    with named(source):
        filesystem, path = filesystem_of(source)
        filesystem.mv(path, filesystem_of(target)[1])


def remove(url: Url) -> None:
    """Remove the file at ``url``; nothing if there is none."""
    with named(url):
        filesystem, path = filesystem_of(url)
        if filesystem.exists(path):
            filesystem.rm_file(path)


class Upload(io.RawIOBase):
    """A remote file while it is written. It appears whole, with ``commit``, or not at all.

    S3 and GCS take it in parts. For any other store it is collected in a temporary file first.

    After an error it refuses everything but ``discard``: which parts have arrived is unknown then.
    """

    def __init__(self, url: Url) -> None:
        self._url = url
        self._failed = self._committed = False
        with named(url):
            self._filesystem, self._path = filesystem_of(url)
            protocol = self._filesystem.protocol
            schemes = {protocol} if isinstance(protocol, str) else set(protocol)
            self._spooled = not schemes & _UPLOADS
            if self._spooled:
                import tempfile  # noqa: PLC0415 - slow to import, seldom needed

                self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by commit, discard
            else:
                self._file = self._filesystem.open(self._path, "wb", autocommit=False)

    @contextmanager
    def _step(self) -> Iterator[None]:
        if self._failed:
            reason = "sending it has failed; write it again from the beginning"
            raise OSError(errno.EIO, reason, str(self._url))
        self._failed = True
        with named(self._url):
            yield
        self._failed = False

    def writable(self) -> bool:
        """True: ``BufferedWriter`` asks."""
        return True

    def write(self, data: Any) -> int:
        """Add ``data``."""
        with self._step():
            self._file.write(data)
        return len(data)

    def commit(self) -> None:
        """Send the rest, and make the file appear."""
        with self._step():
            if self._spooled:
                self._send()
            self._file.close()
            if not self._spooled:
                self._file.commit()
            self._committed = True

    def _send(self) -> None:
        """Copy the temporary file to the store."""
        self._file.seek(0)
        target = self._filesystem.open(self._path, "wb")
        try:
            while data := self._file.read(1 << 22):
                target.write(data)
            target.close()
        except BaseException:
            with suppress(Exception):
                if _waits_for_close(target):
                    _discard(target)
                else:  # it has appeared already
                    target.close()
                    self._filesystem.rm_file(self._path)
            raise

    def discard(self) -> None:
        """Throw away what was sent; nothing after a commit."""
        if self._committed:
            return
        self._failed = True
        if self._spooled:
            self._file.close()
            return
        with named(self._url):
            _discard(self._file)


def _waits_for_close(file: Any) -> bool:
    """Whether ``file``, of fsspec, appears in its store when it is closed, as all do that have a buffer."""
    from fsspec.spec import AbstractBufferedFile  # noqa: PLC0415 - an extra

    return isinstance(file, AbstractBufferedFile)


def _discard(file: Any) -> None:
    if _waits_for_close(file):
        file.closed = True  # or collecting it would complete it
    else:
        file.close()
    file.discard()


@contextmanager
def named(url: Url) -> Iterator[None]:
    """Words the errors of a library, which may show secrets, and names ``url`` in them."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(url)) from None
    except PermissionError as error:
        reason = url.without_secrets(_reason(error))
        raise PermissionError(errno.EACCES, f"the store refuses access: {reason}", str(url)) from None
    except Exception as error:
        if "Credential" in type(error).__name__:  # of botocore and of google.auth
            raise PermissionError(errno.EACCES, url.without_secrets(str(error)), str(url)) from None
        if not isinstance(error, OSError):
            raise _reworded(error, url) from None
        if error.filename == url:
            raise
        kind = ChangedError if isinstance(error, ChangedError) else OSError
        raise kind(error.errno or errno.EIO, url.without_secrets(_reason(error)), str(url)) from None


def _reworded(error: Exception, url: Url) -> Exception:
    """What is raised instead of ``error``, of whatever class a library has made."""
    reason = url.without_secrets(_reason(error))
    status = getattr(error, "status", None)  # of aiohttp
    if status in (401, 403):
        return PermissionError(errno.EACCES, f"the store refuses access: {reason}", str(url))
    if isinstance(error, ValueError):
        return error if reason == str(error) else ValueError(reason)
    if type(error).__module__ == "builtins" or isinstance(error, (ImportError, NotImplementedError)):
        return error
    found = StoreError(errno.EIO, reason, str(url))
    found.status = status if isinstance(status, int) else None
    return found


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def filesystem_of(url: Url) -> tuple[Any, str]:
    """The fsspec file system of ``url``, made by this process, and the path in it."""
    fsspec = import_fsspec()
    given = url.filesystem
    if given is None:
        found: tuple[Any, str] = fsspec.core.url_to_fs(url.address, **url.store_options)
        return found
    if not hasattr(given, "cat_file"):
        if _is_pyarrow(given):
            from fsspec.implementations.arrow import ArrowFSWrapper  # noqa: PLC0415

            given = ArrowFSWrapper(given)
        elif _is_obstore(given):
            raise NotImplementedError("a store of obstore reads files by name; fsspec lists and writes them")
        else:
            raise TypeError(f"filesystem must be of fsspec, pyarrow or obstore, not {type(given).__name__}")
    if getattr(given, "_pid", os.getpid()) != os.getpid():
        make, arguments = given.__reduce__()[:2]  # one that was made before a fork does not work here
        given = make(*arguments)
    return given, given._strip_protocol(url.address)


class _FsspecObject:
    def __init__(self, url: Url) -> None:
        self._filesystem, self._path = filesystem_of(url)

    def status(self) -> Status:
        self._filesystem.invalidate_cache(self._filesystem._parent(self._path))
        info = self._filesystem.info(self._path)
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self._path)
        version = next((f"{name} {info[name]}" for name in _VERSIONS if info.get(name) is not None), "")
        return Status(info.get("size"), version, info.get("partial", True) and self._gives_ranges)

    @cached_property
    def _gives_ranges(self) -> bool:
        """Whether the server gives ranges, which only one of HTTP may not: its answer tells."""
        if "http" not in self._filesystem.protocol:
            return True
        from fsspec.asyn import sync  # noqa: PLC0415 - an extra

        async def answers_with_a_range() -> bool:
            session = await self._filesystem.set_session()
            address = self._filesystem.encode_url(self._path)
            arguments = {**self._filesystem.kwargs}
            headers = {**arguments.pop("headers", {}), "Range": "bytes=0-0"}
            async with session.get(address, headers=headers, **arguments) as answer:
                return bool(answer.status == 206)

        return bool(sync(self._filesystem.loop, answers_with_a_range))

    def read(self, begin: int, end: int) -> bytes:
        data: bytes = self._filesystem.cat_file(self._path, start=begin, end=end)
        return data


def _is_pyarrow(filesystem: Any) -> bool:
    return type(filesystem).__module__.partition(".")[0] == "pyarrow"


class _PyarrowObject:
    def __init__(self, url: Url) -> None:
        self._filesystem, self._path = url.filesystem, url.address
        self._file: Any = None

    def status(self) -> Status:
        info = self._filesystem.get_file_info(self._path)
        if not info.is_file:
            raise FileNotFoundError(errno.ENOENT, "no such file", self._path)
        return Status(info.size, str(info.mtime_ns))

    def read(self, begin: int, end: int) -> bytes:
        if self._file is None:
            self._file = self._filesystem.open_input_file(self._path)
        data: bytes = self._file.read_at(end - begin, begin)
        return data


def _obstore_object(url: Url) -> StoredObject | None:
    """The file in obstore; None if fsspec has to read it."""
    given = _is_obstore(url.filesystem)
    config = None if given or url.filesystem is not None else _obstore_config(url)
    if not given and config is None:
        return None
    if not _may_use_obstore():
        if given:
            raise OSError(
                errno.ENOTSUP,
                "obstore does not work in a process that was forked from one that has used it; start "
                "processes with spawn or forkserver, or give no filesystem, and fsspec takes over",
                str(url),
            )
        return None
    if given:
        return _ObstoreObject(url.filesystem, url.address)
    scheme, _, rest = url.address.partition("://")
    bucket, _, path = rest.partition("/")
    return _ObstoreObject(_obstore(f"{scheme}://{bucket}", config or {}), path)


def _is_obstore(filesystem: Any) -> bool:
    return type(filesystem).__module__.partition(".")[0] in ("obstore", "_obstore")


def _obstore_config(url: Url) -> dict[str, Any] | None:
    """The options of ``url``, which are those of fsspec's classes, in the words of obstore.

    None if one of them has no such word, and where obstore might not see the credentials that fsspec's
    library finds, in a file of a profile for example: then fsspec reads.
    """
    scheme = url.address.partition("://")[0].lower()
    if scheme not in _OBSTORE_OPTIONS:
        return None
    options = url.store_options
    for name, value in dict(options.pop("client_kwargs", None) or {}).items():
        options.setdefault(name, value)
    names, sure = _OBSTORE_OPTIONS[scheme]
    if options.keys() - names.keys() or not (options.keys() & sure or os.environ.keys() & sure):
        return None
    return {names[name]: value for name, value in options.items() if value is not None and value is not False}


def _may_use_obstore() -> bool:
    """Whether obstore is here and works: its threads belong to the process that has used it first."""
    global _obstore_process  # noqa: PLW0603
    try:
        import obstore  # noqa: F401, PLC0415 - an extra
    except ImportError:
        return False
    if _obstore_process is None:
        _obstore_process = os.getpid()
    return _obstore_process == os.getpid()


def _obstore(base: str, config: dict[str, Any]) -> Any:
    """The store at ``base``, made once: it keeps its connections."""
    key = (base, repr(sorted(config.items())))
    if key not in _obstores:
        from obstore.store import from_url  # noqa: PLC0415 - an extra

        options: Any = {"allow_http": True, "timeout": "60s"}
        retries: Any = {"max_retries": 0}  # ``remote_file`` retries
        _obstores[key] = from_url(base, client_options=options, retry_config=retries, **config)
    return _obstores[key]


class _ObstoreObject:
    def __init__(self, store: Any, path: str) -> None:
        import obstore  # noqa: PLC0415 - an extra

        self._obstore, self._store, self._path = obstore, store, path
        self._tag: str | None = None  # the ETag, which each request names

    def status(self) -> Status:
        with _obstore_errors():
            meta = self._obstore.head(self._store, self._path)
        tag = meta.get("e_tag")
        self._tag = self._tag or tag
        return Status(meta["size"], f"ETag {tag}" if tag else str(meta.get("last_modified") or ""))

    def read(self, begin: int, end: int) -> bytes:
        options: Any = {"range": (begin, end)}
        if self._tag is not None:
            options["if_match"] = self._tag
        with _obstore_errors():
            return bytes(self._obstore.get(self._store, self._path, options=options).bytes())


@contextmanager
def _obstore_errors() -> Iterator[None]:
    """Turns the errors of obstore that cannot pass into those of Python, and shortens their text."""
    from obstore import exceptions  # noqa: PLC0415 - an extra

    try:
        yield
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise PermissionError(errno.EACCES, _first_line(error)) from None
    except exceptions.PreconditionError:
        raise ChangedError(errno.ESTALE, "it was replaced while it was read") from None
    except exceptions.BaseError as error:
        raise OSError(errno.EIO, _first_line(error)) from None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
