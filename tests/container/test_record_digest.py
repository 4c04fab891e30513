"""``RecordDigest``: the same for the same records in the same order, however they were written."""

from __future__ import annotations

import hashlib

import pytest

from purerecord import Records, TFRecordOptions, TFRecordWriter
from purerecord.container.frames import crcs_of
from purerecord.container.record_digest import RecordDigest
from tests.support.damage import masked

PAYLOADS = [b"", b"one", b"two" * 3000, b"three"]
EXPECTED = "sha256:" + hashlib.sha256(b"".join(masked(p).to_bytes(4, "little") for p in PAYLOADS)).hexdigest()


def of(crcs):
    digest = RecordDigest()
    for some in crcs:
        digest.add(some)
    return digest


@pytest.mark.parametrize("payloads", [PAYLOADS, Records.of(PAYLOADS)])
def test_it_is_the_hash_of_the_stored_crcs(payloads):
    digest = of([crcs_of(payloads)])
    assert str(digest) == EXPECTED
    assert digest.records == 4


def test_it_does_not_depend_on_how_many_come_at_once():
    assert str(of(crcs_of([payload]) for payload in PAYLOADS)) == EXPECTED


def test_the_order_counts():
    assert str(of([crcs_of(PAYLOADS[::-1])])) != EXPECTED


@pytest.mark.parametrize(
    "options", [None, "GZIP", TFRecordOptions("GZIP", block_size=100), TFRecordOptions("ZLIB", flush_mode=2)]
)
@pytest.mark.parametrize("records", [PAYLOADS, Records.of(PAYLOADS)])
def test_a_writer_tells_it_what_it_writes(tmp_path, options, records):
    with TFRecordWriter(tmp_path / "file", options) as writer:
        writer.digest = RecordDigest()
        writer.write(records[0])
        writer.write_many(records[1:3])
        writer.write_many(iter(records[3:]))
    assert str(writer.digest) == EXPECTED
