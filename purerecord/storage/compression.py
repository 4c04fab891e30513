"""``TFRecordOptions`` and the names of compressions: checks and normalizes what a caller passes.

This module compresses nothing; ``deflate`` does.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

from .. import public
from ..printable import printable

# Compressions of other tools: files are read, not written.
READ_ONLY = ("BZ2", "XZ", "ZSTD")
_NUMBERS = {0: "", 1: "ZLIB", 2: "GZIP"}
_NAMES = ("", "GZIP", "ZLIB", *READ_ONLY)
_OR_TO_READ = '; to read, also "BZ2", "XZ" or "ZSTD"'


@public
@dataclass(frozen=True)
class TFRecordOptions:
    """How a TFRecord file is compressed. The fields are TensorFlow's; None means its default.

    ``block_size`` is our own: with "GZIP", the file consists of independent members of about this many bytes
    of frames each. TensorFlow reads such a file like any other; ``RecordFile`` can seek in it.
    """

    compression_type: Any = None
    flush_mode: int | None = None
    input_buffer_size: int | None = None
    output_buffer_size: int | None = None
    window_bits: int | None = None
    compression_level: int | None = None
    compression_method: int | None = None
    mem_level: int | None = None
    compression_strategy: int | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        compression = _written(self.compression_type)
        if self.block_size is not None:
            if compression != "GZIP":
                raise ValueError('block_size needs compression_type "GZIP"')
            if operator.index(self.block_size) < 1:
                raise ValueError(f"block_size must be positive, not {self.block_size}")
            if self.window_bits not in (None, 31) or self.flush_mode:
                raise ValueError("block_size does not go together with window_bits or flush_mode")
        if compression:
            self._check()

    def _check(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ValueError(f"{name} must be {_described(allowed)}, not {value!r}")

    @property
    def compression(self) -> str:
        """ "GZIP", "ZLIB" or "" for none."""
        return compression_name(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression of ``options``, as TensorFlow spells it."""
        return _written(options)


_ALLOWED: dict[str, Any] = {
    "flush_mode": range(4),
    "input_buffer_size": range(1, 1 << 62),
    "output_buffer_size": range(2, 1 << 62),
    "window_bits": [*range(-15, -8), *range(8, 16), *range(25, 32)],
    "compression_level": range(-1, 10),
    "compression_method": range(8, 9),
    "mem_level": range(1, 10),
    "compression_strategy": range(5),
}


def _described(allowed: Any) -> str:
    if isinstance(allowed, range) and len(allowed) == 1:
        return str(allowed[0])
    if isinstance(allowed, range) and allowed[-1] > 1000:
        return f"at least {allowed[0]}"
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return "8 to 15, 25 to 31 or -9 to -15"


def compression_name(value: Any) -> str:
    """The name of a compression that we read, "" for none.

    ``value`` is any value that TensorFlow accepts (a name, 0 to 2, options, a falsy value), or a name of
    ``READ_ONLY``.
    """
    if isinstance(value, TFRecordOptions):
        return value.compression
    if not value:
        return ""
    if isinstance(value, int) and value in _NUMBERS:
        return _NUMBERS[value]
    if isinstance(value, str) and value in _NAMES:
        return value
    if hasattr(value, "compression_type"):  # TensorFlow's own options object
        return compression_name(value.compression_type)
    shown = printable(str(value))
    raise ValueError(f'Not a valid compression_type: "{shown}"; use "", "GZIP" or "ZLIB"{_OR_TO_READ}')


def _written(value: Any) -> str:
    """Like ``compression_name``, for a compression that we write."""
    name = compression_name(value)
    if name in READ_ONLY:
        raise ValueError(f'{name} files are read but not written; use "GZIP", "ZLIB" or "" to write')
    return name


def as_options(value: Any) -> TFRecordOptions:
    """``TFRecordOptions`` from any value that TensorFlow's writer accepts, its own options included."""
    if isinstance(value, TFRecordOptions):
        return replace(value, compression_type=value.compression)
    if hasattr(value, "compression_type"):
        fields = (name for name in TFRecordOptions.__dataclass_fields__ if hasattr(value, name))
        return TFRecordOptions(**{name: getattr(value, name) for name in fields})
    return TFRecordOptions(value)
