"""URLs: what is one, what its text shows, and which options go with it."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import purerecord as pr
from purerecord import tools
from purerecord.storage.url import Url, is_url, local_path, stored, stored_some

SECRET = {"key": "a key 1234", "client_kwargs": {"headers": {"X": "header 5678"}}, "endpoint_url": "http://e"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://bucket/key", True),
        ("GS://bucket/key", True),
        ("memory://x", True),
        ("https://host/file?a=b", True),
        ("simplecache::s3://bucket/key", True),
        ("file:///etc/hosts", False),
        ("/etc/hosts", False),
        ("relative/path", False),
        ("C://windows", False),
        (Url("bucket/key", filesystem=object()), True),
    ],
)
def test_names_that_are_urls(name, expected):
    assert is_url(name) is expected


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("s3://bucket/key?not=a query", "s3://bucket/key?not=a query"),
        ("s3://bucket/k-?????-of-?????", "s3://bucket/k-?????-of-?????"),
        ("https://host/a.tfrecord?X-Signature=abc", "https://host/a.tfrecord"),
        ("https://user:word@host/a", "https://host/a"),
        ("ftp://user:word@host/a", "ftp://host/a"),
        (
            "abfs://container@account.dfs.core.windows.net/a",
            "abfs://container@account.dfs.core.windows.net/a",
        ),
    ],
)
def test_text_has_no_password_and_no_signature(address, text):
    url = Url(address)
    assert (str(url), url.address, repr(url), f"{url}") == (text, address, repr(text), text)


def test_url_keeps_its_options_through_copies_and_pickles():
    url = Url("https://host/a?b=c", SECRET)
    for twin in (pickle.loads(pickle.dumps(url)), copy.deepcopy(url), Url(url), url.like(url.address)):
        assert (twin, twin.address, twin.storage_options) == (url, "https://host/a?b=c", SECRET)


def test_file_beside_a_url():
    assert Url("https://host/a?b=c").beside(".index").address == "https://host/a.index?b=c"
    assert Url("s3://bucket/a", SECRET).beside(".index").storage_options == SECRET


def test_messages_lose_their_secrets():
    url = Url("https://user:word12@host/a?sig=abc", SECRET)
    text = "no https://user:word12@host/a?sig=abc: a key 1234, header 5678, user:word12, ?sig=abc, http://e"
    shown = url.without_secrets(text)
    assert shown.startswith("no https://host/a:")
    assert shown.endswith("http://e")
    for secret in ("word12", "sig=abc", "a key 1234", "header 5678"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("403, url='https://host/a?sig=a/b%3D&x=1'", "403, url='https://host/a'"),
        ("moved to HTTP://other/b?X-Amz-Signature=1 twice", "moved to HTTP://other/b twice"),
        ('no "https://me:word%2F1@host/a"', 'no "https://host/a"'),
        ("bad AccountKey=word77", "bad ..."),
    ],
)
def test_messages_lose_their_secrets_in_the_encoding_of_a_library_too(text, shown):
    options = {"connection_string": "AccountKey=word77"}
    assert Url("https://host/a?sig=a%2Fb%3D&x=1", options).without_secrets(text) == shown


def test_secrets_are_found_in_tuples():
    assert Url("sftp://host/a", {"auth": ("me", "word77")}).without_secrets("no word77") == "no ..."


@pytest.mark.parametrize(
    ("path", "expected"),
    [("file:///a/b", "/a/b"), (b"a", "a"), (Path("a"), "a"), ("s3://b/c", "s3://b/c")],
)
def test_local_path(path, expected):
    assert local_path(path) == expected
    assert isinstance(local_path(path), Url) is expected.startswith("s3")


def test_options_reach_every_url_of_a_list():
    found = stored(["s3://b/1", Path("local"), ["s3://b/2"]], {"anon": True})
    assert [getattr(name, "storage_options", None) for name in found[:2]] == [{"anon": True}, None]
    assert found[2][0].storage_options == {"anon": True}
    assert stored("local") == "local"


def test_with_a_filesystem_every_name_is_a_path_in_it():
    filesystem = object()
    assert stored("bucket/key", filesystem=filesystem).filesystem is filesystem


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"storage_options": {"anon": True}}, ValueError, "there is none"),
        ({"storage_options": {}, "filesystem": object()}, ValueError, "would be ignored"),
        ({"storage_options": "anon"}, TypeError, "must be a dict"),
    ],
)
def test_options_that_nothing_would_use_are_refused(tmp_path, arguments, error, match):
    path = tmp_path / "a.tfrecord"
    pr.TFRecordWriter(path).close()
    for reader in (pr.read_records, pr.RecordFile, pr.TFRecordDataset, pr.validate, pr.build_index):
        with pytest.raises(error, match=match):
            reader(path, **arguments)


def test_options_may_be_for_one_of_several():
    options = {"anon": True}
    local, url, several = stored_some(["a", "s3://b/c", ["d", "s3://b/e"]], options)
    assert (type(local), type(url), type(several[0])) == (str, Url, str)
    assert url.storage_options == several[1].storage_options == options
    assert stored_some(["a", "b"]) == ["a", "b"]
    with pytest.raises(ValueError, match="for URLs, and there is none"):
        stored_some(["a", ["b"]], options)


@pytest.mark.parametrize("work", [tools.merge, tools.convert, tools.diff])
def test_options_without_a_url_are_an_error(work, tmp_path):
    with pytest.raises(ValueError, match="for URLs, and there is none"):
        work(tmp_path / "a", tmp_path / "b.csv", storage_options={"anon": True})
