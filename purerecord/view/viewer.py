"""``Viewer``: a catalog of files and the server that shows it; ``view`` opens one in the browser.

This module must not know the command line.
"""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from .. import public
from ..printable import printable
from ..storage.url import local_path, stored
from .access import Access
from .api import Api
from .catalog import Catalog
from .class_names import class_names
from .limits import DEFAULT, Limits
from .server import Server

HOST = "127.0.0.1"


@public
class Viewer:
    """Shows files at ``url`` until it is closed.

    ``label_map`` is a file with the names of classes: a ``label_map.pbtxt``, or a text with a name in each
    line, the first of which is class 0. ``port`` 0 takes a free one. The URL holds a ``token``, drawn at
    random unless it is given. The server listens on this machine only.

    >>> with Viewer("train-*.tfrecord") as viewer:
    ...     print(viewer.url)
    """

    def __init__(
        self,
        paths: Any,
        *,
        port: int = 0,
        compression: Any = "auto",
        label_map: Any = None,
        token: str | None = None,
        limits: Limits = DEFAULT,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        access = Access(token)
        self.catalog = Catalog(stored(paths, storage_options, filesystem), compression, limits)
        self._api = api = Api(self.catalog, title_of(paths), class_names(label_map))
        self._server = Server(HOST, port, access, api.endpoints(), limits)
        self.port = self._server.port
        self.url = f"http://{HOST}:{self.port}/{access.token}/"
        self.catalog.start()
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="purerecord-view",
            daemon=True,
        )
        self._thread.start()
        self._closed = False

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop the server and close the files."""
        if not self._closed:
            self._closed = True
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._api.close()
            self.catalog.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of {len(self.catalog.files)} files at port {self.port}>"


@public
def view(paths: Any, *, open_browser: bool = True, **options: Any) -> Viewer:
    """Show files in the browser: a ``Viewer``, whose ``options`` it takes.

    It serves in the background until it is closed; ``viewer.wait()`` waits until Ctrl-C.
    """
    viewer = Viewer(paths, **options)
    if open_browser:
        webbrowser.open(viewer.url)
    return viewer


def title_of(paths: Any) -> str:
    """A short name of some files."""
    if isinstance(paths, (list, tuple)):
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return f"{title_of(paths[0])}{more}" if paths else "nothing"
    named = isinstance(paths, (str, bytes, os.PathLike))
    text = str(local_path(paths) if named else getattr(paths, "name", "a stream"))  # a URL without secrets
    return printable(text.replace("\\", "/").rstrip("/").rpartition("/")[2] or text)
