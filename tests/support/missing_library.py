"""Data that cannot be read with the libraries that are installed. Fuzzing imports it, without pytest."""

from __future__ import annotations

import io

from purerecord import read_records
from purerecord.storage.bz2_xz_zstd import sniff_member


def needs_missing_library(data: bytes) -> bool:
    """Whether ``data`` begins as ZSTD, which cannot be read here: an ImportError says what to install."""
    if sniff_member(data) != "ZSTD":
        return False
    try:
        list(read_records(io.BytesIO(data), on_error="skip"))
    except ImportError:
        return True
    return False
