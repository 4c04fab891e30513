"""The viewer: a local page that shows what is in the files.

    viewer         ``Viewer`` and ``view``: the files and the server together
    limits         what a request may cost
    catalog        the files, and the threads that count their records
    source         what the viewer asks of a file, whatever its compression
    plain_file, block_file, spooled_file   the three kinds of files
    spool          what was read of files that can only be read forward
    places         where records are
    fetch          rows of a source, but those that would cost too much to decode
    decoded        a payload as the viewer sees it
    cells          values as JSON
    picture_size   how large a picture is, from its header
    class_names    the names of classes
    pictures       the pictures of a record, and what is on them
    media          pictures and sounds as bytes, and thumbnails
    rows           a page of the table
    episode        the steps of a record over time
    export         what matches as TFRecords, JSON lines or CSV
    search         filtered rows, in bounded steps
    summary        what the columns hold
    where          conditions as text
    record         the page of a record
    api            the endpoints
    parameters     the query of a URL
    access         tokens, hosts, origins, and the headers of every answer
    server         HTTP
    html_report    ``report``: what the viewer shows as one HTML file
    page/          what the browser loads

The path of a request: ``server`` → ``access`` → ``api`` → ``catalog`` → a source → ``decoded`` → ``cells``.
Public names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {"Viewer": "viewer", "report": "html_report", "view": "viewer"}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
