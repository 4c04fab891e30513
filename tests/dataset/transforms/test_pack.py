"""pack: every token once, in order, in pieces of one length; resumed anywhere, also inside of a sequence."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import check, elements, outcomes, saved

SEQUENCES = [[1, 2, 3], [], [4], [5, 6, 7, 8, 9, 10, 11], [12, 13]]


def rows(sequences: list[list[int]]) -> Dataset:
    """Dicts of tokens, and of something else of the same length."""
    arrays = [np.array(sequence, np.int64) for sequence in sequences]
    return Dataset.from_generator(lambda: [{"tokens": array, "twice": 2 * array} for array in arrays])


def test_sequences_are_joined_and_cut():
    packs = elements(rows(SEQUENCES).pack(5, padding_value=-1))
    assert packs == [
        {
            "tokens": [1, 2, 3, 4, 5],
            "twice": [2, 4, 6, 8, 10],
            "segment_ids": [1, 1, 1, 2, 3],
            "positions": [0, 1, 2, 0, 0],
        },
        {
            "tokens": [6, 7, 8, 9, 10],
            "twice": [12, 14, 16, 18, 20],
            "segment_ids": [1, 1, 1, 1, 1],
            "positions": [1, 2, 3, 4, 5],
        },
        {
            "tokens": [11, 12, 13, -1, -1],
            "twice": [22, 24, 26, -1, -1],
            "segment_ids": [1, 2, 2, 0, 0],
            "positions": [6, 0, 1, 0, 0],
        },
    ]
    assert elements(rows(SEQUENCES).pack(5, drop_remainder=True)) == packs[:2]
    by_name = elements(rows(SEQUENCES).pack(5, padding_value={"tokens": 9, "twice": -100}))[-1]
    assert by_name["tokens"][-2:] == [9, 9]
    assert by_name["twice"][-2:] == [-100, -100]


def test_arrays_are_packed_into_arrays_of_their_dtype():
    packs = list(Dataset.from_generator(lambda: [np.arange(n, dtype=np.uint16) for n in range(5)]).pack(4))
    assert [pack.tolist() for pack in packs] == [[0, 0, 1, 0], [1, 2, 0, 1], [2, 3, 0, 0]]
    assert {pack.dtype for pack in packs} == {np.dtype(np.uint16)}


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12), st.booleans())
def test_every_token_comes_once_and_a_state_continues_anywhere(lengths, length, drop):
    tokens = iter(range(1, 200))
    sequences = [[next(tokens) for _ in range(size)] for size in lengths]
    dataset = rows(sequences).pack(length, drop_remainder=drop)
    whole = check(dataset, every=1)
    assert all(len(pack[name]) == length for pack in whole for name in pack)
    packed = [token for pack in whole for token in pack["tokens"] if token]
    everything = [token for sequence in sequences for token in sequence]
    assert packed == everything[: len(everything) // length * length if drop else None]
    places = [
        (token, position)
        for pack in whole
        for token, position in zip(pack["tokens"], pack["positions"], strict=True)
    ]
    by_token = {token: n for sequence in sequences for n, token in enumerate(sequence)}
    assert all(by_token[token] == position for token, position in places if token)


CHAINS = {
    "of files, shuffled": lambda ds: ds.shuffle(5, seed=1).parse({"t": pr.RaggedFeature("int64")}).pack(7),
    "of columns": lambda ds: ds.batch(4).parse({"t": pr.RaggedFeature("int64")}).unbatch().pack(7).batch(2),
    "repeated": lambda ds: (
        ds.parse({"t": pr.RaggedFeature("int64")}).repeat(2).pack(7).shuffle(4).prefetch(1)
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_packs_of_files_resume_exactly(name, tmp_path):
    path = str(tmp_path / "tokens")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example({"t": list(range(1, 1 + n % 9))}) for n in range(30)])
    assert check(CHAINS[name](TFRecordDataset(path)))


def fail_once(at: int) -> Any:
    failed = []

    def function(number: int) -> np.ndarray:
        if number == at and not failed:
            failed.append(number)
            raise RuntimeError("broken")
        return np.full(3, number)

    return function


@pytest.mark.parametrize("at", range(5))
def test_after_an_error_what_was_read_before_it_is_not_lost(at):
    iterator = iter(Dataset.range(5).map(fail_once(at)).pack(5))
    tokens: list[int] = []
    errors = 0
    while True:
        before = saved(iterator)
        try:
            tokens += next(iterator).tolist()
        except StopIteration:
            break
        except RuntimeError:
            errors += 1
            resumed = iter(Dataset.range(5).map(fail_once(-1)).pack(5))
            resumed.load_state_dict(before)
            whole = [token for number in range(5) for token in [number] * 3]
            rest = [token for pack in resumed for token in pack.tolist()]
            assert (tokens + rest)[:15] == whole
    assert errors == 1
    expected = [token for number in range(5) if number != at for token in [number] * 3]
    assert tokens[:12] == expected


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ({"a": np.zeros((2, 2))}, r"'a' has shape \(2, 2\)"),
        ({"a": np.zeros(3), "id": np.int64(1)}, r"'id' has shape \(\)"),
        ({"a": np.zeros(3), "b": np.zeros(2)}, "equal length"),
        ({"a": np.zeros(3), "positions": np.zeros(3)}, "positions"),
        (np.int64(3), "an element has shape"),
    ],
)
def test_what_is_no_sequence_is_an_error_and_the_others_are_packed(element, message):
    iterator = iter(Dataset.from_generator(lambda: [{"a": [7]}, element, {"a": [8]}]).pack(2))
    with pytest.raises(ValueError, match=message):
        next(iterator)
    (pack,) = iterator
    assert pack["a"].tolist() == [7, 8]


def fail_at_each_fourth(number: int) -> np.ndarray:
    if number % 4 == 0:
        raise RuntimeError(number)
    return np.full(number % 7, number)


@pytest.mark.parametrize("length", [1, 3, 5, 100])
def test_errors_have_a_place_before_their_pack_for_every_consumer_and_after_a_resume(length):
    dataset = Dataset.range(20).map(fail_at_each_fourth).pack(length)
    whole = [str(outcome) for outcome in outcomes(iter(dataset))]
    assert [text for text in whole if "error" in text] == [f"error {number}" for number in range(0, 20, 4)]
    shares = [outcomes(dataset.iterator(0, worker=k, workers=3)) for k in range(3)]
    for k, share in enumerate(shares):
        assert [str(outcome) for outcome in share] == whole[k::3]
    iterator = iter(dataset)
    for done in range(len(whole) + 1):
        if not (done and "error" in whole[done - 1]):  # right after an error, a state is before it
            resumed = iter(dataset)
            resumed.load_state_dict(saved(iterator))
            assert [str(outcome) for outcome in outcomes(resumed)] == whole[done:]
        with suppress(RuntimeError, StopIteration):
            next(iterator)


def test_features_padding_and_length_are_checked():
    with pytest.raises(ValueError, match="same features"):
        list(Dataset.from_generator(lambda: [{"a": [1]}, {"b": [1]}]).pack(2))
    with pytest.raises((ValueError, OverflowError)):
        list(Dataset.from_generator(lambda: [np.zeros(1, np.uint8)]).pack(2, padding_value=-100))
    with pytest.raises(ValueError, match=r"padding_value 0\.5 is no int64"):
        list(Dataset.from_generator(lambda: [np.zeros(1, np.int64)]).pack(2, padding_value=0.5))
    with pytest.raises(ValueError, match="length must be positive"):
        Dataset.range(3).pack(0)


def test_padding_may_be_nan():
    (pack,) = Dataset.from_generator(lambda: [np.ones(1, np.float32)]).pack(2, padding_value=float("nan"))
    np.testing.assert_array_equal(pack, np.array([1, np.nan], np.float32))


@pytest.mark.parametrize("element", [np.array([b"a"], object), np.array(["a"], object), np.array(["a"])])
def test_strings_are_not_padded_with_a_number(element):
    packs = Dataset.from_generator(lambda: [element])
    with pytest.raises(ValueError, match=r"padding_value 0 is no (bytes|str)"):
        list(packs.pack(2))
    (pack,) = packs.pack(2, padding_value=type(element[0])())
    assert pack.tolist() == [element[0], type(element[0])()]


def test_a_padding_value_for_a_feature_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match=r"padding_value names \['tokns'\]"):
        list(Dataset.from_generator(lambda: [{"tokens": [1]}]).pack(2, padding_value={"tokns": -1}))


@pytest.mark.parametrize("other", [np.array([0.5]), np.array([1], np.uint64)])
def test_large_integers_are_not_rounded_by_what_they_are_joined_to(other):
    with pytest.raises(
        ValueError, match=r"same type in every element, not (float64 and int64|int64 and uint64)"
    ):
        list(Dataset.from_generator(lambda: [np.array([2**53 + 1]), other]).pack(2))


def test_integers_of_several_sizes_are_joined():
    (pack,) = Dataset.from_generator(lambda: [np.array([2**53 + 1]), np.array([1], np.uint8)]).pack(2)
    assert pack.tolist() == [2**53 + 1, 1]


def test_a_sequence_that_has_become_shorter_is_noticed():
    iterator = iter(rows([[1, 2, 3, 4, 5, 6]]).pack(4))
    next(iterator)
    other = iter(rows([[1, 2]]).pack(4))
    other.load_state_dict(saved(iterator))
    with pytest.raises(ValueError, match="not what it was"):
        next(other)
