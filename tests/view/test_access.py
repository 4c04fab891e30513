"""Who may ask."""

from __future__ import annotations

import pytest

from purerecord.view.access import DATA_POLICY, PAGE_POLICY, Access
from tests.support.damage import frames
from tests.support.viewing import TOKEN, viewing


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    path = tmp_path_factory.mktemp("access") / "file"
    path.write_bytes(frames([b"secret"]))
    with viewing(str(path)) as asking:
        yield asking


def test_a_token_is_drawn_at_random():
    tokens = {Access().token for _ in range(10)}
    assert len(tokens) == 10
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "token", ["", "short", "with/slash-with/slash", "x" * 200, "with space, space", "ä" * 20]
)
def test_a_weak_token_is_refused(token):
    with pytest.raises(ValueError, match="a token has 16 to 128"):
        Access(token)


PATHS = [
    "/",
    "",
    "/api/files",
    "//api/files",
    "/wrong-token-of-some-length/api/files",
    f"/{TOKEN}x/api/files",
    f"/{TOKEN[:-1]}/api/files",
    f"/x/{TOKEN}/api/files",
    f"/{TOKEN}",
    f"/%61{TOKEN[1:]}/api/files",
    "/%C3%A4/api/files",
    f"/api/files?token={TOKEN}",
    f"http://127.0.0.1/{TOKEN}/api/files",
    "*",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_answered(asking, path):
    got = asking.request(path)
    assert got.status == 403
    assert got.json == {"error": "open the URL that purerecord view printed; it holds a secret token"}
    assert b'secret"' not in got.body


HEADERS = [
    ({"Host": "evil.example"}, "the Host header does not name this server"),
    ({"Host": "127.0.0.1"}, "the Host header does not name this server"),
    ({"Host": "127.0.0.1:1"}, "the Host header does not name this server"),
    ({"Host": "127.0.0.1.evil.example:{port}"}, "the Host header does not name this server"),
    ({"Host": ""}, "the Host header does not name this server"),
    ({"Origin": "http://evil.example"}, "the request comes from another site"),
    ({"Origin": "null"}, "the request comes from another site"),
    ({"Origin": "https://127.0.0.1:{port}"}, "the request comes from another site"),
    ({"Origin": "http://localhost:{port}"}, "the request comes from another site"),
    ({"Sec-Fetch-Site": "cross-site"}, "the request comes from another site"),
    ({"Sec-Fetch-Site": "same-site"}, "the request comes from another site"),
    (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        "the request comes from another site",
    ),
    (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        "the request comes from another site",
    ),
]


@pytest.mark.parametrize(("headers", "reason"), HEADERS)
@pytest.mark.parametrize("name", ["", "api/files", "media"])
def test_a_request_of_another_site_is_refused_even_with_the_token(asking, headers, reason, name):
    headers = {key: value.format(port=asking.viewer.port) for key, value in headers.items()}
    got = asking.request(f"/{TOKEN}/{name}", headers=headers)
    assert (got.status, got.json) == (403, {"error": reason})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost:{port}"},
        {"Host": "LOCALHOST:{port}"},
        {"Origin": "http://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
)
def test_the_own_page_and_a_link_that_is_followed_are_answered(asking, headers):
    headers = {key: value.format(port=asking.viewer.port) for key, value in headers.items()}
    assert asking.request(f"/{TOKEN}/api/files", headers=headers).status == 200


@pytest.mark.parametrize("name", ["", "api/files", "api/rows", "api/nothing"])
def test_every_answer_tells_the_browser_to_be_careful(asking, name):
    got = asking.get(name)
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert got.headers["Referrer-Policy"] == "no-referrer"
    assert got.headers["X-Frame-Options"] == "DENY"
    assert got.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert got.headers["Content-Security-Policy"] == (DATA_POLICY if name else PAGE_POLICY)
    assert "Access-Control-Allow-Origin" not in got.headers
    assert "Set-Cookie" not in got.headers


def test_the_policy_of_the_page_allows_nothing_inline_and_nothing_from_elsewhere():
    assert "unsafe" not in PAGE_POLICY
    assert "http" not in PAGE_POLICY
    assert "*" not in PAGE_POLICY
