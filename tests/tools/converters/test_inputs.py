"""Files as plain bytes, whatever their compression."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest

import purerecord as pr
from purerecord.tools.converters.inputs import open_plain, open_seekable

DATA = b"x^, a\n" * 100_000  # zlib data may begin with x^


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_recognized_and_bytes_are_counted(tmp_path, compress):
    path = tmp_path / "a"
    path.write_bytes(compress(DATA))
    done = []
    with open_plain(str(path), lambda size, records: done.append(size)) as file:
        assert file.read() == DATA
    assert sum(done) == path.stat().st_size
    with open_plain(io.BytesIO(compress(DATA))) as file:
        assert file.readline() == b"x^, a\n"


def test_a_compressed_file_that_is_cut_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(DATA)[:-20])
    with (
        pytest.raises(pr.CorruptionError, match=r"a\.gz: the GZIP stream is cut"),
        open_plain(str(path)) as file,
    ):
        file.read()


def test_seekable(tmp_path):
    (tmp_path / "a").write_bytes(b"data")
    with open_seekable(str(tmp_path / "a")) as file:
        assert file.read() == b"data"
    with open_seekable(io.BytesIO(b"data")) as file:
        assert file.read() == b"data"

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ValueError, match="not read from a pipe"), open_seekable(Pipe()):
        pass
