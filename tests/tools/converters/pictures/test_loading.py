"""Pictures are read in order and in bounded batches; boxes are cut by the documented rule, and counted."""

from __future__ import annotations

import os

import pytest

import purerecord as pr
from purerecord.tools import ConvertReport, convert
from purerecord.tools.converters.job import Job
from purerecord.tools.converters.pictures import loading
from purerecord.tools.converters.pictures.label_map import LabelMap
from purerecord.tools.converters.pictures.picture import Box, Contents, Picture
from purerecord.tools.converters.pictures.styles import DETECTION
from tests.support.interop import interop
from tests.support.picture_folders import jpeg_header, pets, png, save
from tests.support.pictures import drawn, saved


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def loaded(pictures, **options):
    """The records of pictures, and the report."""
    job = Job([], "x", ConvertReport("images", "tfrecord", []), options=options)
    style = DETECTION.of(Contents(boxes=True))
    records = list(loading.records_of(job, pictures, style, LabelMap.of(["a"])))
    return [pr.decode_example(record) for batch in records for record in batch], job.report


@pytest.mark.parametrize("limit", ["_CHUNK_PICTURES", "_CHUNK_BYTES"])
def test_pictures_keep_their_order_in_batches(monkeypatch, limit):
    monkeypatch.setattr(loading, limit, 3 if limit == "_CHUNK_PICTURES" else 200)
    pictures = [Picture(str(save(f"{number}.png", png(number + 1))), f"{number}") for number in range(20)]
    rows, _ = loaded(pictures)
    assert [row["image/width"][0] for row in rows] == list(range(1, 21))


WHOLE = (0, 0, 40, 20)


@pytest.mark.parametrize(
    ("edges", "frame", "kept", "reason"),
    [
        ((10, 5, 30, 15), None, (0.25, 0.25, 0.75, 0.75), None),
        ((0.25, 0.25, 0.75, 0.75), (1, 1), (0.25, 0.25, 0.75, 0.75), None),
        (WHOLE, None, (0, 0, 1, 1), None),
        ((-5, 5, 50, 15), None, (0, 0.25, 1, 0.75), "cut off"),
        ((0, 0, 40.001, 20), None, (0, 0, 1, 1), None),  # rounding
        ((10, 5, 10, 15), None, None, "without area"),
        ((30, 5, 10, 15), None, None, "without area"),
        ((float("nan"), 5, 10, 15), None, None, "without area"),
        ((50, 5, 60, 15), None, None, "outside"),
        ((20, 10, 60, 30), (40, 80), (0.25, 0.25, 0.75, 0.75), "another size"),
    ],
)
def test_boxes_are_kept_cut_or_left_out_by_a_rule_and_counted(edges, frame, kept, reason):
    save("a.jpg", jpeg_header(40, 20))
    box = Box("a", *edges)
    (row,), report = loaded([Picture("a.jpg", "a", boxes=[box], frame=frame)])
    names = [f"image/object/bbox/{edge}" for edge in ("xmin", "ymin", "xmax", "ymax")]
    found = [tuple(row[name].tolist()) for name in names]
    assert found == ([(edge,) for edge in kept] if kept else [()] * 4)
    assert [box.xmin] == [edges[0]] or edges[0] != edges[0]  # the source is not changed
    told = [*report.notes, *report.skipped]
    assert [reason in text for text in told] == ([True] if reason else [])
    assert report.lost == (kept is None)


def test_decoding_finds_what_headers_do_not_tell():
    interop("PIL")
    good = saved(drawn(20, 30), "PNG")
    save("a.png", good)
    save("b.png", good[:300] + bytes(50) + good[350:])
    pictures = [Picture(name, name) for name in ("a.png", "b.png")]
    assert len(loaded(pictures)[0]) == 2
    rows, report = loaded(pictures, check_pictures="decode")
    assert len(rows) == 1
    assert report.skipped["broken pictures"].names[0].startswith("b.png: ")


def test_imagenet_notes_what_its_readers_do_not_expect():
    for number, channels in enumerate((3, 1, 4)):
        save(f"root/n01/{number}.jpg", jpeg_header(channels=channels))
    save("root/n01/3.jpg", png())
    report = convert("root", "a.tfrecord", style="imagenet")
    assert report.records == 4
    (note,) = report.notes
    assert note.endswith("3, first root/n01/1.jpg")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_picture_that_may_not_be_read_is_an_error_of_the_system():
    pets()
    os.chmod("pets/cats/1.png", 0)
    with pytest.raises(PermissionError):
        convert("pets", "a.tfrecord")


def test_an_error_ends_all_threads_and_leaves_no_file(monkeypatch):
    monkeypatch.setattr(loading, "_CHUNK_PICTURES", 1)
    pets(count=20)
    save("pets/cats/3.png", "?")
    with pytest.raises(ValueError, match=r"3\.png"):
        convert("pets", "a.tfrecord", on_broken="raise")
    assert os.listdir() == ["pets"]


def test_progress_counts_pictures_and_their_bytes():
    made = pets()
    done = []
    convert("pets", "a.tfrecord", progress=lambda size, records: done.append((size, records)))
    assert sum(size for size, _ in done) == sum(map(len, made.values()))
    assert sum(count for _, count in done) == len(made)
