"""Stores: fsspec's file systems as places to read and write; the other libraries are in tests/interop."""

from __future__ import annotations

import gc
import sys

import pytest

import purerecord as pr
from purerecord.storage import stores
from purerecord.storage.stores import Upload, exists, open_object, remove, rename
from purerecord.storage.url import Url
from tests.support.interop import interop


@pytest.fixture
def memory():
    filesystem = interop("fsspec").filesystem("memory")
    yield filesystem
    if filesystem.exists("/stores"):
        filesystem.rm("/stores", recursive=True)


URL = Url("memory://stores/a")


def test_object_has_a_status_and_ranges(memory):
    memory.pipe("/stores/a", b"0123456789")
    file = open_object(URL)
    assert file.read(3, 6) == b"345"
    before = file.status()
    memory.pipe("/stores/a", b"9876543210")
    assert before.size == file.status().size == 10
    assert before.version != file.status().version


def test_upload_appears_with_commit_only(memory):
    upload = Upload(URL)
    upload.write(b"one")
    assert not exists(URL)
    upload.commit()
    assert memory.cat("/stores/a") == b"one"
    discarded = Upload(URL)
    discarded.write(b"two")
    discarded.discard()
    gc.collect()
    assert memory.cat("/stores/a") == b"one"


def test_upload_that_failed_refuses_everything_but_discard(memory, monkeypatch):
    def failing(*_: object) -> None:
        raise OSError("the store is full")

    upload = Upload(URL)
    upload._file.close()
    upload._file = type("Full", (), {"write": failing, "close": lambda self: None})()
    with pytest.raises(OSError, match="full"):
        upload.write(b"one")
    for step in (lambda: upload.write(b"two"), upload.commit):
        with pytest.raises(OSError, match="write it again from the beginning"):
            step()
    upload.discard()
    assert not exists(URL)


def test_rename_and_remove(memory):
    memory.pipe("/stores/a", b"one")
    rename(URL, Url("memory://stores/b"))
    assert memory.cat("/stores/b") == b"one"
    remove(Url("memory://stores/b"))
    remove(Url("memory://stores/b"))
    assert not exists(Url("memory://stores/b"))


def test_missing_file_and_folder_are_told_apart(memory):
    memory.pipe("/stores/folder/a", b"")
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        list(pr.read_records("memory://stores/nothing"))
    with pytest.raises(IsADirectoryError):
        list(pr.read_records("memory://stores/folder"))


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for call in (lambda: list(pr.read_records("memory://a")), lambda: pr.TFRecordWriter("memory://a")):
        with pytest.raises(ImportError, match=r"pip install .*purerecord\[remote\]"):
            call()


KEYS = {"key": "k", "secret": "s"}


@pytest.mark.parametrize(
    ("scheme", "options", "variable", "expected"),
    [
        ("s3", {**KEYS, "endpoint_url": "e"}, "", "access_key_id=k secret_access_key=s endpoint=e"),
        ("s3", {"key": "k", "client_kwargs": {"region_name": "r"}}, "", "access_key_id=k region=r"),
        ("s3", {"anon": True}, "", "skip_signature=True"),
        ("s3", {**KEYS, "anon": False}, "", "access_key_id=k secret_access_key=s"),
        ("s3", {}, "AWS_ACCESS_KEY_ID", ""),
        ("s3", {}, "", None),  # perhaps a profile, which obstore does not read
        ("s3", {**KEYS, "profile": "p"}, "", None),
        ("gs", {}, "GOOGLE_APPLICATION_CREDENTIALS", ""),
        ("gs", {}, "", None),
        ("az", {"account_name": "a", "account_key": "k"}, "", "account_name=a account_key=k"),
        ("https", {}, "", None),
        ("memory", {}, "", None),
    ],
)
def test_options_in_the_words_of_obstore(monkeypatch, scheme, options, variable, expected):
    for name in ("AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "something")
    config = stores._obstore_config(Url(f"{scheme}://bucket/key", options))
    said = None if config is None else " ".join(f"{name}={value}" for name, value in config.items())
    assert said == expected
