"""``Url``: the name of a remote file, with what opens it, and without its secrets.

A ``Url`` is a str, so it goes wherever a path goes. As text it has no password and no signature: messages,
reprs and states cannot show what the text does not hold. This module opens nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

# One scheme, or a chain of them as fsspec knows it: simplecache::s3://bucket/key.
_SCHEME = re.compile(r"((?:[a-z0-9+.-]+::)*)([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)[^/@?#]*:[^/@?#]*@")
_QUERY = re.compile(r"\?[^?]*=.*", re.DOTALL)
# The same two wherever they are in a message, where a library may have encoded them in another way.
_PASSWORD_IN_TEXT = re.compile(r"""(?<=://)[^/@?#\s'"]*:[^/@?#\s'"]*@""")
_QUERY_IN_TEXT = re.compile(r"""(https?://[^?\s'"]*)\?[^\s'"]*""", re.IGNORECASE)
_SECRET_OPTION = re.compile(
    r"key|secret|token|pass|cred|auth|sas|sign|header|cookie|cert|connection_string", re.IGNORECASE
)

# The options that are not for the store: the folder and the size of a local cache.
CACHE_OPTIONS = ("local_cache", "local_cache_size")

_T = TypeVar("_T")


class Url(str):
    """The name of a remote file.

    ``address`` is the whole URL. The text of this str is the address without a password and without a query
    of the form ``?name=value``, which may hold a signature. ``storage_options`` are for fsspec or obstore, or
    ask for a local cache;
    ``filesystem`` is an object of fsspec, pyarrow or obstore in which the address is a path. ``exact`` says
    that this is the name of one file, and no pattern, whatever characters it has.
    """

    __slots__ = ("address", "exact", "filesystem", "storage_options")
    address: str
    storage_options: Mapping[str, Any]
    filesystem: Any
    exact: bool

    def __new__(
        cls,
        address: str,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
        exact: bool = False,
    ) -> Url:
        known = address if isinstance(address, Url) else None
        whole = known.address if known is not None else str(address)
        url = super().__new__(cls, _shown(whole))
        url.address = whole
        url.storage_options = storage_options or (known.storage_options if known is not None else {})
        url.filesystem = filesystem if filesystem is not None or known is None else known.filesystem
        url.exact = exact or (known is not None and known.exact)
        return url

    @property
    def store_options(self) -> dict[str, Any]:
        """Those of ``storage_options`` that are for the store."""
        return {name: value for name, value in self.storage_options.items() if name not in CACHE_OPTIONS}

    def __reduce__(self) -> tuple[Any, ...]:
        return Url, (self.address, self.storage_options, self.filesystem, self.exact)

    def beside(self, suffix: str) -> Url:
        """The URL of the file whose name has ``suffix`` too."""
        query = self.query
        return self.like(self.address.removesuffix(query) + suffix + query)

    def like(self, address: str, *, exact: bool = False) -> Url:
        """Another address in the same store."""
        return Url(address, self.storage_options, self.filesystem, exact)

    @property
    def query(self) -> str:
        """The query of the address, with its question mark; "" if it has none."""
        match = _QUERY.search(self.address) if _is_http(self.address) else None
        return match[0] if match else ""

    def without_secrets(self, text: str) -> str:
        """``text``, perhaps the message of a library, without the secrets of this URL and its options."""
        secrets = [self.query, *_secrets(self.storage_options)]
        secrets += [match[0].removesuffix("@") for match in _PASSWORD.finditer(self.address)]
        text = text.replace(self.address, str(self))
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            text = text.replace(secret, "...")
        return _QUERY_IN_TEXT.sub(r"\1", _PASSWORD_IN_TEXT.sub("", text))


def _shown(address: str) -> str:
    shown = _PASSWORD.sub("", address)
    return _QUERY.sub("", shown) if _is_http(address) else shown


def _is_http(address: str) -> bool:
    return "http://" in address or "https://" in address


def _secrets(options: Any, *, named: bool = False) -> Iterator[str]:
    """The texts in ``options`` that are secret by the name that they have, or that a dict around them has."""
    if isinstance(options, Mapping):
        for name, value in options.items():
            yield from _secrets(value, named=named or bool(_SECRET_OPTION.search(str(name))))
    elif isinstance(options, (list, tuple)):
        for value in options:
            yield from _secrets(value, named=named)
    elif isinstance(options, str) and named and len(options) > 3:
        yield options


def is_url(path: str) -> bool:
    """Whether ``path`` names a file that is not local."""
    if isinstance(path, Url):
        return True
    match = _SCHEME.match(path)
    return match is not None and (bool(match[1]) or match[2].lower() != "file")


def local_path(path: Any) -> str:
    """``path`` as a str, without a leading ``file://``; a URL as a ``Url``."""
    if isinstance(path, Url):
        return path
    name = os.fsdecode(path).removeprefix("file://")
    return Url(name) if is_url(name) else name


def stored(source: _T, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None) -> _T:
    """``source``, a path or URL or several, with what opens them; open files stay as they are.

    Options without a file that they could be for are an error: they would be ignored silently.
    """
    (found,) = stored_some([source], storage_options, filesystem)
    return found


def stored_some(
    sources: list[_T], storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
) -> list[_T]:
    """Each of ``sources`` like ``stored``; the options may be for one of them alone, say the output."""
    if storage_options is None and filesystem is None:
        return sources
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise TypeError(f"storage_options must be a dict, not {type(storage_options).__name__}")
    if filesystem is not None and storage_options is not None and not _are_of_cache(storage_options):
        raise ValueError("filesystem is a store that is set up already; storage_options would be ignored")
    found = [_stored(source, storage_options, filesystem) for source in sources]
    if not any(isinstance(item, Url) for one in found for item in (one if isinstance(one, list) else [one])):
        raise ValueError("storage_options and filesystem are for URLs, and there is none")
    return found


def _are_of_cache(storage_options: Mapping[str, Any]) -> bool:
    return bool(storage_options) and storage_options.keys() <= {*CACHE_OPTIONS}


def _stored(source: Any, storage_options: Mapping[str, Any] | None, filesystem: Any) -> Any:
    if isinstance(source, (str, bytes, os.PathLike)):
        name = os.fsdecode(source)
        given = filesystem is not None or is_url(name)
        return Url(name, storage_options, filesystem) if given else source
    if isinstance(source, Iterable) and not hasattr(source, "read"):
        return [_stored(item, storage_options, filesystem) for item in source]
    return source
