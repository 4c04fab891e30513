"""``Damage``: a range of bytes without a good frame, and the names of the kinds of damage.

This module does not know how damage is found.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .. import public
from ..printable import printable

BAD_LENGTH = "bad length checksum"
BAD_DATA = "bad data checksum"
TRUNCATED_HEADER = "truncated header"
TRUNCATED_PAYLOAD = "truncated payload"
TRUNCATED_FOOTER = "truncated footer"
GARBAGE = "garbage"
TRAILING_GARBAGE = "trailing garbage"
ZEROS = "zeros"
DUPLICATED = "duplicated block"
BROKEN_COMPRESSION = "broken compression"
NOT_A_TFRECORD = "not a TFRecord"
TOO_LARGE = "too large"  # a sound length that is above ``max_record_size``


@public
@dataclass(frozen=True)
class Damage:
    """The bytes ``[begin, end)`` of a file's plain data are damaged.

    ``kind`` is one of the names above, and ``detail`` a sentence for people. ``records`` is the number of
    lost records if known. For a cut file it never is: nothing tells what came after the cut. If a compressed
    file is broken, ``compressed`` is the range ``[begin, end)`` of the file itself that could not be
    inflated: an empty one if the file just ends too early.
    """

    begin: int
    end: int
    kind: str
    records: int | None = None
    detail: str = ""
    compressed: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """How many bytes of the plain data are damaged."""
        return self.end - self.begin

    @property
    def compressed_size(self) -> int:
        """How many bytes of a compressed file could not be inflated."""
        return 0 if self.compressed is None else self.compressed[1] - self.compressed[0]

    def to_dict(self) -> dict[str, Any]:
        """The damage in types that JSON has."""
        return {**asdict(self), "compressed": None if self.compressed is None else list(self.compressed)}

    def __str__(self) -> str:
        place = f"[{self.begin}, {self.end})"
        if self.compressed is not None:
            place += f", compressed [{self.compressed[0]}, {self.compressed[1]})"
        return f"{place}: {self.kind}" + (f" ({printable(self.detail)})" if self.detail else "")
