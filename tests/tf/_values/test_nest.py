"""Nested structures: taken apart, put together, compared."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from purerecord.tf._values.nest import apply, flatten, is_nested, pack, same

Point = namedtuple("Point", ["x", "y"])
STRUCTURES = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.builds(Point, inner, inner),
    ),
    max_leaves=8,
)


@given(STRUCTURES)
def test_packing_the_leaves_gives_the_structure_again(structure: Any) -> None:
    again = pack(structure, flatten(structure))
    assert again == structure
    assert type(again) is type(structure)
    assert same(structure, apply(str, structure))


def test_leaves_of_a_dictionary_come_by_key_and_its_order_stays() -> None:
    structure = OrderedDict(b=1, a=(2, 3))
    assert flatten(structure) == [2, 3, 1]
    assert list(pack(structure, "xyz").items()) == [("b", "z"), ("a", ("x", "y"))]


def test_list_is_a_leaf() -> None:
    assert flatten(([1, 2], 3)) == [[1, 2], 3]
    assert not is_nested([1, 2])


def test_function_gets_the_leaves_of_all_structures() -> None:
    assert apply(lambda a, b: a + b, {"x": 1, "y": (2,)}, {"y": (20,), "x": 10}) == {"x": 11, "y": (22,)}


def test_other_places_or_keys_are_not_the_same() -> None:
    assert same({"a": 1}, {"a": [1, 2]})
    for one, other in (({"a": 1}, {"b": 1}), ((1, 2), (1,)), ((1,), 1), (1, (1,)), ({"a": 1}, (1,))):
        assert not same(one, other)
