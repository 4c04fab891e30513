"""``Limits``: what a request and the viewer as a whole may cost. All bounds stand here.

Files may be of any size and hold anything. Whatever is cut off at one of these bounds is said in the answer.
This module must not know what is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The bounds of a viewer; sizes are in bytes."""

    files: int = 100_000  # files of one viewer
    requests: int = 8  # requests that are answered at the same time
    connections: int = 64
    patience: float = 10.0  # seconds that a request waits for its turn
    scan_wait: float = 2.0  # seconds that a request waits for the scan to reach its rows

    rows: int = 30_000_000  # records whose places are kept, for each file
    damages: int = 1_000  # places of damage that are listed, for each file
    damages_counted: int = 1_000_000  # after so many, checksums are not compared any more
    remote_cost: int = 64 << 20  # bytes that counting fetches from a remote file before it stops
    check_bytes: int = 16 << 30  # data whose checksums are compared in the background, for each file
    spool_bytes: int = 1 << 30  # data of a compressed file that is kept in a temporary file
    spool_total: int = 4 << 30  # the same of all files; half of it is for files that are asked for

    page_rows: int = 200
    page_bytes: int = 16 << 20  # payloads that are read for a page of the table
    record_bytes: int = 64 << 20  # a larger record is shown as bytes only
    record_parts: int = 500_000  # features, steps and strings of a record; one with more is shown as bytes
    features: int = 50  # of a record in the table, unless features are named
    record_features: int = 2_000
    cell_values: int = 8
    cell_text: int = 200
    record_values: int = 1_000  # of a feature on the page of a record
    record_total: int = 20_000  # of all its features together
    record_steps: int = 200
    step_values: int = 100
    record_text: int = 10_000
    hex_bytes: int = 65_536
    values: int = 10_000  # numbers that are sent at once
    strings: int = 1_000
    points: int = 2_000  # of a curve
    text_bytes: int = 100_000
    row_pictures: int = 8  # of a record in the gallery
    record_pictures: int = 200
    thumbnail_bytes: int = 64 << 20  # thumbnails that are kept
    original_bytes: int = 2 << 20  # a picture that is its own thumbnail where Pillow is missing
    original_pixels: int = 4_000_000

    search_records: int = 200_000  # that one request looks at
    search_bytes: int = 64 << 20
    search_time: float = 1.0  # seconds after which a search answers with what it has
    sample_records: int = 50_000  # of which columns are summarised at first
    sample_bytes: int = 64 << 20
    query: int = 4_096  # characters of a filter or a text


DEFAULT = Limits()
