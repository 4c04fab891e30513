"""``purerecord view``: the viewer, until Ctrl-C. This module must not know how files are shown."""

from __future__ import annotations

import sys
import webbrowser
from argparse import Namespace
from typing import Any

from ...storage.url import is_url, local_path, stored
from ...storage.whole_file import write_whole
from ...view.html_report import html
from ...view.viewer import Viewer
from ..exit_status import flush, say, write
from ..inputs import opened_by
from ..options import COMPRESSIONS

_FEW = 16  # files that are opened before the page is


def view(arguments: Namespace) -> int:
    """Serve the files, and open them in the browser; or save a report."""
    compression = COMPRESSIONS[arguments.compression]
    if arguments.html is not None and arguments.label_map is not None:
        raise ValueError("--label-map is for the page in the browser; a report has no class names")
    if arguments.html is not None:
        _save(html(_paths(arguments), arguments.records, compression), arguments)
        return 0
    options = {"compression": compression, "label_map": arguments.label_map}
    with Viewer(_paths(arguments), port=arguments.port, **options) as viewer:
        _refuse_if_none_opens(viewer, arguments)
        write(f"{viewer.url}\n".encode())
        flush()
        say("this URL shows the files to whoever has it, until you press Ctrl-C")
        if not arguments.no_browser:
            webbrowser.open(viewer.url)
        viewer.wait()
    return 0


def _refuse_if_none_opens(viewer: Viewer, arguments: Namespace) -> None:
    """Raise an error if there is nothing to show: a name that is mistyped, for example."""
    files = viewer.catalog.files
    if len(files) > _FEW or any(map(is_url, arguments.paths)):
        return
    if all(file.open() is None for file in files):
        raise ValueError("; ".join(file.failure or file.name for file in files))


def _save(page: bytes, arguments: Namespace) -> None:
    if arguments.html == "-":
        write(page)
    else:
        write_whole(local_path(opened_by(arguments.html, arguments)), page)


def _paths(arguments: Namespace) -> list[Any]:
    """The paths with the options of stores; - is stdin."""
    options = dict(arguments.storage_option)
    paths: list[Any] = []
    for path in arguments.paths:
        if path == "-" and sys.stdin is None:
            raise ValueError("stdin is closed")
        paths.append(sys.stdin.buffer if path == "-" else stored(path, options) if is_url(path) else path)
    return paths
