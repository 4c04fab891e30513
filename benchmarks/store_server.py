"""An object store on loopback, in a process of its own: a latency, and a limited rate for each connection.

It serves files of a folder with ranges, as cheaply as Python can: what is measured is the reader, not this.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import unquote

_PIECE = 1 << 16  # bytes between two looks at the clock


@contextmanager
def serving(folder: Path, *, latency: float = 0.0, rate: float | None = None) -> Iterator[str]:
    """The URL of a server of the files in ``folder``."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs, folder, latency, rate), daemon=True
    )
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection, folder: Path, latency: float, rate: float | None) -> None:
    asyncio.run(_Store(folder, latency, rate).run(pipe))


class _Store:
    def __init__(self, folder: Path, latency: float, rate: float | None) -> None:
        self._folder = folder
        self._latency = latency
        self._rate = rate

    async def run(self, pipe: Connection) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(self._latency)
                await self._answer(request.decode("latin-1").split("\r\n"), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has what it wants
        finally:
            writer.close()

    async def _answer(self, lines: list[str], writer: asyncio.StreamWriter) -> None:
        method, path, _ = lines[0].split()
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        file = self._folder / Path(unquote(path)).name
        if not file.is_file():
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        size = file.stat().st_size
        first, _, last = headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")
        begin, end = int(first), min(int(last) + 1 if last else size, size)
        answer = [
            "HTTP/1.1 206 Partial Content" if "range" in headers else "HTTP/1.1 200 OK",
            f"Content-Range: bytes {begin}-{end - 1}/{size}",
            f"Content-Length: {end - begin}",
            "Accept-Ranges: bytes",
            'ETag: "1"',
        ]
        writer.write("\r\n".join([*answer, "", ""]).encode())
        if method == "GET":
            await self._send(file, begin, end, writer)
        await writer.drain()

    async def _send(self, file: Path, begin: int, end: int, writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        started = clock()
        descriptor = os.open(file, os.O_RDONLY)
        try:
            for at in range(begin, end, _PIECE):
                writer.write(os.pread(descriptor, min(_PIECE, end - at), at))
                await writer.drain()
                ahead = (at + _PIECE - begin) / self._rate - (clock() - started) if self._rate else 0
                if ahead > 0:
                    await asyncio.sleep(ahead)
        finally:
            os.close(descriptor)
