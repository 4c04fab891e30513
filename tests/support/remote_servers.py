"""Real servers on loopback: S3, HTTP with ranges, and a proxy before them that misbehaves by a plan."""

from __future__ import annotations

import hashlib
import http.client
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CREDENTIALS = {"key": "a-test-key", "secret": "a-test-secret"}


class Server(ThreadingHTTPServer):
    """A server in threads of this process; ``address`` is where it listens."""

    daemon_threads = True
    request_queue_size = 64

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


@contextmanager
def running(handler: type[BaseHTTPRequestHandler], **attributes: Any) -> Iterator[Server]:
    """A server with this handler, and with ``attributes``, which the handler reads."""
    server = Server(("127.0.0.1", 0), handler)
    server.__dict__.update(attributes)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *arguments: Any) -> None:
        """Not on the terminal."""


class Files(Quiet):
    """Serves ``server.files``, a dict of path and bytes, with ranges unless ``server.ranges`` is False."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        data = self.server.files.get(self.path.partition("?")[0])
        if data is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        wanted = self.headers.get("Range") if self.server.ranges else None
        begin, end = 0, len(data)
        if wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last) + 1 if last else end, end)
        part = data[begin:end]
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if body:
            self.wfile.write(part)


class Proxy(Quiet):
    """Hands requests to ``server.upstream``; each ``GET`` meets the next of ``server.faults``, each ``PUT``
    of ``server.puts``.

    ``server.delay`` is the latency in seconds, ``server.rate`` the bytes per second of each connection.
    """

    def do_HEAD(self) -> None:
        self._forward("none")

    def do_GET(self) -> None:
        self._forward(next(self.server.faults, "none") if "Range" in self.headers else "none")

    def do_PUT(self) -> None:
        self._forward(next(self.server.puts, "none"))

    def do_POST(self) -> None:
        self._forward("none")

    def do_DELETE(self) -> None:
        self._forward("none")

    def _forward(self, fault: str) -> None:
        time.sleep(self.server.delay)
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else None
        if fault == "reset":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if fault == "stall":
            time.sleep(self.server.stall)
        if fault == "busy":
            self._send(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        data = answer.read()
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
        if self.command == "HEAD":
            headers["Content-Length"] = answer.getheader("Content-Length") or "0"
        upstream.close()
        if fault == "cut":  # announced whole, and then the connection ends
            self._send(answer.status, {**headers, "Content-Length": str(len(data))}, data[: len(data) // 2])
            self.close_connection = True
            return
        if fault == "short" and answer.status == 206 and len(data) > 1:
            data = data[: len(data) // 2]
        if fault == "wrong" and len(data) > 1:
            at = time.monotonic_ns() % (len(data) - 1) + 1  # never the same bytes twice
            data = data[at:] + data[:at]
        self._send(answer.status, headers, data)

    def _send(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not self.server.rate:
            self.wfile.write(data)
            return
        piece = max(1, self.server.rate // 16)
        due = time.monotonic()
        for at in range(0, len(data), piece):
            self.wfile.write(data[at : at + piece])
            due += piece / self.server.rate
            time.sleep(max(0.0, due - time.monotonic()))


_HOP = {"connection", "transfer-encoding", "content-length", "server", "date"}


def files_server(files: dict[str, bytes], *, ranges: bool = True) -> Any:
    """A server of these files."""
    return running(Files, files=files, ranges=ranges)


def proxy_server(
    upstream: str,
    faults: Iterator[str] | None = None,
    *,
    puts: Iterator[str] | None = None,
    delay: float = 0,
    rate: int = 0,
    stall: float = 1,
) -> Any:
    """A proxy before the server ``upstream``."""
    plans = {"faults": faults or iter(()), "puts": puts or iter(())}
    return running(Proxy, upstream=upstream, **plans, delay=delay, rate=rate, stall=stall)


def client_of(address: str) -> Any:
    """A client of the S3 server at ``address``."""
    import boto3  # noqa: PLC0415 - not in every environment

    return boto3.client(
        "s3",
        endpoint_url=f"http://{address}",
        aws_access_key_id=CREDENTIALS["key"],
        aws_secret_access_key=CREDENTIALS["secret"],
        region_name="us-east-1",
    )


@contextmanager
def s3_server() -> Iterator[tuple[str, Callable[[str], dict[str, Any]]]]:
    """moto's S3 server with the bucket "bucket": its address, and the storage options for an address."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - not in every environment

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = f"127.0.0.1:{server._server.server_port}"  # type: ignore[union-attr]

    def options(at: str = address) -> dict[str, Any]:
        return {**CREDENTIALS, "endpoint_url": f"http://{at}", "client_kwargs": {"region_name": "us-east-1"}}

    try:
        # Its stores are those of the process: another server of it may have left files.
        with closing(http.client.HTTPConnection(address)) as connection:
            connection.request("POST", "/moto-api/reset")
            connection.getresponse().read()
        client_of(address).create_bucket(Bucket="bucket")
        yield address, options
    finally:
        server.stop()
