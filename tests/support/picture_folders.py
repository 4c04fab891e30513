"""Tiny pictures without any library, and folders of them, for the tests of converters."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path


def png(width: int = 4, height: int = 3, grey: int = 0) -> bytes:
    """A grey PNG, which any library decodes."""
    rows = (b"\0" + bytes([grey % 256]) * width) * height

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    )


def jpeg_header(width: int = 4, height: int = 3, channels: int = 3) -> bytes:
    """What begins and ends a JPEG, without pixels: its header can be read, and no more."""
    frame = (
        b"\xff\xc0"
        + struct.pack(">HBHHB", 8 + 3 * channels, 8, height, width, channels)
        + bytes(3 * channels)
    )
    return b"\xff\xd8" + frame + b"\xff\xd9"


def save(path: str | Path, data: bytes | str) -> Path:
    """Write a file, and the folders above it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def pets(folder: str = "pets", count: int = 3) -> dict[str, bytes]:
    """A folder of cats and dogs; the bytes of each file by its name."""
    made = {
        f"{name}/{number}.png": png(4 + number, 3, 10 * number + place)
        for place, name in enumerate(("cats", "dogs"))
        for number in range(count)
    }
    for name, data in made.items():
        save(f"{folder}/{name}", data)
    return made
