"""The HTTP server: one request in, one answer out, and nothing that a request can break.

``Server`` listens, ``_Handler`` reads a request, asks ``Access`` whether it is allowed and a function of the
table of endpoints for the answer. Only GET is answered. A fault in a function is an answer with one sentence;
no traceback leaves the process. This module must not know what the endpoints answer.
"""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socket import SHUT_RDWR, socket
from socketserver import TCPServer
from typing import Any
from urllib.parse import urlsplit

from ..printable import printable
from .access import DATA_POLICY, HEADERS, PAGE_POLICY, Access
from .limits import Limits
from .parameters import Parameters, RefusedError

_PAGE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\.(?:html|css|js|svg|png|woff2)")
_PAGE_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "woff2": "font/woff2",
}
_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")
_LONGEST_URL = 60_000
_IDLE = 30.0  # seconds without a byte after which a connection is closed


@dataclass
class Answer:
    """What goes back: the whole ``body``, or its parts one after the other."""

    body: bytes | Iterator[bytes]
    content_type: str = "application/json"
    status: int = 200
    policy: str = DATA_POLICY
    headers: Mapping[str, str] = field(default_factory=dict)
    ranges: bool = False  # whether a part of the body may be asked for, as players of sounds do


Endpoint = Callable[[Parameters], Answer]


def as_json(value: Any, status: int = 200) -> Answer:
    """An answer in JSON."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Answer(text.encode(), "application/json", status)


def failure(status: int, reason: str) -> Answer:
    """An answer that says in one sentence why there is no other."""
    return as_json({"error": printable(reason)}, status)


class Server(ThreadingHTTPServer):
    """Answers at ``host`` and ``port``; port 0 takes a free one."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    # So the address of a server that has just ended can be used again; on Windows, that of a running one.
    allow_reuse_address = os.name != "nt"

    def __init__(
        self, host: str, port: int, access: Access, endpoints: Mapping[str, Endpoint], limits: Limits
    ) -> None:
        self.access = access
        self.endpoints = endpoints
        self.limits = limits
        self.pages = _page_files()
        self.turns = threading.BoundedSemaphore(limits.requests)
        self._connections = threading.BoundedSemaphore(limits.connections)
        self._waiting: dict[socket, None] = {}  # connections without a request, those that wait longest first
        self._lock = threading.Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = f"port {port} is in use; choose another one, or 0 for a free one"
                raise OSError(error.errno, reason) from None
            raise
        self.port = int(self.server_address[1])
        access.serve(host, self.port)

    def server_bind(self) -> None:
        """Listen, without asking for the name of this machine, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread. If there are too many, the one ends that has asked for nothing for longest."""
        if not self._connections.acquire(blocking=False):
            self._end_one_that_waits()
            if not self._connections.acquire(timeout=1.0):
                self.shutdown_request(request)
                return
        self.waits(request, waits=True)
        super().process_request(request, client_address)

    def waits(self, connection: socket, *, waits: bool) -> None:
        """Remember whether a connection waits for a request, or for the rest of one."""
        with self._lock:
            if waits:
                self._waiting[connection] = None
            else:
                self._waiting.pop(connection, None)

    def _end_one_that_waits(self) -> None:
        with self._lock:
            connection = next(iter(self._waiting), None)
            if connection is not None:
                del self._waiting[connection]
                with suppress(OSError):  # its thread reads the end, and ends
                    connection.shutdown(SHUT_RDWR)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.waits(request, waits=False)
            self._connections.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A connection that breaks is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _IDLE

    def version_string(self) -> str:
        return "purerecord"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden one
        """The log would hold the token."""

    def handle_one_request(self) -> None:
        """Wait for a request, and answer it."""
        self.server.waits(self.connection, waits=True)
        try:
            super().handle_one_request()
        finally:
            self.server.waits(self.connection, waits=False)

    def do_GET(self) -> None:
        """Answer one request."""
        self.server.waits(self.connection, waits=False)
        answer = self._answer()
        if answer.status == 403:
            self.close_connection = True  # who may not ask shall not hold a connection
        with suppress(BrokenPipeError, ConnectionError, TimeoutError):
            self._send(answer)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that is no GET, or no HTTP; its text is not repeated."""
        self.close_connection = True
        self.request_version = self.protocol_version  # with none known, Python would leave out the headers
        status = 405 if code == 501 else code
        with suppress(BrokenPipeError, ConnectionError, TimeoutError):
            self._send(
                failure(status, "only GET is answered" if status == 405 else "a request that cannot be read")
            )

    def _answer(self) -> Answer:
        server = self.server
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # a body would be taken for the next request
            return failure(400, "a request must have no body")
        reason = server.access.refusal(self.headers)
        if reason is not None:
            return failure(403, reason)
        if len(self.path) > _LONGEST_URL:
            return failure(414, "the URL is too long")
        parts = urlsplit(self.path if self.path.startswith("/") else "/")
        name = server.access.inside(parts.path)
        if name is None:
            return failure(403, "open the URL that purerecord view printed; it holds a secret token")
        return self._answer_to(name, parts.query)

    def _answer_to(self, name: str, query: str) -> Answer:
        """The answer to an allowed request."""
        server = self.server
        page = server.pages.get(name or "index.html")
        endpoint = server.endpoints.get(name)
        if page is not None or endpoint is None:
            return page or failure(404, "there is nothing at this URL")
        if not server.turns.acquire(timeout=server.limits.patience):
            return failure(503, "the viewer is busy; try again")
        try:
            return _called(endpoint, query)
        finally:
            server.turns.release()

    def _send(self, answer: Answer) -> None:
        answer = _part(answer, self.headers.get("Range", "")) if answer.ranges else answer
        body = answer.body
        self.send_response(answer.status)
        for name, value in {**HEADERS, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Security-Policy", answer.policy)
        if self.close_connection:
            self.send_header("Connection", "close")
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for part in body:
                if part:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        except Exception:  # without the last chunk, the browser knows that the download failed
            self.close_connection = True
            raise


def _part(answer: Answer, asked: str) -> Answer:
    """The part of an answer that a Range header asks for; all of it for none, or for several parts."""
    assert isinstance(answer.body, bytes)
    size = len(answer.body)
    headers = {**answer.headers, "Accept-Ranges": "bytes"}
    match = _RANGE.fullmatch(asked)
    if match is None or not (match[1] or match[2]):
        return replace(answer, headers=headers)
    begin = int(match[1]) if match[1] else max(0, size - int(match[2]))
    end = min(size, int(match[2]) + 1) if match[1] and match[2] else size
    if begin >= end:
        return replace(failure(416, "there are no such bytes"), headers={"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
    return replace(answer, body=answer.body[begin:end], status=206, headers=headers)


def _called(endpoint: Endpoint, query: str) -> Answer:
    """The answer of an endpoint, or one that says what went wrong."""
    try:
        return endpoint(Parameters(query))
    except RefusedError as error:
        return failure(error.status, str(error))
    except MemoryError:
        return failure(413, "there is not enough memory to show this")
    except Exception as error:  # a fault of a file or of ours: the next request may go well
        return failure(500, f"{type(error).__name__}: {error}"[:1000])


def _page_files() -> dict[str, Answer]:
    """The files of the page, read once: nothing else on the disk can ever be asked for."""
    found = {}
    for file in files(__package__).joinpath("page").iterdir():
        if _PAGE_NAME.fullmatch(file.name) and file.is_file():
            kind = _PAGE_TYPES[file.name.rpartition(".")[2]]
            found[file.name] = Answer(file.read_bytes(), kind, policy=PAGE_POLICY)
    return found
