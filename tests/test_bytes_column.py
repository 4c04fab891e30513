"""``BytesColumn`` behaves as the list of its strings, whatever lies between them in its buffer."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import BytesColumn, Records
from purerecord.bytes_column import _JOINED_COUNT, chosen_numbers

STRINGS = st.lists(st.binary(max_size=12), max_size=12)
RANDOMS = st.integers(0, 2**32).map(Random)
BUFFERS: list[Any] = [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)]


def spread(strings: list[bytes], random: Random, buffer: Any = bytes) -> BytesColumn:
    """The strings in any order in a buffer, with other bytes between them; equal ones share a place."""
    data, places = b"<begin>", {}
    for string in random.sample(strings, len(strings)):
        data += b"-" * random.randrange(3)
        if string not in places or random.random() < 0.5:
            places[string] = len(data)
            data += string
    begins = [places[string] for string in strings]
    ends = [begin + len(string) for begin, string in zip(begins, strings, strict=True)]
    return BytesColumn(buffer(data), begins, ends)


@given(STRINGS, RANDOMS, st.sampled_from(BUFFERS))
def test_it_is_the_sequence_of_its_strings(strings, random, buffer):
    column, count = spread(strings, random, buffer), len(strings)
    assert isinstance(column, Sequence)
    assert (len(column), column.size, column.shape, column.ndim) == (count, count, (count,), 1)
    assert list(column) == column.tolist() == strings
    assert [column[place] for place in range(-count, count)] == strings + strings
    assert list(reversed(column)) == strings[::-1]
    assert list(map(bytes, column.views())) == strings
    assert column.lengths.tolist() == list(map(len, strings))
    assert column.nbytes == sum(map(len, strings))
    assert all(type(string) is bytes for string in column)
    for string in (*strings, b"not there"):
        assert (string in column) == (string in strings)
        assert column.count(string) == strings.count(string)
        if string in strings:
            assert column.index(string) == strings.index(string)


@given(STRINGS, RANDOMS, st.data())
def test_slices_numbers_and_masks_choose_as_they_do_of_a_list(strings, random, data):
    column, count = spread(strings, random), len(strings)
    key = data.draw(st.slices(count))
    assert column[key] == strings[key]
    numbers = data.draw(st.lists(st.integers(-count, count - 1), max_size=9)) if count else []
    mask = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    for chosen in (numbers, np.array(numbers, np.int64), np.array(numbers, np.int8)):
        assert column[chosen] == [strings[number] for number in numbers]
    expected = [string for string, yes in zip(strings, mask, strict=True) if yes]
    assert column[np.array(mask, bool)] == expected
    assert isinstance(column[key], BytesColumn)
    assert column[key].buffer is column.buffer


@given(STRINGS, STRINGS, RANDOMS)
def test_it_equals_what_holds_the_same_strings(strings, others, random):
    column, other = spread(strings, random), spread(others, random)
    for same in (spread(strings, random), strings, tuple(strings), Records.of(strings)):
        assert column == same
        assert same == column
    for different in (other, others, tuple(others)):
        assert (column == different) == (strings == others)
        assert (column != different) == (strings != others)
    assert column != 5


@pytest.mark.parametrize("value", [b"a", "a", np.array([b"a", b"b"], object)], ids=repr)
def test_comparing_each_value_is_refused_because_it_would_give_one_answer(value):
    column = BytesColumn.of([b"a", b"b"])
    with pytest.raises(TypeError, match=r"np\.asarray\(column\)"):
        column == value  # noqa: B015 - comparing is the test
    assert (np.asarray(column) == b"a").tolist() == [True, False]


@given(STRINGS, RANDOMS)
def test_numpy_gets_objects_that_keep_trailing_zeros(strings, random):
    ended = [string + bytes(random.randrange(3)) for string in strings]
    for array in (np.asarray(spread(ended, random)), np.array(spread(ended, random))):
        assert array.dtype == object
        assert array.shape == (len(ended),)
        assert array.tolist() == ended
    with pytest.raises(ValueError, match="always a copy"):
        spread(ended, random).__array__(copy=False)


@given(STRINGS, RANDOMS, st.integers(2, pickle.HIGHEST_PROTOCOL))
def test_pickles_hold_the_strings(strings, random, protocol):
    column = spread(strings, random)
    again = pickle.loads(pickle.dumps(column, protocol))
    assert type(again) is BytesColumn
    assert again == strings
    parts: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(column, 5, buffer_callback=parts.append)
    assert pickle.loads(pickled, buffers=[bytearray(part.raw()) for part in parts]) == strings


def test_pickles_leave_out_what_no_string_uses():
    column = BytesColumn.of([bytes(1000), b"abc", bytes(10_000), b"de"])
    for part in (column[1:2], column[[1, 3]], column[:0]):
        assert len(pickle.dumps(part)) < 700


@given(st.lists(STRINGS, max_size=4), RANDOMS, st.booleans())
def test_concat_joins_the_lists(lists, random, shared):
    expected = [string for strings in lists for string in strings]
    if shared:
        whole, ends = spread(expected, random), np.cumsum([0, *map(len, lists)]).tolist()
        parts = [whole[begin:end] for begin, end in pairwise(ends)]
        assert not expected or BytesColumn.concat(parts).buffer is whole.buffer
    else:
        parts = [spread(strings, random, random.choice(BUFFERS)) for strings in lists]
    assert BytesColumn.concat(parts) == expected


@pytest.mark.parametrize("copies", [1, _JOINED_COUNT])
@given(STRINGS, RANDOMS)
def test_packed_strings_follow_one_another(copies, strings, random):
    strings = strings * copies
    packed = spread(strings, random).packed()
    assert packed == strings
    assert (packed.begins[1:] == packed.ends[:-1]).all()
    assert packed.packed() is packed


def test_a_column_that_uses_little_of_its_buffer_lets_go_of_it():
    strings = [bytes([number]) * 30 for number in range(100)]
    column = BytesColumn.of(strings)
    assert column.without_waste() is column
    assert column[:60].without_waste().buffer is column.buffer
    for few in (column[3:20], column[[5, 9, 2]], column[:1], column[:0]):
        small = few.without_waste()
        assert small == list(few)
        assert memoryview(small.buffer).nbytes == few.nbytes


@pytest.mark.parametrize(
    ("strings", "found"),
    [([b"a", "b"], "str"), ([1], "int"), ([None], "NoneType"), (["a"], "str"), ([[b"a"]], "list")],
)
def test_what_is_not_bytes_is_refused(strings, found):
    with pytest.raises(TypeError, match=f"cannot hold a {found}"):
        BytesColumn.of(strings)


def test_anything_bytes_like_may_be_joined():
    strided = memoryview(b"a-b-c-")[::2]
    assert BytesColumn.of([b"x", bytearray(b"y"), memoryview(b"z"), strided]) == [b"x", b"y", b"z", b"abc"]
    assert BytesColumn.of(iter([b"x"])) == [b"x"]
    assert BytesColumn.of(np.array([b"x", b"y\0"], object)) == [b"x", b"y\0"]
    column = BytesColumn.of([b"x"])
    assert BytesColumn.of(column) is column
    with pytest.raises(TypeError, match="addresses"):
        BytesColumn.of([memoryview(np.array([b"x"], object))])


@pytest.mark.parametrize(
    ("buffer", "begins", "ends"),
    [
        (b"abc", [0], [4]),
        (b"abc", [-1], [2]),
        (b"abc", [2], [1]),
        (b"abc", [0, 1], [1]),
        (b"abc", [[0]], [[1]]),
    ],
)
def test_places_outside_of_the_buffer_are_refused(buffer, begins, ends):
    with pytest.raises(ValueError, match="begins and ends"):
        BytesColumn(buffer, begins, ends)


def test_buffer_with_gaps_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        BytesColumn(memoryview(b"abcdef")[::2], [0], [1])


@pytest.mark.parametrize("key", [1.0, "1", None, b"1", (1,), [1.0], [[1]]], ids=repr)
def test_index_that_is_no_number_is_a_type_error(key):
    with pytest.raises(TypeError):
        BytesColumn.of([b"a", b"b"])[key]
    with pytest.raises(IndexError):
        BytesColumn.of([b"a", b"b"])[2]


def test_errors_about_choosing_name_what_is_chosen():
    with pytest.raises(IndexError, match="record 5 of 3"):
        chosen_numbers([5], 3)
    with pytest.raises(IndexError, match="string 5 of 2"):
        BytesColumn.of([b"a", b"b"])[[5]]


def test_repr_is_short_and_cannot_be_hashed():
    assert repr(BytesColumn.of([b"a\n", b"b"])) == r"<BytesColumn: 2 strings, 3 bytes: [b'a\n', b'b']>"
    assert len(repr(BytesColumn.of([bytes(1000)] * 1000))) < 900
    with pytest.raises(TypeError):
        hash(BytesColumn.of([]))
