"""Strings in other encodings: ``decode_compressed``, ``encode_base64`` and ``decode_base64``.

This module does not know files.
"""

from __future__ import annotations

import base64
import re
import zlib
from typing import Any

from .._text.elementwise import each
from ..errors import DataLossError, UnimplementedError, invalid

_ALPHABET = re.compile(rb"[A-Za-z0-9_-]*")


def decode_compressed(
    bytes: Any,  # noqa: A002 - TensorFlow's name
    compression_type: str = "",
    name: str | None = None,
) -> Any:
    """The strings without their compression: "ZLIB", "GZIP" or none."""
    if compression_type not in ("", "ZLIB", "GZIP", "ZSTD"):
        raise invalid("Only ZLIB, ZSTD, GZIP or NONE are supported compressions")
    if compression_type == "ZSTD":
        raise UnimplementedError(None, None, "decode_compressed is in purerecord.tf for ZLIB and GZIP")
    return each("DecodeCompressed", lambda text: _inflated(text, compression_type), bytes)


def _inflated(data: bytes, compression: str) -> bytes:
    """Plain bytes. Broken data is an error; TensorFlow gives what it has before the break."""
    if not compression:
        return data
    parts = []
    while data:
        stream = zlib.decompressobj(31 if compression == "GZIP" else 15)
        try:
            parts.append(stream.decompress(data))
        except zlib.error as error:
            raise DataLossError(None, None, f"not {compression} data: {error}") from None
        if not stream.eof:
            raise DataLossError(None, None, f"the {compression} data is cut off")
        data = stream.unused_data if compression == "GZIP" else b""
        if data and not data.strip(b"\0"):
            break  # padding behind the last member
    return b"".join(parts)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:  # noqa: A002
    """The strings in web-safe Base64, with ``pad`` padded by ``=``."""

    def encoded(text: bytes) -> bytes:
        code = base64.urlsafe_b64encode(text)
        return code if pad else code.rstrip(b"=")

    return each("EncodeBase64", encoded, input)


def decode_base64(input: Any, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The bytes of strings in web-safe Base64, padded or not."""
    return each("DecodeBase64", _from_base64, input)


def _from_base64(text: bytes) -> bytes:
    padding = len(text) - len(text.rstrip(b"=")) if len(text) % 4 == 0 else 0
    code = text[: len(text) - padding] if padding <= 2 else text
    if not _ALPHABET.fullmatch(code):
        raise invalid("Invalid character found in base64.")
    if len(code) % 4 == 1:
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    return base64.urlsafe_b64decode(code + b"=" * (-len(code) % 4))
