"""The viewer in tests: files to show, and requests to a real server on loopback."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from purerecord.view import Viewer

TOKEN = "a-token-for-tests"


class Got(NamedTuple):
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def viewing(paths: Any, *, counted: bool = True, **options: Any) -> Iterator[Asking]:
    """A viewer of these files; unless told otherwise, one that has counted them already."""
    with Viewer(paths, token=TOKEN, **options) as viewer:
        if counted:
            assert viewer.catalog.wait_until_counted(60)
        yield Asking(viewer)


class Asking:
    """Asks a viewer."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer

    def request(
        self, target: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: Any = None
    ) -> Got:
        """The answer to a request for exactly this target."""
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=60)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"127.0.0.1:{self.viewer.port}", **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return Got(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, name: str, **parameters: Any) -> Got:
        """The answer of an endpoint."""
        query = urlencode(parameters, doseq=True)
        return self.request(f"/{TOKEN}/{name}" + (f"?{query}" if query else ""))

    def at(self, url: str) -> Got:
        """The answer at a URL that an answer holds, relative to the page."""
        parts = urlsplit(url)
        assert not parts.scheme
        assert not parts.netloc
        return self.request(f"/{TOKEN}/{url}")

    def json(self, name: str, **parameters: Any) -> Any:
        """The JSON of an endpoint."""
        got = self.get(name, **parameters)
        assert got.status == 200, got.body
        return got.json

    def error(self, name: str, **parameters: Any) -> tuple[int, str]:
        """The status and the sentence of an endpoint that refuses."""
        got = self.get(name, **parameters)
        return got.status, got.json["error"]

    def rows(self, **parameters: Any) -> list[Any]:
        """The rows of one page."""
        rows: list[Any] = self.json("api/rows", **parameters)["rows"]
        return rows

    def all_rows(self, **parameters: Any) -> list[Any]:
        """The rows of all pages."""
        found: list[Any] = []
        while True:
            got = self.json("api/rows", **parameters)
            found += got["rows"]
            if got["next"] is None:
                return found
            parameters["cursor"] = got["next"]
