"""``Records`` is a sequence of bytes over any kind of buffer."""

from __future__ import annotations

import array
import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import Records
from purerecord.records import Origins

PAYLOADS = st.lists(st.binary(max_size=20), max_size=20)


def spread(payloads: list[bytes], buffer_type=bytes) -> Records:
    """``payloads`` with other bytes between them, as in a file."""
    buffer, begins = b"", []
    for payload in payloads:
        buffer += b"<gap>"
        begins.append(len(buffer))
        buffer += payload
    ends = [begin + len(payload) for begin, payload in zip(begins, payloads, strict=True)]
    return Records(buffer_type(buffer + b"<end>"), begins, ends, path="file", first=7, base=100)


@given(PAYLOADS)
@pytest.mark.parametrize("buffer_type", [bytes, bytearray, memoryview])
def test_it_is_the_sequence_of_its_payloads(buffer_type, payloads):
    records = spread(payloads, buffer_type)
    assert isinstance(records, Sequence)
    assert len(records) == len(payloads)
    assert list(records) == payloads
    assert [records[i] for i in range(len(records))] == payloads
    assert [records[i] for i in range(-len(records), 0)] == payloads
    assert list(reversed(records)) == payloads[::-1]
    assert list(map(bytes, records.views())) == payloads
    assert records == payloads
    assert records == Records.of(payloads)
    assert records.lengths.tolist() == list(map(len, payloads))
    assert records.nbytes == sum(map(len, payloads))
    assert all(type(record) is bytes for record in records)


@given(PAYLOADS, st.slices(20))
def test_slices_are_those_of_a_list(payloads, key):
    assert list(spread(payloads)[key]) == payloads[key]


@given(PAYLOADS, st.integers(-25, 25))
def test_index_out_of_range_is_an_index_error(payloads, index):
    if -len(payloads) <= index < len(payloads):
        assert spread(payloads)[index] == payloads[index]
    else:
        with pytest.raises(IndexError):
            spread(payloads)[index]


WRONG_KEYS = [1.0, "1", None, b"1", (1,), np.True_, ["1"], [1.0], [[1]], [[1], [1, 0]], np.array(["a"])]


@pytest.mark.parametrize("key", WRONG_KEYS, ids=repr)
def test_index_that_is_no_number_is_a_type_error(key):
    with pytest.raises(TypeError):
        spread([b"a", b"b"])[key]


@given(PAYLOADS, st.data())
def test_arrays_of_numbers_and_masks_choose_records(payloads, data):
    count = len(payloads)
    numbers = data.draw(st.lists(st.integers(-count, count - 1), max_size=9)) if count else []
    mask = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    records = Records.of(payloads)
    expected = [payloads[number] for number in numbers]
    unsigned = np.array([number % count for number in numbers], np.uint64)
    for key in (numbers, np.array(numbers, np.int64), np.array(numbers, np.int8), unsigned):
        chosen = records[key]
        assert isinstance(chosen, Records)
        assert list(chosen) == expected
        assert [chosen.origin(i)[1] for i in range(len(chosen))] == unsigned.tolist()
    for key in (mask, np.array(mask, bool)):
        assert list(records[key]) == [
            payload for payload, wanted in zip(payloads, mask, strict=True) if wanted
        ]


def test_numbers_and_masks_that_do_not_fit_are_index_errors():
    records = spread([b"a", b"b", b"c"])
    for key in ([3], np.array([0, -4]), np.array([2**63], np.uint64), [-(2**62)]):
        with pytest.raises(IndexError, match=r"record -?\d+ of 3"):
            records[key]
    for mask in ([True], np.zeros(4, bool), np.zeros(0, bool)):
        with pytest.raises(IndexError, match=r"a mask of \d values for 3 records"):
            records[mask]


def test_slice_knows_its_place_in_the_file_if_it_has_one():
    records = spread([b"a", b"b", b"c", b"d"])
    assert (records[1:3].path, records[1:3].first, records[1:3].base) == ("file", 8, 100)
    assert records[1:][1:].first == 9


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=9), st.data())
def test_every_record_remembers_its_file_its_number_and_its_byte(payloads, data):
    records = spread(payloads)
    numbers = list(range(7, 7 + len(payloads)))
    step = st.sampled_from([None, 1, 2, -1, -3])
    for _ in range(3):
        if data.draw(st.booleans()):
            key = slice(data.draw(st.none() | st.integers(-9, 9)), None, data.draw(step))
            records, numbers = records[key], numbers[key]
        elif numbers:
            picks = data.draw(st.lists(st.integers(-len(numbers), len(numbers) - 1), max_size=5))
            records = records.take(np.array(picks, np.int64))
            numbers = [numbers[pick] for pick in picks]
    records = pickle.loads(pickle.dumps(records))
    places = [records.origin(i) for i in range(len(records))]
    assert [place[:2] for place in places] == [("file", number) for number in numbers]
    begins = spread(payloads).begins
    assert [offset for *_, offset in places] == [100 + begins[number - 7] - 12 for number in numbers]


def test_concat_remembers_the_file_of_each():
    other = Records(b"xy", [0, 1], [1, 2], path="other", first=3)
    together = Records.concat([spread([b"a"]), other[::-1], Records.of([b"n"]), spread([b"b"])])
    assert list(together) == [b"a", b"y", b"x", b"n", b"b"]
    expected = [("file", 7), ("other", 4), ("other", 3), (None, 0), ("file", 7)]
    assert [together.origin(i)[:2] for i in range(5)] == expected
    assert [together[1::2].origin(i)[:2] for i in range(2)] == [("other", 4), (None, 0)]
    nowhere = Records.concat([Records.of([b"a", b"b"]), Records.of([b"c"])])
    assert [nowhere.origin(i) for i in range(3)] == [(None, 0, None), (None, 1, None), (None, 2, None)]


def test_what_offers_records_is_asked_for_them():
    records = spread([b"a"])

    class Offering(list):
        def __records__(self):
            return records

    assert Records.of(Offering([b"x"])) is records


@given(PAYLOADS)
def test_overlapping_and_unordered_ranges_are_fine(payloads):
    records = spread(payloads)
    again = Records(records.buffer, records.begins[::-1], records.ends[::-1])
    assert list(again) == payloads[::-1]
    twice = Records(records.buffer, np.repeat(records.begins, 2), np.repeat(records.ends, 2))
    assert list(twice) == [payload for payload in payloads for _ in range(2)]


@given(PAYLOADS, st.data())
def test_take_and_getitems_keep_the_given_order(payloads, data):
    indices = data.draw(st.lists(st.integers(-len(payloads), len(payloads) - 1)) if payloads else st.just([]))
    records = spread(payloads)
    assert records.__getitems__(indices) == [payloads[i] for i in indices]
    chosen = np.array([i % 2 == 0 for i in range(len(payloads))], bool)
    assert list(records.take(chosen)) == payloads[::2]


@given(st.lists(PAYLOADS, max_size=4))
def test_concat_is_all_of_them(lists):
    expected = [payload for payloads in lists for payload in payloads]
    assert list(Records.concat(map(spread, lists))) == expected


def test_concat_of_one_copies_nothing():
    records = spread([b"a", b"b"])
    assert Records.concat([Records.of([]), records]) is records


@pytest.mark.parametrize(
    "wide",
    [memoryview(np.arange(3, dtype=np.int32)), np.arange(3, dtype=np.int32), array.array("i", range(3))],
    ids=["memoryview", "ndarray", "array"],
)
def test_of_counts_bytes_and_not_items(wide):
    assert list(Records.of([wide, b"ab", bytearray(b"c")])) == [bytes(wide), b"ab", b"c"]


def test_of_gives_records_back_unchanged():
    records = spread([b"a"])
    assert Records.of(records) is records
    assert list(Records.of(iter([b"a", b"b"]))) == [b"a", b"b"]


@pytest.mark.parametrize(
    "wrong", [b"payload", "text", bytearray(b"x"), memoryview(b"x"), ["text"], [1], [None]]
)
def test_of_refuses_one_payload_and_what_is_no_payload(wrong):
    with pytest.raises(TypeError, match="payload"):
        Records.of(wrong)


@pytest.mark.parametrize(
    ("begins", "ends"),
    [([0], [11]), ([-1], [2]), ([3], [2]), ([0, 1], [2]), ([[0]], [[1]]), ([0, 12], [1, 12])],
)
def test_ranges_outside_the_buffer_are_refused(begins, ends):
    with pytest.raises(ValueError, match="begins and ends"):
        Records(bytes(10), begins, ends)


@given(PAYLOADS)
def test_pickle_carries_only_the_bytes_in_use(payloads):
    records = spread(payloads)
    again = pickle.loads(pickle.dumps(records))
    assert again == records
    assert (again.path, again.first) == (records.path, records.first)
    assert len(again.buffer) <= sum(map(len, payloads)) + 5 * max(0, len(payloads) - 1)
    if payloads:
        assert again.base + again.begins[0] == records.base + records.begins[0]


@pytest.mark.parametrize("other", [["zz"], [None], [b"ab"], [], [b"a", b"a"], (b"b",)])
def test_records_differ_from_other_things(other):
    assert Records.of([b"a"]) != other


def test_records_equal_bytes_like_items_and_tuples():
    assert Records.of([b"a", b"b"]) == (bytearray(b"a"), b"b")
    assert Records.of([b"a"]) != b"a"
    with pytest.raises(TypeError):
        hash(Records.of([]))


def test_repr_counts_and_shows_no_payload():
    assert repr(spread([b"secret", b""])) == "<Records: 2 records, 6 bytes, from 'file'>"


def test_views_with_gaps_are_payloads_like_others():
    view = memoryview(b"a-b-c-")[::2]
    assert list(Records.of([b"x", view, bytearray(b"y")])) == [b"x", b"abc", b"y"]


def test_a_buffer_with_gaps_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        Records(memoryview(bytes(10))[::2], [0], [1])


def test_pickle_carries_only_the_names_of_files_in_use():
    paths = tuple(map(str, range(1000)))
    records = Records.of([b"a", b"b", b"c"])
    records.origins = Origins(paths, np.array([7, 5, 7]), np.array([1, 2, 3]))
    together = Records.concat([records, records[1:]])
    assert together.origins.paths is paths
    copy = pickle.loads(pickle.dumps(together))
    assert copy.origins.paths == ("5", "7")
    assert [copy.origin(i)[:2] for i in range(5)] == [("7", 1), ("5", 2), ("7", 3), ("5", 2), ("7", 3)]


def test_a_buffer_that_is_filled_anew_for_each_payload_is_taken_as_it_was():
    buffer = bytearray(2)

    def generate():
        for number in range(5):
            buffer[:] = b"%02d" % number
            yield memoryview(buffer) if number % 2 else buffer

    assert Records.of(generate()) == [b"00", b"01", b"02", b"03", b"04"]


@pytest.mark.parametrize("step", [1, 2, 50])
def test_concat_of_slices_gives_all_their_records(step):
    many = [b"%d" % number * (number % 7) for number in range(300)]
    one, other = Records.of(many), Records.of(many[::-1])
    parts = [one[::step], other[3:200:step], one[::-step], one[:0]]
    assert Records.concat(parts) == [record for part in parts for record in part]
    assert Records.concat([one[:10], one[50:60]]).buffer is one.buffer
    assert Records.concat([]) == []
