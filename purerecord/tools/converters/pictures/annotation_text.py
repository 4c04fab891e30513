"""The text files that annotations come in. What is no text, or no CSV, is an error that names the line.

This module must not know what annotations mean.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

_LINE_END = re.compile("\r\n|\r|\n")


def read_text(path: str) -> str:
    """The text of a small file; ValueError if it is none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}: line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None


def read_lines(path: str) -> list[str]:
    """The lines of a small file of text, without their ends."""
    return _LINE_END.split(read_text(path))


def csv_rows(path: str) -> Iterator[tuple[str, list[str]]]:
    """The place and the cells of each row of a CSV, also of blank ones; ValueError if it is none."""
    lines = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    while True:
        begin = lines.line_num + 1
        try:
            row = next(lines, None)
        except csv.Error as error:
            raise ValueError(f"{path}: line {begin}: {error}; is there a quote too many?") from None
        if row is None:
            return
        yield f"{path}: line {begin}", row
