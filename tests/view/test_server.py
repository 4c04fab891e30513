"""HTTP: what a request can and cannot do."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest

from purerecord.view import Viewer
from purerecord.view.limits import DEFAULT
from purerecord.view.server import as_json
from tests.support.damage import frames
from tests.support.viewing import TOKEN, viewing


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "file"
    path.write_bytes(frames([b"secret"]))
    with viewing(str(path)) as asking:
        yield asking


def test_the_page_is_served_from_the_package(asking):
    got = asking.get("")
    assert got.status == 200
    assert got.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"purerecord" in got.body
    assert asking.get("index.html").body == got.body


TRICKS = [
    "../server.py",
    "..%2fserver.py",
    "%2e%2e/server.py",
    "page/index.html",
    "index.html/",
    "index.html%00",
    "/etc/passwd",
    "//etc/passwd",
    "__init__.py",
    "api/files/",
    "api//files",
    "api/../api/files",
    "API/FILES",
    "file:///etc/passwd",
    ".",
    "..",
    "index.html;x",
]


@pytest.mark.parametrize("name", TRICKS)
def test_only_the_files_of_the_page_and_the_endpoints_are_there(asking, name):
    got = asking.request(f"/{TOKEN}/{name}")
    assert (got.status, got.json) == (404, {"error": "there is nothing at this URL"})


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "X"]
)
def test_only_get_is_answered(asking, method):
    got = asking.request(f"/{TOKEN}/api/files", method=method)
    assert got.status == 405


def test_a_request_with_a_body_is_refused(asking):
    got = asking.request(f"/{TOKEN}/api/files", headers={"Content-Length": "3"}, body=b"abc")
    assert (got.status, got.json) == (400, {"error": "a request must have no body"})
    got = asking.request(f"/{TOKEN}/api/files", headers={"Transfer-Encoding": "chunked"}, body=b"0\r\n\r\n")
    assert got.status == 400


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"GET /" + b"x" * 62_000 + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", b"414"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"400"),
    ],
)
def test_requests_that_are_no_sensible_http_get_a_short_answer(asking, text, status):
    with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=30) as client:
        client.sendall(text.replace(b"%d", b"%d" % asking.viewer.port))
        answer = b""
        while (piece := client.recv(4096)) and len(answer) < 1 << 16:
            answer += piece
            if b'"}' in answer:
                break
    assert answer.split(b"\r\n")[0].split()[1] == status
    assert b"Traceback" not in answer
    assert b"xxxx" not in answer
    assert asking.get("api/files").status == 200


def test_a_fault_of_an_endpoint_is_one_sentence(asking, monkeypatch):
    def broken(_):
        raise RuntimeError("no\x1b[31m luck")

    monkeypatch.setitem(asking.viewer._server.endpoints, "api/about", broken)
    got = asking.get("api/about")
    assert (got.status, got.json) == (500, {"error": "RuntimeError: no\\x1b[31m luck"})
    assert "Python" not in got.headers["Server"]


def test_more_requests_than_are_allowed_wait_for_their_turn_and_are_then_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"x"]))
    with viewing(str(path), limits=replace(DEFAULT, requests=1, patience=0.05)) as asking:
        entered, leave = threading.Event(), threading.Event()
        about = asking.viewer._server.endpoints["api/about"]

        def slow(given):
            entered.set()
            assert leave.wait(60)
            return about(given)

        asking.viewer._server.endpoints["api/about"] = slow
        first = threading.Thread(target=asking.get, args=("api/about",))
        first.start()
        assert entered.wait(60)
        assert asking.error("api/files") == (503, "the viewer is busy; try again")
        leave.set()
        first.join()
        assert asking.get("api/files").status == 200


def test_a_port_that_is_in_use_is_an_error_that_says_so(asking, tmp_path):
    with pytest.raises(OSError, match=f"port {asking.viewer.port} is in use; choose another one"):
        Viewer(str(tmp_path / "file"), port=asking.viewer.port)


@pytest.mark.parametrize("begin", [b"", b"GET /" + TOKEN.encode()])
def test_connections_that_ask_for_nothing_make_room_for_others(tmp_path, begin):
    path = tmp_path / "file"
    path.write_bytes(frames([b"x"]))
    with viewing(str(path), limits=replace(DEFAULT, connections=2)) as asking:
        address = ("127.0.0.1", asking.viewer.port)
        held = [socket.create_connection(address, timeout=60) for _ in range(2)]
        for one in held:
            one.sendall(begin)  # and never the rest
        for _ in range(3):
            assert asking.get("api/files").status == 200
        assert held[0].recv(1) == b""
        for one in held:
            one.close()


def test_a_request_that_is_refused_ends_its_connection(asking):
    with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=60) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while piece := client.recv(4096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"Connection: close" in answer


def test_connections_are_refused_while_all_are_busy(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"x"]))
    entered, leave = threading.Event(), threading.Event()

    def slow(_):
        entered.set()
        leave.wait(60)
        return as_json({})

    with viewing(str(path), limits=replace(DEFAULT, connections=1)) as asking:
        asking.viewer._server.endpoints["api/files"] = slow
        first = threading.Thread(target=asking.get, args=["api/files"])
        first.start()
        assert entered.wait(60)
        with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=60) as second:
            assert second.recv(1) == b""
        leave.set()
        first.join()
