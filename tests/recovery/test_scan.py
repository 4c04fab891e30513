"""``scan``: which bytes are damage, of which kind, and which frames follow it."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import Damage, Frame, read_records, scan
from purerecord.container import resync
from tests.support.damage import (
    OVERHEAD,
    cut,
    delete,
    fix_crc,
    flip_bit,
    flip_byte,
    frame,
    frames,
    header,
    insert,
    set_length,
    starts,
    swap,
    zero,
)
from tests.support.settings import tries
from tests.support.small_buffers import buffers

RANDOM = random.Random(7)
PAYLOADS = [RANDOM.randbytes(100 + 7 * i) for i in range(20)]
EDGES = starts(PAYLOADS)
WHOLE_FRAMES = {end - begin for begin in EDGES for end in EDGES if begin < end}
CLEAN = frames(PAYLOADS)


def found(data: bytes, **options) -> list[Frame | Damage]:
    return list(scan(io.BytesIO(data), **options))


def damages(data: bytes, **options) -> list[Damage]:
    return [item for item in found(data, **options) if isinstance(item, Damage)]


def told(data: bytes, **options) -> list[tuple[int, int, str, int | None]]:
    return [(d.begin, d.end, d.kind, d.records) for d in damages(data, **options)]


def test_sound_file_is_frames_and_nothing_else():
    assert found(CLEAN) == [Frame(EDGES[i], len(PAYLOADS[i]), i, False) for i in range(20)]


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0), zlib.compress(b"")])
def test_empty_file_is_nothing(data):
    assert found(data) == []


KINDS = [
    ("flipped bit in a payload", flip_byte(CLEAN, EDGES[3] + 40), [(3, 4, "bad data checksum", 1)]),
    ("flipped bit in a footer", flip_byte(CLEAN, EDGES[4] - 2), [(3, 4, "bad data checksum", 1)]),
    (
        "header and payload damaged",
        flip_byte(flip_byte(CLEAN, EDGES[3] + 9), EDGES[3] + 40),
        [(3, 4, "bad length checksum", 1)],
    ),
    ("cut in a header", cut(CLEAN, EDGES[19] + 5), [(19, EDGES[19] + 5, "truncated header", None)]),
    ("cut in a payload", cut(CLEAN, EDGES[19] + 50), [(19, EDGES[19] + 50, "truncated payload", None)]),
    ("cut in a footer", cut(CLEAN, EDGES[20] - 2), [(19, EDGES[20] - 2, "truncated footer", None)]),
    (
        "garbage between frames",
        insert(CLEAN, EDGES[5], b"\r\n" * 20),
        [(5, EDGES[5] + 40, "garbage", None)],
    ),
    ("garbage at the end", CLEAN + b"<html>" * 9, [(20, EDGES[20] + 54, "trailing garbage", None)]),
    (
        "absurd length",
        fix_crc(set_length(CLEAN, EDGES[3], 1 << 40), EDGES[3]),
        [(3, 4, "bad data checksum", None)],
    ),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])
def test_damage_has_its_kind_and_its_place(data, expected):
    edge = [*EDGES, len(data)]

    def offset(place: int) -> int:
        return edge[place] if place <= 20 else place

    assert told(data) == [(offset(b), offset(e), kind, records) for b, e, kind, records in expected]


@st.composite
def damage_that_shows(draw: st.DrawFn) -> bytes:
    """``CLEAN`` after one change whose ends both lie inside of frames, where it leaves a trace."""
    inside = st.integers(0, len(CLEAN) - 1).filter(lambda at: at not in EDGES)
    # If exactly as many bytes as whole frames have are missing, this looks like damage to one frame.
    spans = st.tuples(inside, inside).map(sorted).filter(lambda span: span[1] - span[0] not in WHOLE_FRAMES)
    begin, end = draw(spans)
    return draw(
        st.sampled_from(
            [
                flip_byte(CLEAN, begin),
                cut(CLEAN, begin),
                delete(CLEAN, begin, end),
                zero(CLEAN, begin, end),
                insert(CLEAN, begin, RANDOM.randbytes(40)),
                CLEAN[:begin] + RANDOM.randbytes(end - begin) + CLEAN[end:],
            ]
        )
    )


@given(damage_that_shows())
@settings(max_examples=tries(300), deadline=None)
def test_number_of_lost_records_is_the_true_one_or_unknown(data):
    whole = found(data)
    lost = [item.records for item in whole if isinstance(item, Damage)]
    assert None in lost or sum(lost) == len(PAYLOADS) - sum(isinstance(item, Frame) for item in whole)


def test_lost_block_is_named_by_its_zeros():
    data = zero(CLEAN, EDGES[4] + 50, EDGES[9] + 20)
    assert {damage.kind for damage in damages(data)} <= {"zeros", "bad data checksum"}
    assert "zeros" in {damage.kind for damage in damages(data)}
    assert [data[f.offset + 12 :][: f.length] for f in found(data) if isinstance(f, Frame)] == [
        *PAYLOADS[:4],
        *PAYLOADS[10:],
    ]


def test_payload_whose_header_alone_is_damaged_is_recovered():
    for bit in range(96):
        data = flip_bit(CLEAN, EDGES[3] * 8 + bit)
        assert told(data) == [(EDGES[3], EDGES[3] + 12, "bad length checksum", 0)]
        assert list(read_records(io.BytesIO(data), on_error="skip")) == PAYLOADS
        again = [item for item in found(data) if isinstance(item, Frame)]
        assert again[3] == Frame(EDGES[3], len(PAYLOADS[3]), 3, True)


def test_frame_found_by_search_is_marked():
    data = insert(CLEAN, EDGES[5], b"?" * 100)
    marked = [item for item in found(data) if isinstance(item, Frame) and item.searched]
    assert marked == [Frame(EDGES[5] + 100, len(PAYLOADS[5]), 5, True)]


def test_bytes_missing_from_a_payload_do_not_cost_the_next_record():
    for count in range(1, 150):
        data = delete(CLEAN, EDGES[5] + 20, EDGES[5] + 20 + count)
        kept = [f.index for f in found(data) if isinstance(f, Frame)]
        assert len(kept) == 19 - (count > EDGES[6] - EDGES[5] - 20), count


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git-LFS"),
        (b"<!DOCTYPE html><html><body>404 Not Found</body></html>", "HTML"),
        (b"PK\x03\x04" + bytes(range(200)), "zip"),
        (b"label,name\n1,cat\n2,dog\n" * 5, "text"),
        (b"PAR1" + bytes(range(100)), "Parquet"),
    ],
)
def test_what_is_no_tfrecord_is_named(data, what):
    (damage,) = damages(data)
    assert (damage.begin, damage.end, damage.kind) == (0, len(data), "not a TFRecord")
    assert what in damage.detail


def test_wrong_compression_is_damage_from_the_first_byte():
    assert told(CLEAN, compression="GZIP")[0][2] == "broken compression"
    assert told(gzip.compress(CLEAN), compression="") == [
        (0, len(gzip.compress(CLEAN)), "not a TFRecord", None)
    ]
    assert "gzip" in damages(gzip.compress(CLEAN), compression="")[0].detail


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_all_before_a_cut_in_a_compressed_file_is_recovered(compress):
    data = compress(CLEAN)
    for size in range(30, len(data), 97):
        items = found(cut(data, size))
        assert isinstance(items[-1], Damage)
        assert items[-1].kind == "broken compression"
        kept = [item.index for item in items if isinstance(item, Frame)]
        assert kept == list(range(len(kept)))
        assert len(kept) >= 20 * (size - 400) // len(data)


def test_all_behind_a_broken_member_of_a_gzip_file_is_recovered():
    members = [gzip.compress(frames(PAYLOADS[i : i + 5])) for i in range(0, 20, 5)]
    data = b"".join(members)
    broken = flip_byte(data, len(members[0]) + 300)
    assert any(damage.kind == "broken compression" for damage in damages(broken))
    kept = list(read_records(io.BytesIO(broken), on_error="skip"))
    assert kept[:5] == PAYLOADS[:5]
    assert kept[-10:] == PAYLOADS[10:]


def test_swapped_blocks_cost_only_what_they_cut():
    data = swap(CLEAN, (EDGES[2] + 50, EDGES[4] + 50), (EDGES[10] + 30, EDGES[12] + 10))
    kept = list(read_records(io.BytesIO(data), on_error="skip"))
    assert set(kept) >= {payload for i, payload in enumerate(PAYLOADS) if i not in (2, 4, 10, 12)}
    assert set(kept) <= set(PAYLOADS)


def test_length_that_runs_over_the_end_does_not_hide_the_frames_behind_it():
    data = frames(PAYLOADS[:3]) + header(10**6) + b"x" * 50 + frames(PAYLOADS[3:])
    assert list(read_records(io.BytesIO(data), on_error="skip")) == PAYLOADS
    ((begin, end, kind, _),) = told(data)
    assert (begin, end, kind) == (EDGES[3], EDGES[3] + 62, "bad data checksum")


def test_frames_can_be_pickled():
    assert pickle.loads(pickle.dumps(found(CLEAN))) == found(CLEAN)


def test_frame_of_no_bytes_is_a_frame():
    assert found(frame(b"") * 3) == [Frame(i * OVERHEAD, 0, i, False) for i in range(3)]


def test_damage_everywhere_is_passed_in_linear_time(monkeypatch):
    looked_at = []
    plausible = resync._plausible
    monkeypatch.setattr(
        resync, "_plausible", lambda data, *more: looked_at.append(len(data)) or plausible(data, *more)
    )
    totals = []
    for number in (150, 300, 600):
        data = bytearray(frames([RANDOM.randbytes(20) for _ in range(number)]))
        for at in range(0, len(data), 2 * 36):
            data[at + 9] ^= 0xFF
            data[at + 20] ^= 0xFF
        with buffers(_FULL_LOOKAHEADS=10, _LOOKAHEAD=1 << 14):
            assert len(damages(bytes(data))) == number // 2
        totals.append(sum(looked_at))
        looked_at.clear()
    assert totals[2] - totals[1] < 2.5 * (totals[1] - totals[0])


# A TFRecord inside a payload


INNER = [b"inner" * (i + 1) for i in range(6)]
OUTER = [b"first", b"before" + frames(INNER) + b"behind", b"last"]


@pytest.mark.parametrize("at", range(12))
def test_nested_file_is_not_mistaken_when_the_header_around_it_is_damaged(at):
    data = flip_byte(frames(OUTER), starts(OUTER)[1] + at)
    assert list(read_records(io.BytesIO(data), on_error="skip")) == OUTER


@pytest.mark.parametrize("payload", [OUTER[1], frames(INNER), frames(INNER * 100) + b"behind"])
@pytest.mark.parametrize("before", [[], [b"first"]])
def test_nested_file_is_not_mistaken_in_the_last_record(tmp_path, payload, before):
    data = flip_byte(frames([*before, payload]), starts(before)[-1] + 3)
    (tmp_path / "last").write_bytes(data)
    for source in (io.BytesIO(data), tmp_path / "last"):
        assert list(read_records(source, on_error="skip")) == [*before, payload]


def test_nested_file_is_not_mistaken_when_the_payload_around_it_is_damaged():
    data = frames(OUTER)
    begin, end = starts(OUTER)[1:3]
    for at in range(begin + 12, end):
        kept = list(read_records(io.BytesIO(flip_byte(data, at)), on_error="skip"))
        assert kept == [OUTER[0], OUTER[2]]


def test_nested_file_is_not_mistaken_when_bytes_come_or_go_before_it():
    data = frames([b"first", b"x" * 50 + frames(INNER) + b"12345678", b"last" * 30])
    begin = starts(OUTER)[1] + 12
    for changed in (insert(data, begin + 10, b"new"), delete(data, begin + 10, begin + 13)):
        assert list(read_records(io.BytesIO(changed), on_error="skip")) == [b"first", b"last" * 30]


def test_eight_byte_payload_that_looks_like_a_header_does_no_harm():
    payloads = [number.to_bytes(8, "little") for number in (3, 5000, 1 << 30, 1 << 60, 77)] * 50
    data = frames(payloads)
    for at in range(0, 24 * 40, 7):
        kept = list(read_records(io.BytesIO(delete(data, at, at + 12)), on_error="skip"))
        assert len(kept) >= len(payloads) - 2
