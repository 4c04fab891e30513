"""Records that are parsed together: rows behave as dictionaries of tensors, and keep nothing alive."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord import tf
from purerecord.tf._values import rows as module
from purerecord.tf._values.rows import Block, RecordTensor, Row, RowTensor, stacked_rows, stacked_tensors
from purerecord.tf.io.specs import core_specs
from tests.support.exact import exact

SPECS = {
    "a": tf.io.FixedLenFeature([], tf.int64),
    "b": tf.io.FixedLenFeature([2], tf.float32),
    "s": tf.io.FixedLenFeature([], tf.string),
    "v": tf.io.VarLenFeature(tf.int64),
    "r": tf.io.RaggedFeature(tf.int64),
}


def payload(number: int) -> bytes:
    values = {"a": number, "b": [number, 0.5], "s": b"s%d" % number, "v": list(range(number % 3))}
    return pr.encode_example({**values, "r": list(range(number % 4))})


def block(count: int = 20) -> tuple[Block, list[RecordTensor]]:
    records = [RecordTensor(payload(number)) for number in range(count)]
    return Block(records), records


def row(number: int = 5) -> Row:
    """A row that no value was made of."""
    found = tf.io.parse_single_example(block()[1][number], SPECS)
    assert type(found) is Row
    return found


def plain(number: int = 5) -> dict[str, Any]:
    made: dict[str, Any] = tf.io.parse_single_example(payload(number), SPECS)
    assert type(made) is dict
    return made


def test_rows_are_what_parsing_alone_gives() -> None:
    _, records = block()
    for number, record in enumerate(records):
        assert exact(record) == exact(tf.constant(payload(number)))
        assert record.numpy() == payload(number)
        assert exact(tf.io.parse_single_example(record, SPECS)) == exact(plain(number))


def test_nothing_is_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(module, "RowTensor", lambda *place: made.append("tensor") or RowTensor(*place))
    one = row()
    assert (len(one), "a" in one, list(one), list(one.keys())) == (5, True, list(plain()), list(plain()))
    assert one.get("nothing") is None
    assert made == []
    assert one["a"] is one["a"]
    assert made == ["tensor"]


# Each takes a dictionary and returns all that can be seen of it afterwards.
USES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "items": lambda d: list(d.items()),
    "values": lambda d: list(d.values()),
    "get": lambda d: [d.get("a"), d.get("x"), d.get("x", 3)],
    "dict()": dict,
    "** to a literal": lambda d: {"first": 1, **d},
    "** to a call": lambda d: _named(**d),
    "copy": lambda d: d.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "|": lambda d: [d | {"x": 1}, {"x": 1, "a": 2} | d, d | d],
    "|=": lambda d: [d.__ior__({"a": 1}), d],
    "update from": lambda d: [e := {"x": 1}, e.update(d), e],
    "update": lambda d: [d.update({"a": 1}, z=2), d],
    "set": lambda d: [d.__setitem__("a", 1), d.__setitem__("n", 2), d],
    "del": lambda d: [d.__delitem__("a"), d],
    "pop": lambda d: [d.pop("a"), d.pop("a", 7), d.pop("v"), d],
    "popitem": lambda d: [d.popitem(), d.popitem(), d],
    "setdefault": lambda d: [d.setdefault("a", 1), d.setdefault("n", 2), d],
    "clear": lambda d: [d.clear(), d, list(d)],
    "reversed": lambda d: list(reversed(d)),
    "repr": repr,
    "format": "{a}".format_map,
    "json": lambda d: json.dumps(d, default=str),
    "type": lambda d: isinstance(d, dict),
    "same type": lambda d: [type(d)({"a": 1}), type(d)(a=1), type(type(d)())],
    "nest": lambda d: tf.nest.map_structure(lambda leaf: leaf, d) if hasattr(tf, "nest") else None,
    "match": lambda d: _matched(d),  # noqa: PLW0108 - defined below
}


def _named(**named: Any) -> dict[str, Any]:
    return named


def _matched(given: dict[str, Any]) -> Any:
    match given:
        case {"a": a, **rest}:
            return a, rest
    return None


@pytest.mark.parametrize("use", USES)
def test_a_row_is_used_as_any_dictionary(use: str) -> None:
    assert exact(USES[use](row())) == exact(USES[use](plain()))
    alias = row().alias()
    assert exact(USES[use](alias)) == exact(USES[use](plain()))


def test_rows_compare_as_dictionaries() -> None:
    ones = {key: tf.constant(1) for key in "ab"}
    assert row() != ones
    assert (row() == ones) is False
    assert ones != row()
    with pytest.raises(TypeError, match="unhashable"):
        hash(row())
    for wrong in (lambda: row()["x"], lambda: row().pop("x"), lambda: row().__delitem__("x")):
        with pytest.raises(KeyError, match="x"):
            wrong()
    with pytest.raises(TypeError):
        row() | [1]  # type: ignore[operator]


def test_an_alias_does_not_see_changes() -> None:
    one = row()
    one.pop("b")
    alias = one.alias()
    one["a"] = tf.constant(7)
    del one["s"]
    assert exact(alias) == exact({key: value for key, value in plain().items() if key != "b"})


def test_what_is_released_stays_readable_and_pins_nothing() -> None:
    made, records = block()
    rows = [tf.io.parse_single_example(record, SPECS) for record in records]
    touched = rows[3]["b"], rows[4]["s"]
    (specs, columns), *_ = made._parsed
    big = weakref.ref(columns.by_name["b"].array)
    del columns, specs, _
    made.release()
    gc.collect()
    assert big() is None, "a row keeps the column of its block"
    assert exact(list(touched)) == exact([plain(3)["b"], plain(4)["s"]])
    assert [exact(one) for one in rows] == [exact(plain(number)) for number in range(20)]
    # Records that are parsed later are parsed alone.
    assert exact(tf.io.parse_single_example(records[6], SPECS)) == exact(plain(6))
    made.release()


def test_operations_do_not_pin_a_column() -> None:
    one = row()
    reshaped = tf.reshape(one["b"], [2, 1])
    assert reshaped._array.base is None or reshaped._array.base.nbytes == 8


def test_specs_beyond_a_few_are_parsed_alone() -> None:
    _, records = block()
    for _ in range(10):
        specs = {"a": tf.io.FixedLenFeature([], tf.int64, np.array(0))}
        found = [tf.io.parse_single_example(record, specs)["a"].numpy() for record in records[:3]]
        assert found == [0, 1, 2]


def test_specs_made_anew_for_every_record_are_the_same_specs() -> None:
    def fresh(**defaults: Any) -> dict[str, Any]:
        return {"a": tf.io.FixedLenFeature([], tf.float32, defaults.get("default")), "v": SPECS["v"]}

    assert core_specs(fresh()) is core_specs(fresh())
    assert core_specs(fresh(default=0.0)) is core_specs(fresh(default=0.0))
    for one, other in ((0.0, -0.0), (0.0, 0), (None, 0.0)):
        assert core_specs(fresh(default=one)) is not core_specs(fresh(default=other))
    core_specs(fresh(default=1.0))
    with pytest.raises(TypeError, match="True is not a float32"):
        core_specs(fresh(default=True))
    by_shape = [core_specs({"a": tf.io.FixedLenFeature(shape, tf.int64)}) for shape in ([], [1], [1, 1])]
    assert len({id(specs) for specs in by_shape}) == 3


def test_batches_of_rows_are_slices_or_pieces_of_columns() -> None:
    _, records = block()
    _, others = block(9)
    rows = [tf.io.parse_single_example(record, SPECS) for record in records]
    more = [tf.io.parse_single_example(record, SPECS) for record in others]
    for chosen, numbers in (
        (rows[2:6], [2, 3, 4, 5]),
        (rows[::-3], list(range(19, -1, -3))),
        ([rows[1], more[8], more[7], rows[2]], [1, 8, 7, 2]),
    ):
        arrays = stacked_rows(chosen)
        assert arrays is not None
        assert arrays["v"] is None
        assert exact(arrays["b"]) == exact(np.stack([plain(number)["b"]._array for number in numbers]))
        assert arrays["b"].base is None
        tensors = stacked_tensors([one["s"] for one in chosen])
        assert tensors is not None
        assert tensors.tolist() == [b"s%d" % number for number in numbers]
    changed = row()
    changed["a"] = tf.constant(1)
    assert stacked_rows([rows[0], changed]) is None
    assert stacked_tensors([rows[0]["a"], rows[0]["b"]]) is None
    assert stacked_tensors([rows[0]["a"], tf.constant(1)]) is None
