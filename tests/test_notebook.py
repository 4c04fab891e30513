"""What notebooks show: bounded, escaped, never an error, and nothing is consumed."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord import notebook, tools
from tests.support.damage import flip_byte, frames
from tests.test_markup import Tags

HOSTILE = "<script>alert(1)</script>\"'&\x1b\u202e"


def png(width: int, height: int) -> bytes:
    """A grey picture; its pixels are compressed to almost nothing."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(bytes((width + 1) * min(height, 1000)), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def example(n: int) -> bytes:
    return pr.encode_example(
        {"label": n, HOSTILE: HOSTILE, "image": png(8, 8), "xs": np.arange(n, dtype=np.float32), "none": []}
    )


PAYLOADS = [example(n) for n in range(50)]


@pytest.fixture
def path(tmp_path):
    with pr.TFRecordWriter(tmp_path / "file") as writer:
        writer.write_many(PAYLOADS)
    return str(tmp_path / "file")


def shown(value: object) -> Tags:
    html = value._repr_html_()
    assert len(html) < 200_000
    assert not set(html) & set("\x1b\u202e")
    tags = Tags(html)
    assert "script" not in tags.seen
    return tags


def text_of(value: object) -> str:
    return " ".join(shown(value).words)


def test_records_are_a_table_of_features():
    tags = shown(pr.Records.of(PAYLOADS))
    assert tags.seen.count("tr") == 9
    assert tags.seen.count("img") == 8
    assert "50 records" in tags.text
    assert "and 42 more records" in tags.text
    assert "<script>alert(1)" in tags.text


def test_pictures_are_small_and_in_the_page():
    html = pr.Records.of(PAYLOADS)._repr_html_()
    sources = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    assert {base64.b64decode(source) for source in sources} == {png(8, 8)}


def test_other_payloads_and_feature_lists_are_shown_too():
    sequence = pr.encode_sequence_example({"id": 1}, {"frames": [png(8, 8), b"x"], "empty": []})
    tags = shown(pr.Records.of([sequence, b"junk", b"", b"\xff" * 9]))
    assert "2 steps" in tags.text
    assert "junk" in tags.text
    assert "binary, 9 bytes" in tags.text
    assert tags.seen.count("img") == 1


@pytest.mark.parametrize(
    "values", [[], [b""], [b"\x00" * 100_000_000]], ids=["none", "an empty one", "a large one"]
)
def test_records_of_any_size_are_shown(values):
    assert "Records" in shown(pr.Records.of(values)).text


def test_a_record_file_is_shown_by_its_beginning(path):
    tags = shown(pr.RecordFile([path] * 1000))
    assert "1,000 files" in tags.text
    assert "and 999 more files" in tags.text
    assert tags.seen.count("img") == 8


def test_showing_a_record_file_builds_no_index(path, monkeypatch):
    monkeypatch.setattr("purerecord.container.record_file.build_index", None)
    assert "records" not in text_of(pr.RecordFile(path)).partition("file")[0]


def test_a_record_file_tells_its_length_if_that_is_known(path):
    file = pr.RecordFile(path)
    assert len(file) == 50
    assert "50 records in 1 file" in text_of(file)
    assert "3 records in 1 file" in text_of(file[[7, 9, 11]])
    assert " 7 " in f" {text_of(file[7:8])} "


def test_damage_is_shown_instead_of_records(tmp_path, path):
    Path(path).write_bytes(flip_byte(frames(PAYLOADS), 20))
    assert "ChecksumError" in text_of(pr.RecordFile(path))
    file = pr.RecordFile(path)
    Path(path).write_bytes(frames(PAYLOADS[:3]) + b"rest of a record")
    text = text_of(file)
    assert "ChecksumError" in text
    assert "bytes 2 0.0, 1.0" in text
    Path(path).unlink()
    assert "FileNotFoundError" in text_of(file)


def test_ragged_rows_say_what_is_missing():
    rows = pr.decode_examples(
        [pr.encode_example(x) for x in ({"a": [1, 2]}, {}, {"a": []}, {"a": range(99)})]
    )["a"]
    text = text_of(rows)
    assert "1, 2" in text
    assert "missing" in text
    assert "without a type" in text
    assert "… 99 values" in text
    assert "<Ragged" in text_of(pr.Ragged(rows, [0, 1, 4]))
    assert "(0, None) int64" in text_of(pr.Ragged(np.zeros(0, np.int64), [0]))
    assert shown(pr.Ragged.from_rows([[png(8, 8), HOSTILE.encode()]])).seen.count("img") == 1


def test_sparse_values_have_their_indices():
    sparse = pr.Sparse([[n, n] for n in range(20)], np.arange(20), (30, 40))
    text = text_of(sparse)
    assert "(30, 40) int64, 20 values" in text
    assert "7, 7 7" in text
    assert "and 12 more values" in text


def test_a_dataset_is_its_chain_and_nothing_is_read(path, monkeypatch):
    dataset = pr.TFRecordDataset([path] * 5).shuffle(10, seed=1).batch(4).parse({HOSTILE: "bytes"})
    iterator = iter(dataset)
    first = next(iterator)
    monkeypatch.setattr("builtins.open", None)
    tags = shown(dataset)
    assert tags.seen.count("tr") == 4
    assert "and 4 more files" in tags.text
    assert "shuffle(10" in tags.text
    monkeypatch.undo()
    assert len(first[HOSTILE]) == 4
    assert sum(len(batch[HOSTILE]) for batch in iterator) == 246
    assert "range" in text_of(pr.Dataset.range(9))


def test_reports_are_tables(tmp_path, path):
    damaged = tmp_path / HOSTILE.replace("/", "")
    damaged.write_bytes(flip_byte(frames(PAYLOADS), 20))
    report = pr.validate([path, str(damaged)])
    text = text_of(report)
    assert text.index("1 record lost") < text.index("none")
    assert "saved and verified" in text_of(pr.salvage(damaged, tmp_path / "repaired"))
    assert "and 10 more files" in text_of(pr.validate([path] * 30))


def test_reports_of_tools_are_tables(tmp_path, path):
    done = tools.reshard(path, tmp_path / "new@4")
    assert "read 50" in text_of(done)
    assert "and 10 more" not in text_of(done)
    converted = tools.convert(path, tmp_path / "new.jsonl")
    assert "jsonl" in text_of(converted)
    assert "50" in text_of(tools.count(path))
    assert "image" in text_of(tools.du(path))
    assert "label" in text_of(tools.stats(path))


def test_pictures_are_few(monkeypatch):
    payload = pr.encode_example({f"image/{n}": png(8, 8) for n in range(60)})
    assert shown(pr.Records.of([payload] * 9)).seen.count("img") == notebook._PICTURES


@pytest.mark.parametrize(
    "data",
    [
        png(100_000, 100_000),  # a bomb: ten billion pixels
        png(8, 8)[:20],
        b"\xff\xd8\xff" + bytes(100),
        b"GIF89a",
        b"RIFF....WEBP",
    ],
    ids=["bomb", "cut", "JPEG", "GIF", "WebP"],
)
def test_broken_pictures_and_bombs_are_only_named(data):
    tags = shown(pr.Records.of([pr.encode_example({"image": data})]))
    assert "img" not in tags.seen
    assert re.search(r"(PNG|JPEG|GIF|WebP), [\d.]+ k?B?", tags.text)


def test_without_pillow_large_pictures_are_shown_as_they_are(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    large = png(2000, 1000)
    assert shown(pr.Records.of([pr.encode_example({"image": large})])).seen.count("img") == 1
    huge = large + bytes(notebook._PICTURE_BYTES)
    assert "img" not in shown(pr.Records.of([pr.encode_example({"image": huge})])).seen


def test_whatever_goes_wrong_is_shown():
    class Broken:
        path = None
        nbytes = 1

        def __len__(self) -> int:
            raise RuntimeError(HOSTILE)

    html = notebook.show_records(Broken())
    assert "RuntimeError: &lt;script&gt;" in html


def test_the_repr_of_many_files_is_short(path):
    assert len(repr(pr.RecordFile([path] * 1000))) < 1000
