"""Sequence steps: whichever way steps are found, they hold what the row decoder says."""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import Any

import numpy as np
import pytest

from purerecord.payload.columns.located import RecordBlock, read_values
from purerecord.payload.columns.sequence_steps import read_steps
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET, decode_feature, delimited
from tests.support.handmade_messages import UNSET_FEATURE, feature, floats, ints, strings
from tests.support.settings import LONG

Spans = tuple[bytes, np.ndarray[Any, Any], np.ndarray[Any, Any]]  # a buffer, begins, ends


def lists_of(*lists: list[bytes]) -> Spans:
    """Lists of Features in one buffer, something else between them."""
    contents = [b"".join(delimited(1, step) for step in steps) for steps in lists]
    return spans_of(contents)


def spans_of(contents: list[bytes]) -> Spans:
    ends = np.cumsum([len(content) + 3 for content in contents], dtype=np.int64)
    buffer = b"".join(b"\n\1\n" + content for content in contents)
    return buffer, ends - [len(content) for content in contents], ends


def values_of(lists: Spans, wanted: int) -> tuple[list[int], list[Any], list[bool]]:
    """(steps of each list, each step as its values of the wanted kind or the kind it has, bad lists)."""
    buffer, begins, ends = lists
    octets = np.frombuffer(buffer, np.uint8)
    counts, found, bad = read_steps(octets, begins, ends, wanted)
    kinds = np.full(int(counts.sum()), found.kind) if found.kinds is None else found.kinds
    if found.kinds is not None:
        found = found._replace(kind=wanted, listed=wanted == BYTES)
    if wanted == UNSET or found.kind != wanted:
        return counts.tolist(), kinds.tolist(), bad.tolist()
    values, numbers = read_values(found, RecordBlock(buffer, octets, begins, ends))
    splits = np.cumsum(np.broadcast_to(numbers, kinds.shape))[:-1]
    steps = [part.tolist() for part in np.split(values, splits)] if kinds.size else []
    plain = [step if kind == wanted else int(kind) for step, kind in zip(steps, kinds, strict=True)]
    return counts.tolist(), plain, bad.tolist()


def test_steps_that_are_alike_are_read_whatever_their_size() -> None:
    for size in (1, 2, 30, 31, 32, 5000, 600_000 if LONG else 60_000):
        steps = [floats(*range(k, k + size)) for k in range(3)]
        counts, values, bad = values_of(lists_of(steps, [], steps[:1]), FLOAT)
        assert counts == [3, 0, 1]
        assert values == [list(range(k, k + size)) for k in (0, 1, 2, 0)]
        assert bad == [False] * 3


def test_short_steps_of_one_kind_are_read_whatever_their_sizes() -> None:
    tokens = [1, 300, 70_000, 2**40, 2**55, 5]
    lists = lists_of([ints(token) for token in tokens], [], [ints(7)])
    assert values_of(lists, INT64) == ([6, 0, 1], [[token] for token in [*tokens, 7]], [False] * 3)
    words = [b"a", b"", b"a" * 120]
    lists = lists_of([strings(word) for word in words])
    assert values_of(lists, BYTES) == ([3], [[word] for word in words], [False])
    lists = lists_of([floats(1, 2), floats(3), floats(*range(30))])
    assert values_of(lists, FLOAT)[1] == [[1, 2], [3], list(range(30))]


def test_integers_of_nine_and_ten_bytes_and_several_in_a_step_are_read_too() -> None:
    steps = [ints(1), ints(-1), ints(2**62), ints(1, 2, 3)]
    assert values_of(lists_of(steps), INT64) == ([4], [[1], [-1], [2**62], [1, 2, 3]], [False])


def test_steps_of_different_kinds_and_without_values_say_what_they_are() -> None:
    steps = [ints(1), UNSET_FEATURE, floats(1), ints(), strings(b"x", b"y"), strings(), floats()]
    for wanted, values in (
        (INT64, [[1], UNSET, FLOAT, [], BYTES, BYTES, FLOAT]),
        (FLOAT, [INT64, UNSET, [1], INT64, BYTES, BYTES, []]),
        (BYTES, [INT64, UNSET, FLOAT, INT64, [b"x", b"y"], [], FLOAT]),
    ):
        assert values_of(lists_of(steps, [UNSET_FEATURE]), wanted)[1] == [*values, UNSET]


def test_short_and_long_steps_mix() -> None:
    steps = [strings(b"a"), strings(b"b" * 200), strings(b"c" * 20_000), strings(b"d", b"e" * 200)]
    assert values_of(lists_of(steps, steps[:1]), BYTES) == (
        [4, 1],
        [[b"a"], [b"b" * 200], [b"c" * 20_000], [b"d", b"e" * 200], [b"a"]],
        [False, False],
    )


BAD = {
    "an unknown field in a list": delimited(1, ints(1)) + b"\x18\1",
    "an unknown field in a Feature": delimited(1, ints(1) + b"\x20\1"),
    "unpacked integers": delimited(1, ints(1, packed=False)),
    "unpacked floats": delimited(1, floats(1, packed=False)),
    "half a float": delimited(1, b"\x12\4\n\2ab"),
    "a step that ends after its list": delimited(1, ints(1))[:-1],
    "a list in a Feature that ends after it": b"\n\5\x1a\4\n\1\1",
    "packed integers that end after their list": b"\n\5\x1a\3\n\2\1",
    "a list that is cut off": delimited(1, ints(1)) + b"\n",
    "two lists in a Feature": delimited(1, ints(1) + ints(2)),
    "a length of too many bytes": b"\n\x85\x80\x80\x80\x80\0\x1a\3\n\1\1",
    "a length that another one seems to carry": b"\n\0\x1b\xfe\n\xfc" + bytes(252),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("usual", [[], [ints(1)], [ints(1), ints(300)], [floats(1)], [strings(b"a" * 200)]])
def test_anything_unusual_makes_its_list_bad_and_no_other(case: str, usual: list[bytes]) -> None:
    content = b"".join(delimited(1, step) for step in usual)
    contents = [content, content + BAD[case], content]
    counts, _, bad = values_of(spans_of(contents), UNSET)
    assert bad == [False, True, False]
    assert counts[0] == counts[2] == len(usual)


@pytest.mark.parametrize(
    "case", [*BAD, "a long step", "another kind", "two values", "ten bytes", "no values"]
)
@pytest.mark.parametrize("usual", [[ints(1)] * 3, [ints(1), ints(300)], [floats(1), floats(1, 2)]])
def test_one_list_of_many_that_is_not_like_the_others_is_left_to_the_row_decoder(
    case: str, usual: list[bytes]
) -> None:
    steps = {
        "a long step": ints(*[1] * 200),
        "another kind": strings(b"x"),
        "two values": ints(1, 2),
        "ten bytes": ints(-1),
        "no values": ints(),
    }
    content = b"".join(delimited(1, step) for step in usual)
    other = BAD[case] if case in BAD else delimited(1, steps[case])
    contents = [content] * 99
    contents[70] += other
    buffer, begins, ends = spans_of(contents)
    wanted = INT64 if usual[0] == ints(1) else FLOAT
    counts, found, bad = read_steps(np.frombuffer(buffer, np.uint8), begins, ends, wanted)
    assert np.flatnonzero(bad).tolist() == [70]
    assert found.kinds is None
    assert np.delete(counts, 70).tolist() == [len(usual)] * 98
    kept = found.pick(np.flatnonzero(np.repeat(~bad, counts)))
    octets = np.frombuffer(buffer, np.uint8)
    values, _ = read_values(kept, RecordBlock(buffer, octets, begins, ends))
    expected = np.concatenate([decode_feature(step)[1] for step in usual])
    assert values.tolist() == expected.tolist() * 98


@pytest.mark.parametrize("seed", range(30))
def test_lists_of_all_lengths_are_put_in_order(seed: int) -> None:
    random = Random(seed)
    make = random.choice((short_step, any_step))
    lists = [[make(random) for _ in range(int(random.expovariate(0.1)))] for _ in range(100)]
    wanted = random.choice((BYTES, FLOAT, INT64))
    with tuned(steps_per_pass=10):
        counts, values, bad = values_of(lists_of(*lists), wanted)
    expected = [decode_feature(step) for steps in lists for step in steps]
    plain = [list(values) if kind == wanted else kind for kind, values in expected]
    good = np.repeat(~np.array(bad), counts)
    whole = np.repeat(~np.array(bad), [len(steps) for steps in lists])
    assert [value for value, keep in zip(values, good, strict=True) if keep] == [
        value for value, keep in zip(plain, whole, strict=True) if keep
    ]
    assert sum(bad) < 16  # the longest only


def short_step(random: Random) -> bytes:
    return ints(random.choice((1, 300, 2**40)))


def any_step(random: Random) -> bytes:
    kind = random.choice((BYTES, FLOAT, INT64))
    number = random.choice((0, 1, 1, 2, 40))
    values: Any = [b"x" * number] * number if kind == BYTES else list(range(number))
    return random.choice((feature(kind, values), UNSET_FEATURE))


# --- Scanning ---------------------------------------------------------------------------------------


def decoded(*lists: list[bytes]) -> list[Any]:
    """The values of all steps, one by one."""
    return [decode_feature(step)[1] for steps in lists for step in steps]


@pytest.mark.parametrize("number", [1, 5, 200, 3000])
def test_strings_that_look_like_steps_are_not_taken_for_such(number: int) -> None:
    inside = b"".join(delimited(1, strings(word)) for word in (b"x", b"abc"))
    steps = [strings(inside), strings(b"a" + inside + b"b"), strings(b"c")]
    lists = [steps[k % 3 :] for k in range(number)]
    counts, values, bad = values_of(lists_of(*lists), BYTES)
    assert counts == [len(steps) for steps in lists]
    assert values == decoded(*lists)
    assert not any(bad)


def test_one_list_with_a_string_that_looks_like_a_step_changes_no_other() -> None:
    usual = [strings(b"a"), strings(b"bc")]
    lists = [usual] * 100 + [[strings(delimited(1, strings(b"d"))), strings(b"e")]] + [usual] * 100
    counts, values, bad = values_of(lists_of(*lists), BYTES)
    assert [number for number, one in enumerate(bad) if one] in ([], [100])
    places = np.cumsum(counts)
    assert values[: places[99]] == decoded(*lists[:100])
    assert values[places[100] :] == decoded(*lists[101:])


@pytest.mark.parametrize(
    "other", [floats(1), strings(b"x"), UNSET_FEATURE, ints(), ints(*range(100)), b"\x1a"]
)
def test_step_of_another_form_is_seen_wherever_it_is(other: bytes) -> None:
    for place in range(4):
        steps = [ints(1), ints(300), ints(70_000)]
        steps.insert(place, other)
        lists = lists_of(*[[ints(1), ints(200)]] * 100, steps, *[[ints(1)]] * 100)
        counts, values, bad = values_of(lists, INT64)
        if bad[100]:  # for the row decoder
            assert sum(bad) == 1
        else:
            assert counts[100] == 4
            assert len(values) == 304


@pytest.mark.parametrize("missing", range(1, 12))
def test_list_that_is_cut_is_bad(missing: int) -> None:
    contents = [b"".join(delimited(1, ints(token)) for token in (1, 300, 5))] * 150
    contents[70] = contents[70][:-missing]
    buffer, begins, ends = spans_of(contents)
    bad = read_steps(np.frombuffer(buffer, np.uint8), begins, ends, INT64).bad
    assert np.flatnonzero(bad).tolist() == ([70] if missing not in (7,) else [])


def test_lists_of_very_different_lengths_are_walked() -> None:
    lists = [[ints(k)] for k in range(50)] + [[ints(k) for k in range(2000)]]
    counts, values, bad = values_of(lists_of(*lists), INT64)
    assert not any(bad) or bad == [False] * 50 + [True]
    assert values[:50] == [[k] for k in range(50)]
    assert counts[:50] == [1] * 50


def test_list_in_which_nothing_looks_like_a_step_is_not_taken_for_an_empty_one() -> None:
    lists = lists_of(*[[ints(1), ints(300)]] * 50, [floats(1), floats(1, 2)], *[[ints(1), ints(300)]] * 50)
    counts, _, bad = values_of(lists, INT64)
    assert bad[50] or counts[50] == 2


def test_step_whose_sizes_do_not_fit_into_single_bytes_is_bad() -> None:
    contents = [b"".join(delimited(1, ints(token)) for token in (1, 300))] * 100
    contents[50] += b"\n\x80\x1a\x7e\n\x7c" + bytes(124)
    buffer, begins, ends = spans_of(contents)
    bad = read_steps(np.frombuffer(buffer, np.uint8), begins, ends, BYTES).bad
    assert np.flatnonzero(bad).tolist() == [50]


def test_bytes_of_which_many_could_begin_a_step_take_little_memory() -> None:
    lists = [[ints(1), ints(*[0x0A, 0x0A, 0x1A, 0x1A] * 5000)] for _ in range(100)]
    buffer, begins, ends = lists_of(*lists)
    octets = np.frombuffer(buffer, np.uint8)
    tracemalloc.start()
    try:
        counts, _, bad = read_steps(octets, begins, ends, INT64)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(buffer)
    finally:
        tracemalloc.stop()
    assert counts.tolist() == [2] * 100
    assert not bad.any()
