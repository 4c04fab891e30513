"""The members of a tar archive, read forward, without keeping a list of them.

``tarfile`` ends quietly at a header that is damaged or cut off, so headers are followed here, and an archive
that does not end as it should is an error. This module must not know what members are for.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from ...errors import EncodeError
from ...printable import printable

_BLOCK = tarfile.BLOCKSIZE
_SKIPPED = 1 << 20
_LARGEST_HEADER = 1 << 20  # bytes of a long name, or of extended headers
_LONG_NAME, _LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK


class Member(NamedTuple):
    """A member: its name, its size, its type as tar has it, and the archive that reads it."""

    name: str
    size: int
    type: bytes
    archive: TarMembers

    @property
    def is_file(self) -> bool:
        """Whether it is a file with content."""
        return self.type in tarfile.REGULAR_TYPES

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.type == tarfile.DIRTYPE

    def read(self) -> bytes:
        """The content; before the next member is asked for."""
        return self.archive.content()


class TarMembers:
    """The members of an archive in a plain binary file, in their order."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._at = 0  # the position in the file
        self._left = 0  # bytes of the content of the current member, which were not read
        self._padding = 0
        self._seekable = file.seekable()

    def __iter__(self) -> Iterator[Member]:
        changes: dict[str, str] = {}
        while (header := self._header()) is not None:
            if header.type in (_LONG_NAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                data = self._small_content()
                changes.update({"path": _text(data)} if header.type == _LONG_NAME else self._extended(data))
                continue
            if header.type not in (tarfile.XGLTYPE, _LONG_LINK):
                with suppress(ValueError):
                    self._begin(int(changes.get("size", header.size)))
                name = changes.get("path", header.name)
                if header.type == tarfile.GNUTYPE_SPARSE or any("GNU.sparse" in key for key in changes):
                    raise EncodeError(
                        f"{printable(name)}: is a sparse file, which is not read; archive it plainly"
                    )
                yield Member(name, self._left, header.type, self)
                changes = {}
            self._skip()

    def content(self) -> bytes:
        """The content of the current member."""
        data = self._read(self._left)
        self._left = 0
        return data

    def _begin(self, size: int) -> None:
        self._left = size
        self._padding = -size % _BLOCK

    def _header(self) -> tarfile.TarInfo | None:
        """The next header; None at the end of the archive."""
        begin = self._at
        block = self._file.read(_BLOCK)
        self._at += len(block)
        if not block:
            what = "is empty" if not begin else "is cut off: its end is not marked"
            raise EncodeError(what)
        if begin and len(block) < _BLOCK:
            raise EncodeError(f"is cut off at byte {self._at:,}")
        if not any(block):
            self._check_end(begin)
            return None
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            what = f"is damaged at byte {begin:,}: {error}" if begin else "is no tar archive"
            raise EncodeError(what) from None
        self._begin(
            header.size if header.type not in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE) else 0
        )
        return header

    def _check_end(self, begin: int) -> None:
        """Raise an error if anything follows the end."""
        while data := self._file.read(_SKIPPED):
            if any(data):
                reason = f"has data behind its end at byte {begin:,}; name concatenated archives one by one"
                raise EncodeError(reason)

    def _read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        self._at += len(data)
        if len(data) < size:
            raise EncodeError(f"is cut off at byte {self._at:,}")
        return data

    def _small_content(self) -> bytes:
        if self._left > _LARGEST_HEADER:
            raise EncodeError(
                f"is damaged before byte {self._at:,}: an extended header of {self._left:,} bytes"
            )
        data = self.content()
        self._skip()
        return data

    def _extended(self, data: bytes) -> dict[str, str]:
        """The entries of an extended header: ``LENGTH KEY=VALUE`` and a line end."""
        entries = {}
        rest = data
        while rest and rest[0]:
            length, _, _ = rest.partition(b" ")
            size = int(length) if length.isdigit() else 0
            key, found, value = rest[len(length) + 1 : size - 1].partition(b"=")
            if size < 5 or size > len(rest) or not found:
                raise EncodeError(f"is damaged before byte {self._at:,}: a wrong extended header")
            entries[_text(key)] = _text(value)
            rest = rest[size:]
        return entries

    def _skip(self) -> None:
        """Go to the next header."""
        size = self._left + self._padding
        self._left = self._padding = 0
        if self._seekable and size > _SKIPPED:
            # The last byte is read, because seeking behind the end of a file is no error.
            self._file.seek(size - 1, 1)
            self._at += size - 1
            size = 1
        while size:
            size -= len(self._read(min(size, _SKIPPED)))


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode("utf-8", "surrogateescape")
