"""Stores: fsspec's file systems as places to read and write; the other libraries are in tests/interop."""

from __future__ import annotations

import errno
import gc
import sys

import pytest

import purerecord as pr
from purerecord.storage import stores
from purerecord.storage.stores import Upload, exists, open_object, remove, rename, same_file
from purerecord.storage.url import Url
from tests.support.damage import frames
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
    upload.discard()
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


def test_upload_that_broke_off_in_its_commit_leaves_nothing(memory, monkeypatch):
    upload = Upload(URL)
    upload.write(b"1" * (9 << 20))
    kind = type(memory.open("/stores/b", "wb"))
    whole, times = kind.write, iter([None])

    def once(file, data):
        if next(times, "failed") == "failed":
            raise OSError("the connection is lost")
        return whole(file, data)

    monkeypatch.setattr(kind, "write", once)
    with pytest.raises(OSError, match="lost"):
        upload.commit()
    upload.discard()
    assert not exists(URL)


def test_upload_to_a_local_file_system_is_discarded(memory, tmp_path):
    local = interop("fsspec").filesystem("file")
    writer = pr.TFRecordWriter(str(tmp_path / "a.tfrecord"), filesystem=local)
    writer.write(b"record")
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_one_file_may_have_several_urls(memory):
    assert same_file(Url("memory://stores/a"), Url("memory:///stores/a"))
    assert not same_file(Url("memory://stores/a"), Url("memory://stores/b"))


def test_a_file_is_not_salvaged_into_itself_under_another_url(memory):
    memory.pipe("/stores/a", frames([b"one", b"two"])[:-1])
    with pytest.raises(ValueError, match="itself"):
        pr.salvage(URL, "memory:///stores/a")
    assert memory.cat("/stores/a") == frames([b"one", b"two"])[:-1]


def test_old_and_new_shards_are_never_a_whole_set(memory, monkeypatch):
    with pr.ShardedWriter("memory://stores/s@3") as writer:
        writer.write_many([b"old"] * 9)
    commit, times = Upload.commit, iter([None])

    def failing(upload):
        if next(times, "failed") == "failed":
            raise OSError(errno.ENOSPC, "the store is full")
        commit(upload)

    monkeypatch.setattr(Upload, "commit", failing)
    with pytest.raises(OSError, match="full"), pr.ShardedWriter("memory://stores/s@3") as writer:
        writer.write_many([b"new"] * 9)
    with pytest.raises(FileNotFoundError, match="s-00002-of-00003"):
        list(pr.read_records("memory://stores/s@3"))


ODD = ["a", "a?", "a[b]", "ab", "*", "x@2", "a%20b", "a b", "a#b", "ä"]


def test_names_that_look_like_patterns_are_read_once(memory):
    for name in ODD:
        with pr.TFRecordWriter(Url(f"memory://stores/{name}.tfrecord"), index=True) as writer:
            writer.write(name)
    expected = sorted(name.encode() for name in ODD)
    pattern = "memory://stores/*.tfrecord"
    for source in (
        pr.read_records(pattern),
        pr.RecordFile(pattern),
        pr.TFRecordDataset(pattern),
        pr.TFRecordDataset(pattern).shuffle(100, seed=1),
    ):
        assert sorted(list(source)) == expected  # noqa: C414 - list asks for the length
