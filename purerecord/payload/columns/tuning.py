"""The tuning of the column decoder: every number that chooses between its paths, and a switch for each path.

None of these changes a result. They decide how many records take which path, and so only the speed. Each
names the rows of ``python -m benchmarks`` that it serves: measure those before and after a change.
Modules read ``tuning.current`` once per call, never per entry. Tests replace it with ``tuned``.
Numbers of the wire format (tags, sizes of headers) are not tuning. This module knows no other module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

EVERY = ("tab", "ctr", "emb", "img", "shuf", "shuf40", "wide", "wide3", "seq")
_EXAMPLES = EVERY[:-1]
_SHUFFLED = ("shuf", "shuf40")
_WIDE = ("wide", "wide3")


def _number(value: int, *rows: str) -> int:
    """A number, and the benchmark rows that it serves."""
    return field(default=value, metadata={"rows": rows})


def _switch(*rows: str, needs: tuple[str, ...] = ()) -> bool:
    """A path that is on, the benchmark rows that it serves, and the switches that it depends on."""
    return field(default=True, metadata={"rows": rows, "needs": needs})


@dataclass(frozen=True, eq=False)
class Tuning:
    """All switches and numbers. Two tunings are equal only if they are the same object, so caches that
    depend on a tuning can use it as a key at no cost."""

    # --- Switches -----------------------------------------------------------------------------------

    # Decode the records that have the layout of a sample record, entry by entry in that order.
    same_layout: bool = _switch("tab", "ctr", "emb", "img", "wide", "wide3", "seq")
    # Try the layouts of earlier batches first, which saves reading sample records.
    remembered_layouts: bool = _switch(*EVERY, needs=("same_layout", "any_order"))
    # Decode records whose known features come in any order, or are missing.
    any_order: bool = _switch(*_SHUFFLED)
    # In any order: find the entries without a check per entry if all records have equally many short ones.
    equal_entry_counts: bool = _switch(*_SHUFFLED, needs=("any_order",))
    # Compare the headers of short entries with a template, word by word; else they are read as long ones.
    short_entries: bool = _switch("tab", "ctr", "shuf", "shuf40", "wide", "wide3")
    # Read entries of one float as a part of the header of the next short entry.
    one_float_segments: bool = _switch("ctr", "wide", "wide3", needs=("same_layout", "short_entries"))
    # Check all the headers of a record side by side where a layout has very many short entries.
    wide_layout: bool = _switch(*_WIDE, needs=("same_layout", "short_entries"))
    # Look up what the header of a long entry must be by its size, instead of reading field by field.
    long_entry_table: bool = _switch("emb", "img")
    # Derive the length of all Features messages from the record sizes, instead of reading them.
    derived_message_lengths: bool = _switch("tab", "ctr", "shuf")
    # Decode spans of one integer each as single varints. The rows only pay for the attempt: it serves
    # integers of nine and ten bytes (64-bit hashes, negative numbers), which are not decoded inline.
    single_integers: bool = _switch("emb", "img")
    # Make short strings from rows of equal width, instead of one slice per string.
    short_strings: bool = _switch("tab", "shuf", "img")
    # SequenceExamples: decode the feature lists of many records together.
    sequences: bool = _switch("seq")
    # Read the next feature list of all records at once if all have the same key.
    uniform_list_keys: bool = _switch("seq", needs=("sequences",))
    # Compute where steps are if all look like the first one, except for their values.
    uniform_steps: bool = _switch("seq", needs=("sequences",))
    # Compare the headers of short steps with one word, instead of reading them field by field.
    short_steps: bool = _switch("seq", needs=("sequences",))
    # In small batches, find short steps by their tags, instead of from length to length.
    scan_of_steps: bool = _switch("seq", needs=("sequences", "short_steps"))

    # --- Numbers: batches ---------------------------------------------------------------------------

    # Records that are decoded together. With more, the columns of a block leave the cache.
    records_per_block: int = _number(8192, *EVERY)
    # Fewer Examples than this cost less one by one.
    least_examples: int = _number(4, *_EXAMPLES)
    # Fewer SequenceExamples than this cost less one by one.
    least_sequences: int = _number(16, "seq")
    # How often a block is tried, each time without the records that turned out to need the row decoder. After
    # that, the rest of the block tries the next path.
    attempts_per_block: int = _number(3, *EVERY)
    # Layouts of earlier batches that are remembered.
    layouts_kept: int = _number(8, *EVERY)
    # Entries, of all records together, that are handled in one pass. With more, their words leave the cache.
    entries_per_pass: int = _number(1 << 15, *_EXAMPLES)
    # Where the records of two parts alternate, values are copied one by one, unless a run has this many.
    values_per_copied_run: int = _number(64, *EVERY)

    # --- Numbers: layouts ---------------------------------------------------------------------------

    # Bytes of a key. Records with a longer one take the row decoder. At most 0x7f - 8, for short entries.
    longest_key: int = _number(100, *_EXAMPLES)
    # Entries of a record. Records with more take the row decoder.
    most_entries: int = _number(4096, *_WIDE)
    # Up to this many segments, a single run costs less than several of a better fitting word depth.
    segments_in_one_run: int = _number(6, "tab", "shuf")
    # Bytes of a segment's header. A longer one takes as long as two.
    longest_segment: int = _number(112, "ctr", "wide")
    # From this many entries on, a layout is wide.
    least_entries_of_wide_layout: int = _number(64, *_WIDE)
    # In a wide layout, a run of fewer segments is read segment by segment.
    least_segments_of_wide_run: int = _number(16, *_WIDE)
    # Elements between the rows of a matrix that is filled by columns. Rows at a distance of a power of two
    # share the same cache sets, and evict each other.
    padding_of_rows: int = _number(64, *_WIDE)

    # --- Numbers: any order -------------------------------------------------------------------------

    # How often the rest of a block is searched, each time with the features of one more of its records.
    searches_per_block: int = _number(2, *_SHUFFLED)
    # How often a search starts again because a record has features that were unknown.
    strangers_per_search: int = _number(8, *_SHUFFLED)
    # Known features. With more, the key table would be too large. At most 2**15.
    most_features: int = _number(1024, "shuf40")
    # Known features per feature that a record has, on average. With more, most cells would be empty.
    most_features_per_entry: int = _number(16, "shuf40")
    # Bytes of records that are searched together, so that they stay in the cache.
    bytes_per_tile: int = _number(1 << 20, "shuf40")
    # A tile has at least this many records.
    least_records_of_tile: int = _number(8, "shuf40")
    # Bytes of an entry that the key table hashes. If these do not tell all keys apart, it hashes whole words.
    hashed_key_bytes: int = _number(3, *_SHUFFLED)
    # The places in a key, best first, among which these bytes are chosen.
    candidate_key_bytes: int = _number(8, *_SHUFFLED)
    # Random factors of the hash that are tried. For ordinary keys a few are enough.
    hash_factors_tried: int = _number(1000, *_SHUFFLED)

    # --- Numbers: values ----------------------------------------------------------------------------

    # Spans that are tried as single integers before all are.
    sampled_spans: int = _number(32, "emb", "img")
    # Bytes of integer lists that are decoded together, so that their scratch arrays stay in the cache.
    bytes_of_integers_per_pass: int = _number(1 << 17, "emb")
    # Mean bytes of integer lists from which on they are joined one by one. Shorter ones are copied together,
    least_bytes_of_joined_list: int = _number(128, "emb")
    # in pieces of this many bytes.
    bytes_per_list_piece: int = _number(64, "emb")
    # If less than one varint in this many has five bytes or more, the long ones are decoded separately.
    rare_long_varints: int = _number(4, "emb")
    # Bytes of a string up to which two copies of it cost less than a slice.
    longest_short_string: int = _number(256, "tab", "shuf", "img")
    # Bytes of the rows that short strings are copied into at a time.
    bytes_of_string_rows: int = _number(1 << 20, "tab", "shuf")

    # --- Numbers: walking along fields, and SequenceExamples ----------------------------------------

    # Lists or records. A step for fewer of them costs as much as the row decoder does.
    least_lists_per_step: int = _number(8, "seq")
    # Steps of a walk before it looks which lists have ended.
    steps_between_checks: int = _number(8, "seq")
    # Names that only few records have. With more, the row decoder is faster,
    most_rare_names: int = _number(64, "seq")
    # and so it is where each entry has been compared with this many names.
    most_names_per_entry: int = _number(64, "seq")
    # One list of this many may take the row decoder. If there are more, a slower path reads all of them.
    lists_per_exception: int = _number(64, "seq")
    # One short step of this many may be something else, in each pass.
    steps_per_exception: int = _number(8, "seq")
    # Bytes of a step's header. Longer ones are no uniform steps.
    longest_step_header: int = _number(16, "seq")
    # Steps that are read together, so that their words stay in the cache.
    steps_per_pass: int = _number(1 << 14, "seq")
    # Lists that are scanned for steps. In more of them, walking is faster,
    most_scanned_lists: int = _number(1024, "seq")
    # and so it is if the scan reads more bytes than this many times those of the lists,
    most_scanned_per_byte: int = _number(3, "seq")
    # or more than this.
    most_scanned_bytes: int = _number(1 << 22, "seq")


current = Tuning()

SWITCHES = tuple(field.name for field in fields(Tuning) if "needs" in field.metadata)


@contextmanager
def tuned(**changes: Any) -> Iterator[Tuning]:
    """Replaces ``current`` while the context is open. For tests and measurements: all threads see it."""
    global current  # noqa: PLW0603 - the one place that changes it
    before = current
    current = replace(before, **changes)
    try:
        yield current
    finally:
        current = before
