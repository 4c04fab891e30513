"""Remote files in the viewer: what is fetched is bounded, and any page is there in the end."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

import purerecord as pr
from purerecord.view.limits import DEFAULT
from tests.support.damage import frames, starts
from tests.support.interop import interop
from tests.support.remote_servers import Files, running
from tests.support.viewing import viewing

fsspec = interop("fsspec")

SMALL = [pr.encode_example({"x": n, "pad": b"\0" * 1000}) for n in range(3000)]
LARGE = [pr.encode_example({"x": n, "pad": b"\0" * 100_000}) for n in range(200)]


def stored(name: str, data: bytes) -> str:
    url = f"memory://view/{name}"
    with fsspec.open(url, "wb") as file:
        file.write(data)
    return url


class Counted(Files):
    """Files over HTTP; ``server.sent`` counts the bytes of bodies."""

    def _answer(self, *, body: bool) -> None:
        before = self.wfile

        class Counting:
            def write(_, data: bytes) -> int:  # noqa: N805 - self is the handler
                self.server.sent += len(data)
                return before.write(data)

            def __getattr__(_, name: str):  # noqa: N805
                return getattr(before, name)

        self.wfile = Counting()  # type: ignore[assignment]
        try:
            super()._answer(body=body)
        finally:
            self.wfile = before


@pytest.mark.parametrize("payloads", [SMALL, LARGE], ids=["small", "large"])
def test_pages_of_a_file_in_a_store(payloads):
    with viewing(stored("file", frames(payloads))) as asking:
        (file,) = asking.json("api/files")["files"]
        assert (file["records"], file["exact"], file["status"]) == (len(payloads), True, "done")
        rows = asking.rows(row=150, limit=3)
        assert [row["features"][-1]["values"][0] for row in rows] == [150, 151, 152]
        assert asking.json("api/record", row=150)["fields"][2]["ok"]


def test_counting_stops_after_some_bytes_and_goes_on_where_later_rows_are_asked_for():
    interop("aiohttp")
    data = frames(SMALL * 4)
    with running(Counted, files={"/file": data}, ranges=True, sent=0) as server:
        limits = replace(DEFAULT, remote_cost=2 << 20)
        with viewing(f"http://{server.address}/file", limits=limits) as asking:
            (file,) = asking.json("api/files")["files"]
            assert (file["status"], file["exact"]) == ("limited", False)
            assert 1000 < file["records"] < 6000
            assert "bytes were looked through; asking for later rows goes on" in file["message"]
            assert server.sent < 6 << 20
            assert asking.rows(limit=5)[0]["row"] == 0
            row = 0
            for _ in range(20):  # each request lets it go on for a while
                got = asking.json("api/rows", row=11_990, limit=5)
                if got["rows"]:
                    row = got["rows"][0]["row"]
                    break
                assert got["next"] == "0:11990"
            assert row == 11_990


def test_a_search_in_a_store_goes_on_past_the_limit():
    limits = replace(DEFAULT, remote_cost=1 << 20)
    with viewing(stored("searched", frames(SMALL)), limits=limits) as asking:
        assert [row["row"] for row in asking.all_rows(where="x >= 2995")] == list(range(2995, 3000))


def test_damage_in_a_store_is_searched_through_in_bounded_steps():
    edges = starts(SMALL)
    data = frames(SMALL)
    hole = data[: edges[1000]] + b"\xff" * (edges[1500] - edges[1000]) + data[edges[1500] :]
    with viewing(stored("hole", hole)) as asking:
        (file,) = asking.json("api/files")["files"]
        assert (file["records"], file["damages"]) == (2500, 1)
        (damage,) = asking.json("api/damage")["damages"]
        assert (damage["begin"], damage["end"]) == (edges[1000], edges[1500])
    limits = replace(DEFAULT, remote_cost=100_000)
    with viewing(stored("hole", hole), limits=limits) as asking:
        for _ in range(100):
            if asking.json("api/rows", row=2499)["rows"]:
                break
        (file,) = asking.json("api/files")["files"]
        assert (file["records"], file["exact"]) == (2500, True)


def test_compressed_files_in_a_store_are_read_forward():
    with viewing(stored("file.gz", gzip.compress(frames(SMALL)))) as asking:
        (file,) = asking.json("api/files")["files"]
        assert (file["compression"], file["records"], file["exact"]) == ("GZIP", 3000, True)


def test_a_server_without_ranges_is_read_forward():
    interop("aiohttp")
    with (
        running(Files, files={"/file": frames(SMALL)}, ranges=False) as server,
        viewing(f"http://{server.address}/file") as asking,
    ):
        assert asking.rows(row=2999)[0]["row"] == 2999


def test_what_is_missing_in_a_store_says_so_without_secrets():
    interop("aiohttp")
    with running(Files, files={}, ranges=True) as server:
        url = f"http://user:secret-word@{server.address}/missing?sig=secret-word"
        with viewing(url) as asking:
            got = asking.get("api/files")
            assert got.json["files"][0]["status"] == "failed"
            assert b"secret-word" not in got.body
