"""Located values: inline or in spans, in all records or in those of one kind."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord.payload.columns.located import (
    Inline,
    NeedsRowDecoder,
    RecordBlock,
    Spans,
    check_values,
    read_values,
)
from purerecord.payload.wire import ABSENT, BYTES, FLOAT, INT64, delimited


def spans(kind: int, parts: list[bytes], **more) -> tuple[Spans, RecordBlock]:
    """Spans of these bytes, with something between them, and their block."""
    buffer = b"\xff".join([b"", *parts, b""])
    sizes = np.array([len(part) for part in parts], np.int64)
    begins = np.cumsum(sizes + 1) - sizes
    octets = np.frombuffer(buffer, np.uint8)
    return Spans(kind, begins, sizes, **more), RecordBlock(buffer, octets, begins, begins + sizes)


def plain(values, counts):
    return values.tolist(), counts if isinstance(counts, int) else counts.tolist()


def test_inline_values_are_one_for_each_record():
    inline = Inline(INT64, np.array([5, 6, 7]))
    assert plain(*read_values(inline, None)) == ([5, 6, 7], 1)
    assert plain(*read_values(inline.pick(np.array([2, 0])), None)) == ([7, 5], 1)


def test_values_of_records_of_another_kind_do_not_count():
    kinds = np.array([INT64, ABSENT, INT64], np.int8)
    inline = Inline(INT64, np.array([5, 6, 7]), kinds)
    assert plain(*read_values(inline, None)) == ([5, 7], [1, 0, 1])
    located, block = spans(INT64, [b"\1\2", b"\x80", b""], kinds=kinds)
    assert plain(*read_values(located, block)) == ([1, 2], [2, 0, 0])
    check_values(located, block)
    picked = located.pick(np.array([1, 0]))
    assert plain(*read_values(picked, block)) == ([1, 2], [0, 2])


def test_spans_hold_packed_numbers_or_strings():
    assert plain(*read_values(*spans(INT64, [b"\1", b"\xac\2"]))) == ([1, 300], 1)
    assert plain(*read_values(*spans(INT64, [b"\1\2", b""]))) == ([1, 2], [2, 0])
    assert plain(*read_values(*spans(FLOAT, [bytes(8), bytes(4)]))) == ([0, 0, 0], [2, 1])
    assert plain(*read_values(*spans(BYTES, [b"a", b""]))) == ([b"a", b""], 1)


def test_listed_spans_hold_the_fields_of_a_list():
    lists = [[b"a", b"bc"], [], [b"d" * 300], [b""]]
    parts = [b"".join(delimited(1, value) for value in values) for values in lists]
    located, block = spans(BYTES, parts, listed=True)
    assert plain(*read_values(located, block)) == (
        [value for values in lists for value in values],
        [2, 0, 1, 1],
    )


@pytest.mark.parametrize("odd", [b"\x12\1x", b"\x0a\2x", b"\x0a\1xy", b"\x0a", b"\x0a" + b"\x80" * 5 + b"\0"])
def test_lists_of_another_form_need_the_row_decoder(odd):
    good = delimited(1, b"x")
    parts = [good] * 20
    parts[3], parts[17] = odd, good + odd
    located, block = spans(BYTES, parts, listed=True)
    for function in (read_values, check_values):
        with pytest.raises(NeedsRowDecoder) as caught:
            function(located, block)
        assert caught.value.rows.tolist() == [3, 17]
        kinds = np.where(np.arange(20) == 17, ABSENT, BYTES).astype(np.int8)
        with pytest.raises(NeedsRowDecoder) as caught:
            function(located._replace(kinds=kinds), block)
        assert caught.value.rows.tolist() == [3]


def test_malformed_integers_need_the_row_decoder():
    located, block = spans(INT64, [b"\1\2", b"\1\x80"])
    for function in (read_values, check_values):
        with pytest.raises(NeedsRowDecoder):
            function(located, block)
