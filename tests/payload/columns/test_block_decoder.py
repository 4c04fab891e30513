"""Block decoder: odd records are taken out until the others can be read, or none are."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import DecodeError, Records
from purerecord.payload.columns.block_decoder import BlockDecoder
from purerecord.payload.columns.located import NeedsRowDecoder
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.wire import decode_features


def decoder(number: int = 10) -> BlockDecoder:
    return BlockDecoder(Records.of([b"%d" % k for k in range(number + 5)]), np.arange(5, number + 5))


def test_block_has_the_remaining_records_only():
    block = decoder(3).block()
    data = bytes(block.buffer)
    found = [data[begin:end] for begin, end in zip(block.begins, block.ends, strict=True)]
    assert found == [b"5", b"6", b"7"]


def test_records_that_need_the_row_decoder_are_taken_out():
    alive = np.arange(10) != 0
    seen = []

    def read(some):
        seen.append(some.tolist())
        odd = np.isin(some, [[3, 4], [9]][len(seen) - 1]) if len(seen) < 3 else np.zeros(1, bool)
        if odd.any():
            raise NeedsRowDecoder(np.flatnonzero(odd))
        return "read"

    assert decoder().read_together(read, alive) == "read"
    assert seen == [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5, 6, 7, 8, 9], [1, 2, 5, 6, 7, 8]]
    assert np.flatnonzero(alive).tolist() == [1, 2, 5, 6, 7, 8]


@pytest.mark.parametrize("attempts", [1, 3])
def test_after_some_attempts_no_record_is_read_together(attempts):
    calls = []

    def read(some):
        calls.append(some.size)
        raise NeedsRowDecoder(np.array([0]))

    alive = np.ones(10, bool)
    with tuned(attempts_per_block=attempts):
        assert decoder().read_together(read, alive) is None
    assert calls == [10, 9, 8][:attempts]
    assert not alive.any()
    assert decoder().read_together(read, alive) is None  # nothing to read
    assert len(calls) == attempts


def test_error_of_a_single_record_says_which_it_is():
    joined = Records.of([b"", b"", b"junk"])
    records = Records(joined.buffer, joined.begins, joined.ends, path="file")
    with pytest.raises(DecodeError) as caught:
        BlockDecoder(records, np.arange(3)).decode_singly(decode_features)
    assert (caught.value.path, caught.value.record) == ("file", 2)
