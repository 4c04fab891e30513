"""``Damage``: a range of bytes that holds no good frame, and the words for what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

BAD_LENGTH = "bad length checksum"
BAD_DATA = "bad data checksum"
TRUNCATED_HEADER = "truncated header"
TRUNCATED_PAYLOAD = "truncated payload"
TRUNCATED_FOOTER = "truncated footer"
GARBAGE = "garbage"
TRAILING_GARBAGE = "trailing garbage"
ZEROS = "zeros"
BROKEN_COMPRESSION = "broken compression"
NOT_A_TFRECORD = "not a TFRecord"


@dataclass(frozen=True)
class Damage:
    """The bytes ``[begin, end)`` of a file's plain data are damaged.

    ``kind`` is one of the words above, ``records`` the number of records lost with them if that is known,
    and ``detail`` a sentence for people.
    """

    begin: int
    end: int
    kind: str
    records: int | None = None
    detail: str = ""

    @property
    def size(self) -> int:
        """How many bytes are damaged."""
        return self.end - self.begin

    def __str__(self) -> str:
        return f"[{self.begin}, {self.end}): {self.kind}" + (f" ({self.detail})" if self.detail else "")
