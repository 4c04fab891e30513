"""``RecordDigest``: one checksum for many records in their order, made of the CRCs that their frames store.

The CRCs are at hand when records are written or read, so the checksum costs a hash of four bytes a record. It
does not depend on compression. This module must not know what a payload means.
"""

from __future__ import annotations

import hashlib

from .checksum import UInts


class RecordDigest:
    """The number of records so far, and the SHA-256 of their stored CRCs, little-endian, one after another.

    CRCs are no protection against a change that is made on purpose, and so this is none either.
    """

    def __init__(self) -> None:
        self.records = 0
        self._hash = hashlib.sha256()

    def add(self, crcs: UInts) -> None:
        """Take in the masked CRCs of the next records."""
        self.records += len(crcs)
        self._hash.update(crcs.astype("<u4").tobytes())

    def __str__(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"
