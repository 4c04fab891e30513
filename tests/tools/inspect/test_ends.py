"""``head`` and ``tail`` give what a slice of all records gives, and a tail does not read what it need not."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tools
from purerecord.tools.inspect import ends
from tests.support.damage import flip_byte, frames
from tests.support.settings import tries

OPTIONS = {
    "plain": None,
    "gzip": "GZIP",
    "zlib": "ZLIB",
    "blocks": pr.TFRecordOptions("GZIP", block_size=100),
}
PAYLOADS = [b"%d" % n * (n % 7) for n in range(200)]


def written(path, payloads, options=None):
    with pr.TFRecordWriter(path, options) as writer:
        writer.write_many(payloads)
    return path


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("n", [0, 1, 7, 199, 200, 1000])
def test_ends_are_slices_of_all_records(tmp_path, options, n):
    path = written(tmp_path / "file", PAYLOADS, options)
    assert list(tools.head(path, n)) == PAYLOADS[:n]
    assert list(tools.tail(path, n)) == PAYLOADS[len(PAYLOADS) - min(n, 200) :]


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 100])
def test_ends_go_on_in_the_next_file(tmp_path, n):
    paths = [written(tmp_path / f"{place}", [b"%d" % place] * place) for place in (3, 0, 2, 1)]
    every = [b"3"] * 3 + [b"2"] * 2 + [b"1"]
    assert list(tools.head(paths, n)) == every[:n]
    assert list(tools.tail(paths, n)) == every[max(0, 6 - n) :]


@settings(max_examples=tries(60))
@given(st.lists(st.binary(max_size=300), max_size=40), st.integers(1, 45), st.integers(1, 3000))
def test_a_tail_is_found_whatever_the_window(tmp_path_factory, payloads, n, window):
    path = tmp_path_factory.mktemp("tail") / "file"
    path.write_bytes(frames(payloads))
    before, ends._FIRST_WINDOW = ends._FIRST_WINDOW, window
    try:
        assert list(tools.tail(path, n)) == payloads[-n:]
    finally:
        ends._FIRST_WINDOW = before


def test_a_tail_is_not_misled_by_a_tfrecord_inside_a_record(tmp_path):
    inner = frames([b"inner"] * 50)
    payloads = [b"first", inner, b"x" + inner, inner + b"x" * 13]
    path = written(tmp_path / "nested", payloads)
    for n in (1, 2, 3, 4):
        assert list(tools.tail(path, n)) == payloads[-n:]


def test_a_tail_says_where_its_records_are(tmp_path):
    path = str(written(tmp_path / "file", PAYLOADS))
    found = tools.tail(path, 2)
    assert [found.origin(place)[:2] for place in (0, 1)] == [(path, -2), (path, -1)]


def test_a_tail_of_a_plain_file_does_not_read_its_beginning(tmp_path, monkeypatch):
    monkeypatch.setattr(ends, "_FIRST_WINDOW", 100)
    path = tmp_path / "damaged"
    path.write_bytes(flip_byte(frames(PAYLOADS), 20))
    assert list(tools.tail(path, 3)) == PAYLOADS[-3:]
    with pytest.raises(pr.ChecksumError):
        tools.tail(path, 199)


def test_a_cut_file_is_an_error_unless_damage_is_skipped(tmp_path):
    path = tmp_path / "cut"
    path.write_bytes(frames(PAYLOADS)[:-1])
    with pytest.raises(pr.TruncatedError):
        tools.tail(path, 1)
    damages = []
    assert list(ends.tail_of(str(path), 2, "auto", damages.append)) == PAYLOADS[-3:-1]
    assert len(damages) == 1


def test_streams_have_ends_too():
    data = frames(PAYLOADS)
    assert list(tools.head(io.BytesIO(data), 2)) == PAYLOADS[:2]
    assert list(tools.tail(io.BytesIO(data), 2)) == PAYLOADS[-2:]


@pytest.mark.parametrize("function", [tools.head, tools.tail])
def test_a_negative_number_is_refused(function, tmp_path):
    with pytest.raises(ValueError, match="not -1"):
        function(written(tmp_path / "file", PAYLOADS), -1)
