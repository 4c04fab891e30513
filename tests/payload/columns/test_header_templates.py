"""Header templates: the words of a run, and the parts of a layout."""

from __future__ import annotations

from itertools import chain
from random import Random

import numpy as np

from purerecord.payload.columns.header_templates import Run, group_by_depth, layout_of, template_of
from purerecord.payload.columns.outline import (
    Entry,
    outline,
)
from purerecord.payload.columns.tuning import Tuning
from purerecord.payload.wire import BYTES, FLOAT, INT64, delimited
from tests.support import handmade_messages as messages
from tests.support.column_batches import NAMES, batch

DEFAULT = Tuning()


def test_words_of_a_run_are_the_headers_of_its_segments():
    one, two = Entry(b"feature", FLOAT, True, True), Entry(b"x", INT64, True, False)
    run = Run(((one, two), (two,)))
    for size in (1, 5, 10):
        values = b"\x80" * (size - 1) + b"\x05"
        second = messages.entry("x", delimited(3, delimited(1, values)))
        first = messages.entry("feature", messages.floats(1.5)) + second
        for k, octets in enumerate((first, second)):
            header = octets[: len(octets) - size]
            assert len(header) == run.sizes[k]
            words = np.frombuffer(header.rjust(8 * run.depth, b"\xff"), "<u8")
            masks, lanes = run.masks[:, k, 0], run.lanes[:, k, 0] * np.uint64(size)
            assert ((words - run.expected[:-1, k, 0] - lanes) & masks == 0).all()


def test_layout_has_every_entry_once_and_in_order():
    for seed in range(50):
        random = Random(seed)
        (payload,) = batch(random, 1, usual=seed % 2 == 0)
        entries = outline(payload)
        found = []
        for part in layout_of(entries).parts:
            if isinstance(part, Entry):
                assert not part.short
                found.append(part)
            else:
                for segment in part.segments:
                    assert all(entry.short for entry in segment)
                    assert all(entry.one_float for entry in segment[:-1])
                    found += segment
        assert tuple(found) == entries


def test_groups_by_depth_have_all_entries_of_one_depth_together():
    entries = [Entry(name.encode(), BYTES, True, False) for name in NAMES]
    groups = group_by_depth(entries, DEFAULT)
    assert sorted(chain.from_iterable(groups)) == sorted(entries)
    depths = [{-(-(len(entry.key) + 10) // 8) for entry in group} for group in groups]
    assert all(len(depth) == 1 for depth in depths)
    assert len(set(map(tuple, depths))) == len(groups)


def test_header_is_its_template_and_the_lanes():
    segment = (Entry(b"id", INT64, True, False),)
    assert template_of(segment, 0) == bytes.fromhex("0a 0a 0a 02 69 64 12 04 1a 02 0a 00")
    assert messages.example([("id", messages.ints(5))])[2:-1] == template_of(segment, 1)
    run = Run((segment,))
    lanes = bytes.fromhex("00 01 00 00 00 00 00 01 00 01 00 01").rjust(16, b"\0")
    assert run.lanes[:, 0, 0].tobytes() == lanes
