"""Stores of remote files: one small interface, and two libraries behind it.

obstore reads S3, GCS and Azure where it is installed and has the credentials; fsspec reads everything else,
lists and writes. Both are imported on first use. A connection belongs to the process that made it. This
module does not retry, read ahead or keep data: ``remote_file`` does.
"""

from __future__ import annotations

import errno
import io
import os
import weakref
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


# The file systems of fsspec that this process has used, and those that it has inherited in a fork.
_used: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_inherited: list[Any] = []


def _keep_inherited() -> None:
    """Let nobody throw away the file systems of the process that this one was forked from.

    They would close their connections, which asyncio then takes off the list of what the other process waits
    for: both have the same one.
    """
    _inherited.extend(_used.values())


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_keep_inherited)


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
        return _obstore_object(url) or _fsspec_object(url)


def open_remote(path: str, mode: str = "rb") -> BinaryIO:
    """The remote file at ``path`` as a file object of fsspec."""
    url = Url(path)
    with named(url):
        filesystem, inner = filesystem_of(url)
        file: BinaryIO = filesystem.open(inner, mode)
        return file


def open_forward(url: Url) -> BinaryIO:
    """The remote file at ``url`` as a file object that is read forward, in one request."""
    with named(url):
        filesystem, inner = filesystem_of(url)
        whole = {"block_size": 0} if "http" in filesystem.protocol else {}  # or it asks for ranges
        file: BinaryIO = filesystem.open(inner, "rb", **whole)
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
            # Files of pyarrow appear whatever happens.
            self._spooled = not schemes & _UPLOADS or _wraps_pyarrow(self._filesystem)
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
        _used[id(found[0])] = found[0]
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
    _used[id(given)] = given
    return given, given._strip_protocol(url.address)


def _fsspec_object(url: Url) -> StoredObject:
    filesystem, path = filesystem_of(url)
    if "http" in filesystem.protocol and hasattr(filesystem, "set_session"):
        return _HttpObject(filesystem, path)
    if "s3" in filesystem.protocol and hasattr(filesystem, "_call_s3"):
        return _S3Object(filesystem, path)
    return _FsspecObject(filesystem, path)


class _FsspecObject:
    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem, self._path = filesystem, path
        self._tag: str | None = None  # the ETag that it had first

    def status(self) -> Status:
        self._filesystem.invalidate_cache(self._filesystem._parent(self._path))
        info = self._filesystem.info(self._path)
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self._path)
        version = next((f"{name} {info[name]}" for name in _VERSIONS if info.get(name) is not None), "")
        self._tag = self._tag or info.get("ETag")
        return Status(info.get("size"), version, info.get("partial", True) and self._gives_ranges)

    @cached_property
    def _gives_ranges(self) -> bool:
        return True

    def read(self, begin: int, end: int) -> bytes:
        data: bytes = self._filesystem.cat_file(self._path, start=begin, end=end)
        return data


class _HttpObject(_FsspecObject):
    """A file of a web server, each of whose answers says which bytes of which version it has."""

    @cached_property
    def _gives_ranges(self) -> bool:
        """Whether the server gives ranges, which not all do: an answer tells."""
        return self._range(0, 1, probe=True)[0] == 206  # an empty file has none

    def read(self, begin: int, end: int) -> bytes:
        status, headers, data = self._range(begin, end)
        if status != 206:
            raise OSError(errno.EIO, f"the server sent the whole file for a range of {end - begin} bytes")
        _check_range(headers.get("Content-Range"), begin)
        tag = headers.get("ETag")
        if self._tag and tag and tag.removeprefix("W/") != self._tag.removeprefix("W/"):
            raise _changed()
        return data

    def _range(self, begin: int, end: int, *, probe: bool = False) -> tuple[int, Any, bytes]:
        """The status and the headers of the answer, and the bytes if they are a range.

        A refusal is an error, unless this is a ``probe``.
        """
        from fsspec.asyn import sync  # noqa: PLC0415 - an extra

        filesystem = self._filesystem

        async def get() -> tuple[int, Any, bytes]:
            session = await filesystem.set_session()
            arguments = {**filesystem.kwargs}
            headers = {**arguments.pop("headers", {}), "Range": f"bytes={begin}-{end - 1}"}
            headers.setdefault("Accept-Encoding", "identity")  # bytes of the file, not of its encoding
            async with session.get(filesystem.encode_url(self._path), headers=headers, **arguments) as answer:
                if answer.status == 416 and not probe:  # it has no such bytes any more
                    raise _changed()
                if not probe:
                    filesystem._raise_not_found_for_status(answer, self._path)
                data = await answer.read() if answer.status == 206 else b""
                return answer.status, answer.headers, data

        found: tuple[int, Any, bytes] = sync(filesystem.loop, get)
        return found


class _S3Object(_FsspecObject):
    """A file in S3, of which only the version that was there first is read."""

    def read(self, begin: int, end: int) -> bytes:
        from fsspec.asyn import sync  # noqa: PLC0415 - an extra

        filesystem = self._filesystem
        bucket, key, version = filesystem.split_path(self._path)
        wanted = {"Bucket": bucket, "Key": key, "Range": f"bytes={begin}-{end - 1}"}
        wanted |= {"VersionId": version} if version else {}
        wanted |= {"IfMatch": self._tag} if self._tag else {}

        async def get() -> tuple[str | None, bytes]:
            answer = await filesystem._call_s3("get_object", **wanted)
            try:
                return answer.get("ContentRange"), await answer["Body"].read()
            finally:
                answer["Body"].close()

        try:
            where, data = sync(filesystem.loop, get)
        except OSError as error:
            about = getattr(error.__cause__, "response", {}).get("ResponseMetadata", {})
            raise (_changed() if about.get("HTTPStatusCode") == 412 else error) from None
        _check_range(where, begin)
        found: bytes = data
        return found


def _check_range(header: str | None, begin: int) -> None:
    """Raise if ``header``, the ``Content-Range`` of an answer, says that it begins somewhere else."""
    if header is not None and not header.replace(" ", "").startswith(f"bytes{begin}-"):
        raise OSError(errno.EIO, f"the server sent another range than that from byte {begin} on: {header}")


def _changed() -> ChangedError:
    return ChangedError(errno.ESTALE, "it was replaced while it was read; read it again from the beginning")


def _wraps_pyarrow(filesystem: Any) -> bool:
    """Whether it is fsspec's face of a file system of pyarrow."""
    return type(filesystem).__module__ == "fsspec.implementations.arrow"


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
        raise _changed() from None
    except exceptions.BaseError as error:
        raise OSError(errno.EIO, _first_line(error)) from None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
