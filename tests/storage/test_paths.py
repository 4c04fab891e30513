"""Names: the files that a path, glob, shard pattern or URL names, and the names of new files."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from purerecord import ShardedWriter, TFRecordWriter, read_records
from purerecord.storage.paths import is_stream, is_url, resolve, resolve_paths, shard_names, split_pattern
from tests.support.damage import frame, frames

RECORDS = [b"one", b"", b"three" * 100]
DATA = frames(RECORDS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> list[str]:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(frame(name.encode()))
    return list(names)


def test_path_is_itself_in_every_spelling(folder):
    touch("a")
    for source in ("a", b"a", Path("a"), "file://a", ["a"], ("a",), iter(["a"]), [["a"]]):
        assert [os.fspath(name) for name in resolve(source)] == ["a"]


def test_file_url_is_an_absolute_path(folder):
    touch("a")
    assert list(read_records(f"file://{folder}/a")) == [b"a"]


def test_glob_is_sorted_and_leaves_folders_out(folder):
    touch("b.tfrecord", "a.tfrecord", "sub/c.tfrecord")
    Path("z.tfrecord").mkdir()
    assert resolve("*.tfrecord") == ["a.tfrecord", "b.tfrecord"]
    assert resolve("**/*.tfrecord") == ["a.tfrecord", "b.tfrecord", "sub/c.tfrecord"]
    assert resolve("[b]*") == ["b.tfrecord"]
    assert resolve(["b*", "a*"]) == ["b.tfrecord", "a.tfrecord"]


INDEXED = ["a.tfrecord", "b-00000-of-00002", "b-00001-of-00002", "c.tfrecord.gz"]
INDEXES = ["a.tfrecord.index", "a.idx", "b-00000-of-00002.index", "b-00001-of-00002.idx", "c.tfrecord.index"]


def test_globs_leave_out_the_index_files_of_their_data(folder):
    touch(*INDEXED, *INDEXES)
    assert resolve("*") == INDEXED
    assert resolve(str(folder / "**")) == [str(folder / name) for name in INDEXED]
    assert resolve("b-*") == resolve("b-?????-of-*") == resolve("b@*") == resolve("b@2") == INDEXED[1:3]
    assert resolve([*INDEXED, *INDEXES]) == [*INDEXED, *INDEXES]


def test_pattern_of_all_shards_leaves_out_the_shards_of_longer_names(folder):
    touch("t-00000-of-00001", "t-extra-00000-of-00001", "t-00000-of-00002-of-00001")
    assert resolve("t@*") == ["t-00000-of-00001"]
    assert resolve(str(folder / "t-e*@*")) == [str(folder / "t-extra-00000-of-00001")]


def test_index_files_are_found_by_their_own_pattern_and_without_their_data(folder):
    touch(*INDEXED, *INDEXES, "other.index")
    assert resolve("*") == [*INDEXED, "other.index"]
    assert resolve("*.idx") == ["a.idx", "b-00001-of-00002.idx"]


def test_index_that_the_writer_makes_is_no_data_for_a_glob(folder):
    for name in shard_names("t.tfrecord", 2):
        with TFRecordWriter(name, index=True) as writer:
            writer.write(name)
    assert list(read_records("t.tfrecord-*")) == [name.encode() for name in shard_names("t.tfrecord", 2)]


def test_name_that_looks_like_a_pattern_but_exists_is_a_name(folder):
    names = touch("a[1]?.tfrecord", "b@2", "c@*")
    for name in names:
        assert resolve(name) == [name]


def test_missing_file_is_a_file_not_found_error_with_its_name(folder):
    for name in (
        "missing",
        "missing-*",
        "missing@*",
        "missing@3",
        "missing-?????-of-?????",
        "file://missing",
    ):
        with pytest.raises(FileNotFoundError) as caught:
            read_records(name)
        assert "missing" in str(caught.value.filename)


def test_one_missing_file_of_many_is_said_before_anything_is_read(folder):
    touch("a")
    with pytest.raises(FileNotFoundError, match="b"):
        read_records(["a", "b"])


def test_dangling_link_folder_and_no_permission_are_os_errors(folder):
    Path("link").symlink_to("nowhere")
    Path("folder").mkdir()
    with pytest.raises(FileNotFoundError):
        read_records("link")
    with pytest.raises(IsADirectoryError):
        read_records("folder")
    touch("secret")
    Path("secret").chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            read_records("secret")


@pytest.mark.parametrize("wrong", [5, None, 1.5, [5], [None], [b"a", object()]])
def test_what_is_neither_path_nor_file_is_a_type_error(folder, wrong):
    touch("a")
    with pytest.raises(TypeError):
        read_records(wrong)


SHARDS = ["t-00000-of-00003", "t-00001-of-00003", "t-00002-of-00003"]


def test_shards_by_count_by_star_and_by_question_marks(folder):
    touch(*SHARDS)
    for pattern in ("t@3", "t@*", "t-?????-of-?????", "t-*-of-*", "t-?????-of-00003"):
        assert resolve(pattern) == SHARDS


def test_shards_with_a_suffix_or_in_a_folder(folder):
    names = [f"d/t-0000{i}-of-00002.tfrecord" for i in range(2)]
    touch(*names)
    for pattern in ("d/t@2.tfrecord", "d/t@*.tfrecord", "d/t-?????-of-?????.tfrecord"):
        assert resolve(pattern) == names
    tfds = touch("mnist-train.tfrecord-00000-of-00001")
    assert resolve("mnist-train.tfrecord@1") == tfds
    assert resolve("mnist-train.tfrecord@*") == tfds


def test_shards_in_a_folder_that_is_named_like_one(folder):
    names = touch("x-00001-of-00009/t-00000-of-00002", "x-00001-of-00009/t-00001-of-00002")
    assert resolve("x-00001-of-00009/t@*") == names
    assert resolve("x-00001-of-00009/t-?????-of-?????") == names


def test_what_lies_beside_the_shards_is_none_of_them(folder):
    touch(*SHARDS, *(f"{name}.index" for name in SHARDS), "t-more-of-this")
    assert resolve("t@*") == SHARDS


PATTERNS = ("t@3", "t@*", "t-?????-of-?????", "t-?????-of-00003")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_missing_shard_is_an_error_that_names_it(folder, pattern):
    touch(SHARDS[0], SHARDS[2])
    with pytest.raises(FileNotFoundError, match="1 of the 3 shards is missing: 00001:"):
        resolve(pattern)
    assert resolve(pattern, missing_ok=True) == SHARDS


FROM_ONE = ["t-00001-of-00003", "t-00002-of-00003", "t-00003-of-00003"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_shards_numbered_from_1_are_found_too(folder, pattern):
    touch(*FROM_ONE)
    assert resolve(pattern) == FROM_ONE
    Path(FROM_ONE[0]).unlink()
    with pytest.raises(FileNotFoundError, match="1 of the 3 shards is missing: 00001:"):
        resolve(pattern)
    assert resolve(pattern, missing_ok=True) == FROM_ONE


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "names", [[*SHARDS, *FROM_ONE], [SHARDS[0], FROM_ONE[2]], [*SHARDS, "t-00004-of-00003"]]
)
def test_shards_numbered_from_0_and_from_1_are_refused(folder, pattern, names):
    touch(*names)
    with pytest.raises(ValueError, match=r"numbered from 0 to [34]; .* of several"):
        resolve(pattern, missing_ok=True)


def test_each_of_several_sets_of_shards_must_be_complete(folder):
    names = touch("a-00000-of-00002", "a-00001-of-00002", "b-00001-of-00002", "b-00002-of-00002")
    assert resolve("?-?????-of-?????") == names
    Path(names[0]).unlink()
    Path(names[2]).unlink()
    with pytest.raises(FileNotFoundError, match="1 of the 2 shards is missing: 00000:"):
        resolve("?-?????-of-?????")


def test_shard_that_is_a_dangling_link_is_missing(folder):
    touch(*SHARDS[1:])
    Path(SHARDS[0]).symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match="missing: 00000:"):
        resolve("t@3")


def test_no_shard_at_all_is_said_so(folder):
    for pattern, words in (
        ("nope@8", "none of the 8 shards exists"),
        ("nope@1", "the one shard does not exist"),
    ):
        for missing_ok in (False, True):
            with pytest.raises(FileNotFoundError, match=words) as caught:
                resolve(pattern, missing_ok=missing_ok)
            assert caught.value.filename == pattern


def test_plain_glob_asks_for_no_completeness(folder):
    touch(SHARDS[0], SHARDS[2])
    assert resolve("t-*") == [SHARDS[0], SHARDS[2]]


def test_shards_of_two_datasets_at_once_are_refused(folder):
    touch(*SHARDS, "t-00000-of-00001")
    with pytest.raises(ValueError, match="several datasets"):
        resolve("t@*")
    assert resolve("t@1") == ["t-00000-of-00001"]


def test_no_shards_are_refused(folder):
    with pytest.raises(ValueError, match="no shards"):
        resolve("t@0")


def test_shard_names_are_those_of_tensorflow():
    assert shard_names("t", 2) == ["t-00000-of-00002", "t-00001-of-00002"]
    assert shard_names("t.x", 1, at=1) == ["t-00000-of-00001.x"]
    assert shard_names("t", 100_000)[-1] == "t-099999-of-100000"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("t", ("t", "", None)),
        ("t@10", ("t", "", 10)),
        ("t@10.gz", ("t", ".gz", 10)),
        ("t@*.gz", ("t", ".gz", None)),
        ("me@home/t", ("me@home/t", "", None)),
        ("me@2/t@3", ("me@2/t", "", 3)),
        ("@3", ("@3", "", None)),
        ("new\nline/t@3", ("new\nline/t", "", 3)),
        ("t@3.new\nline", ("t", ".new\nline", 3)),
    ],
)
def test_patterns_are_taken_apart(pattern, expected):
    assert split_pattern(pattern) == expected


def test_urls_are_told_from_paths():
    assert [is_url(name) for name in ("s3://b/k", "memory://x", "gs://b")] == [True] * 3
    assert [is_url(name) for name in ("file://x", "/a://b", "a/b", "c:/x", "FILE:///x")] == [False] * 5


def test_open_files_pass_where_order_suffices_and_are_refused_where_not(folder):
    file = io.BytesIO(DATA)
    assert resolve(file) == [file]
    assert resolve([file, file]) == [file, file]
    with pytest.raises(TypeError, match="open files"):
        resolve_paths([file])


def test_url_without_fsspec_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for use in (read_records, TFRecordWriter):
        with pytest.raises(ImportError, match=r"purerecord\[remote\]"):
            use("memory://somewhere")


def test_sharded_files_come_back_by_their_pattern(folder):
    with ShardedWriter("t@3.tfrecord") as writer:
        writer.write_many(b"%d" % i for i in range(10))
    assert sorted(read_records("t@*.tfrecord")) == [b"%d" % i for i in range(10)]


def test_an_absurd_number_of_shards_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "name@99999999999999.tfrecord")


def test_pipe_and_device_are_streams_and_nothing_else_is(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    streams = [is_stream(str(tmp_path / name)) for name in ("file", "pipe", "link", "missing", "")]
    assert streams == [False, True, True, False, False]
    assert is_stream(os.devnull)
    assert not is_stream("s3://bucket/file")
