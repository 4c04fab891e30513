"""Files and folders appear whole or not at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os

import pytest

from purerecord.records import Records
from purerecord.tools.converters.outputs import (
    name_of,
    new_file,
    new_folder,
    new_plain_file,
    size_of,
    write_records,
)


def test_file_appears_at_the_end(tmp_path):
    path = tmp_path / "a"
    with new_file(path) as file:
        file.write(b"data")
        assert not path.exists()
    assert path.read_bytes() == b"data"
    assert size_of(str(path)) == 4


def test_file_is_discarded_after_an_error(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), new_file(path) as file:  # noqa: PT012
        file.write(b"data")
        raise KeyError
    assert os.listdir(tmp_path) == ["a"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("new", [new_file, new_folder])
def test_a_full_disk_is_an_error_that_names_the_output(tmp_path, new):
    with pytest.raises(OSError, match="No space left") as caught, new(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_file_in_no_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, new_file(tmp_path / "none" / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "a")


def test_a_folder_is_no_file_to_replace(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match=r"Is a directory|denied") as caught, new_file(tmp_path / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]


def test_open_file_is_written_as_it_is():
    out = io.BytesIO()
    with new_file(out) as file:
        file.write(b"data")
    assert out.getvalue() == b"data"
    assert name_of(out) == "<stream>"
    assert size_of(out) == 0


def test_folder_appears_at_the_end_or_not_at_all(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(KeyError), new_folder(path) as folder:  # noqa: PT012
        (tmp_path / folder / "x").write_bytes(b"")
        raise KeyError
    assert os.listdir(tmp_path) == []
    path.mkdir()  # an empty one may be there
    with new_folder(f"{path}/") as folder:
        open(os.path.join(folder, "x"), "wb").close()
        assert os.listdir(path) == []
    assert os.listdir(path) == ["x"]
    with pytest.raises(FileExistsError, match="not empty"), new_folder(path):
        pass
    with pytest.raises(ValueError, match="local disk"), new_folder("s3://bucket/x"):
        pass


def test_records_go_to_one_file_or_to_shards(tmp_path):
    batches = [Records.of([b"a", b"b"]), Records.of([b"c"])]
    limits = {"shards": None, "max_bytes": None, "max_records": None}
    assert write_records(tmp_path / "x", batches, None, limits) == [str(tmp_path / "x")]
    assert len(write_records(f"{tmp_path}/x@3", batches, None, limits)) == 3
    assert len(write_records(tmp_path / "x", batches, None, {**limits, "max_records": 2})) == 2


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_plain_files_are_compressed_as_their_names_say(tmp_path, suffix, module):
    for name in ("a", "b"):
        with new_plain_file(tmp_path / f"{name}.csv{suffix}") as file:
            file.write(b"text")
    assert module.decompress((tmp_path / f"a.csv{suffix}").read_bytes()) == b"text"
    assert (tmp_path / f"a.csv{suffix}").read_bytes() == (tmp_path / f"b.csv{suffix}").read_bytes()
    with pytest.raises(ValueError, match="ZSTD is only read"), new_plain_file(tmp_path / "a.csv.zst"):
        pass
