"""The members of tar archives: what ``tarfile`` has, and that no damage ends quietly."""

from __future__ import annotations

import io
import tarfile

import pytest

import purerecord as pr
from purerecord.tools.converters import tar_members
from purerecord.tools.converters.tar_members import TarMembers

NAMES = ["a.txt", "folder/b.txt", "l" * 90 + "/" + "o" * 200 + ".txt", "é" * 80 + ".txt", "e.txt"]


class Pipe(io.BytesIO):
    """Bytes that cannot be sought."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise OSError


def archive(layout=tarfile.PAX_FORMAT, sizes=(0, 5, 512, 3000, 1)):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=layout) as tar:
        for name, size in zip(NAMES, sizes, strict=True):
            header = tarfile.TarInfo(name)
            header.size = size
            tar.addfile(header, io.BytesIO(bytes([size % 251]) * size))
    return file.getvalue()


@pytest.mark.parametrize("kind", [io.BytesIO, Pipe])
@pytest.mark.parametrize("layout", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize("skipped", [16, 1 << 20])
def test_members_of_tarfile(monkeypatch, kind, layout, skipped):
    monkeypatch.setattr(tar_members, "_SKIPPED", skipped)
    data = archive(layout)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        expected = [(member.name, tar.extractfile(member).read()) for member in tar]
    assert [(member.name, member.read()) for member in TarMembers(kind(data))] == expected
    assert [member.name for member in TarMembers(kind(data))] == NAMES
    some = [(member.name, member.read()) for member in TarMembers(kind(data)) if len(member.name) > 9]
    assert some == [one for one in expected if len(one[0]) > 9]


def test_folders_and_links_are_told():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, kind in [("d", tarfile.DIRTYPE), ("s", tarfile.SYMTYPE), ("l", tarfile.LNKTYPE)]:
            header = tarfile.TarInfo(name)
            header.type, header.linkname = kind, "x"
            tar.addfile(header)
    file.seek(0)
    members = [(member.name, member.is_file, member.is_folder) for member in TarMembers(file)]
    assert members == [("d", False, True), ("s", False, False), ("l", False, False)]


@pytest.mark.parametrize("kind", [io.BytesIO, Pipe])
def test_every_cut_is_an_error(kind):
    data = archive()
    end = data.rstrip(b"\0")
    content = -(-(len(end) + 1) // 512) * 512
    for size in range(0, content, 37):
        with pytest.raises(pr.EncodeError, match=r"is cut off|is empty|no tar archive"):
            list(TarMembers(kind(data[:size])))
    with pytest.raises(pr.EncodeError, match="its end is not marked"):
        list(TarMembers(kind(data[:content])))
    assert len(list(TarMembers(kind(data[: content + 512])))) == len(NAMES)


def test_damaged_headers_are_errors():
    data = bytearray(archive())
    data[512 + 3] ^= 1
    with pytest.raises(pr.EncodeError, match="is damaged at byte 512"):
        list(TarMembers(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"id,name\n" * 100, "no tar archive"),
        (archive() * 2, "data behind its end"),
    ],
)
def test_what_is_no_archive(data, words):
    with pytest.raises(pr.EncodeError, match=words):
        list(TarMembers(io.BytesIO(data)))


@pytest.mark.parametrize("text", [b"9 path=x", b"99 path=x\n", b"x path=y\n", b"3 x\n"])
def test_wrong_extended_headers_are_errors(text):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, len(text)
    data = header.tobuf(tarfile.USTAR_FORMAT) + text.ljust(512, b"\0") + archive()
    with pytest.raises(pr.EncodeError, match="a wrong extended header"):
        list(TarMembers(io.BytesIO(data)))


def test_a_long_header_is_bounded(monkeypatch):
    monkeypatch.setattr(tar_members, "_LARGEST_HEADER", 10)
    with pytest.raises(pr.EncodeError, match="an extended header of"):
        list(TarMembers(io.BytesIO(archive())))


def test_sparse_files_are_refused():
    header = tarfile.TarInfo("x")
    header.type = tarfile.GNUTYPE_SPARSE
    with pytest.raises(pr.EncodeError, match="sparse"):
        list(TarMembers(io.BytesIO(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024))))
