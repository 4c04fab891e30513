"""``Expression``: the grammar, errors with their places, and the same result as row by row."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import (
    DecodeError,
    Records,
    SchemaError,
    decode_example,
    encode_example,
    encode_sequence_example,
)
from purerecord.tools import Expression

ROWS = [
    {"label": 7, "score": 0.1, "image/class/name": "cat", "boxes": [0.1, 0.9], "a name": 1},
    {"label": 3, "score": 0.9, "image/class/name": "concat", "boxes": []},
    {"label": [], "image/class/name": b"\xff\0", "boxes": [0.5], "x.y": 2},
    {"label": 2**62, "score": float("nan"), "boxes": [1.5, 2.5, 3.5], "ids": [1, 2, 3]},
    {},
]
RECORDS = Records.of([encode_example(row) for row in ROWS])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("label == 7", [0]),
        ("label != 7", [1, 3]),
        ("not label == 7", [1, 2, 3, 4]),
        ("label == 7 or label == 3 and score > 1", [0]),
        ("(label == 7 or label == 3) and score > 0.5", [1]),
        ("not (label == 7 or label == 3)", [2, 3, 4]),
        ("not not label == 7", [0]),
        ("label in (3, 7)", [0, 1]),
        ("label not in [3, 7,]", [2, 3, 4]),
        ("2 < label < 8", [0, 1]),
        ("3 < label < 8 != label", [0]),
        ("score == 0.1", [0]),
        ("score > 0.1", [1]),
        ("score * 10 > 5 - 1", [1]),
        ("-label < -5 + 1", [0, 3]),
        ("label - 7 == -0", [0]),
        ("label % 4 == 3 and label / 2 > 3", [0]),
        ("1 / (label - 7) < 0", [1]),
        ("image/class/name == 'cat'", [0]),
        ('`image/class/name` == "cat"', [0]),
        ("image/class/name in ('cat', 'concat')", [0, 1]),
        ("image/class/name >= 'd'", [2]),
        (r"image/class/name == b'\xff\0'", [2]),
        ("contains(image/class/name, 'cat')", [0, 1]),
        ("startswith(image/class/name, 'co')", [1]),
        ("endswith(image/class/name, 'cat') and size(image/class/name) < 4", [0]),
        ("`a name` == 1", [0]),
        ("x.y == 2", [2]),
        ("has(label)", [0, 1, 2, 3]),
        ("len(label) == 0", [2, 4]),
        ("len(boxes) > 1", [0, 3]),
        ("any(boxes > 0.6)", [0, 3]),
        ("all(boxes > 0.3)", [1, 2, 3, 4]),
        ("any(boxes > 0.3 and boxes < 0.6)", [2]),
        ("len(ids) == 3 and any(ids * 1 == 2)", [3]),
        ("label == 4611686018427387904", [3]),
        ("label >= 4611686018427387903.0", [3]),
        ("label == -9223372036854775808", []),
        ("nothing == 1 or nothing == 'x'", []),
    ],
)
def test_expression_holds_for_these_rows(text, rows):
    assert np.flatnonzero(Expression(text).matches(RECORDS)).tolist() == rows


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("", 1, "it is empty"),
        ("  ", 1, "it is empty"),
        ("label", 1, "this is a value, and a condition is needed"),
        ("label = 7", 7, "write =="),
        ("label == 7 and score", 16, "this is a value"),
        ("label ==", 9, "a feature, a number, a string or \\( must follow"),
        ("label == = 7", 10, "write =="),
        ("label == True", 10, "write 1"),
        ("label == None", 10, "write not has"),
        ("label == 7 && score > 1", 12, "write and"),
        ("label == 7 score > 1", 12, "and, or, or the end must follow"),
        ("!label == 7", 1, "write not"),
        ("label ** 2 == 4", 7, "there are no powers"),
        ("(label == 7", 12, "\\) must follow"),
        ("(label == 7) + 1 > 2", 1, "this is a condition, and a value is needed"),
        ("(label == 7) == 1", 1, "this is a condition"),
        ("label in 7", 10, "in needs a list"),
        ("label in ()", 11, "the list is empty"),
        ("label in (7 8)", 13, ", must follow"),
        ("label in (7, score)", 14, "a number or a string must follow"),
        ("label == 'cat", 10, "the quote is not closed"),
        ("label == 7 $", 12, "no such character"),
        (r"label == '\d'", 10, "there is no escape"),
        ("label == 9223372036854775808", 10, "does not fit in 64 bits"),
        ("label == " + "9" * 5000, 10, "does not fit in 64 bits"),
        ("label == 9223372036854775807 + 1", 30, "does not fit in 64 bits"),
        ("label == 1 / 0", 12, "a division by zero"),
        ("label == 1 % 2.5", 12, "% is for integers"),
        ("label == -'x'", 10, "- needs numbers"),
        ("1 == 1", 1, "it names no feature"),
        ("open(label) == 1", 1, "there is no such function"),
        ("label.__class__(1)", 1, "there is no such function"),
        ("len('x') == 1", 5, "the name of a feature must follow"),
        ("contains(label, label)", 17, "a string must follow"),
        ("any(label)", 5, "this is a value"),
        ("any(1 == 1)", 5, "it names no feature"),
        ("any(any(label == 1))", 5, "cannot stand in any"),
        ("(" * 40 + "label == 1" + ")" * 40, 32, "nested more than 30 times"),
        ("not " * 40 + "label == 1", 125, "nested more than 30 times"),
        ("label == " + "-" * 40 + "x", 41, "nested more than 30 times"),
        ("label" + " + 1" * 600 + " == 1", 2007, "more than 500 operators"),
        ("label == 1" + " " * 10_000, 10_001, "longer than 10,000 characters"),
        ("\x1b[0m == 1", 1, "no such character"),
    ],
)
def test_error_names_the_place(text, at, reason):
    with pytest.raises(ValueError, match=rf"at character {at} .*{reason}") as error:
        Expression(text)
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "record", "reason"),
    [
        ("label == 'cat'", 0, "a number cannot be compared with a string|a string cannot be compared"),
        ("image/class/name + 1 == 2", 0, r"\+ needs numbers"),
        ("boxes > 0.5", 0, r"it has 2 values, and one is needed; say any\("),
        ("any(boxes > 0.5 and ids > 1)", 0, "it has 0 values, but feature 'boxes' has 2"),
        ("label * 4 > 0", 3, "18446744073709551616 does not fit in 64 bits"),
        ("any(ids == 'x')", 3, "cannot be compared"),
        ("size(score) > 1", 0, r"size\(\) needs a string"),
    ],
)
def test_error_names_the_record(text, record, reason):
    with pytest.raises(SchemaError, match=reason) as error:
        Expression(text).matches(RECORDS)
    assert error.value.record == record


def test_what_it_names_is_known():
    expression = Expression("b == 1 and (`x y` > a or has(b))")
    assert expression.features == ("b", "x y", "a")
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert hash(expression) == hash(Expression(expression.text)) != Expression("b == 1")
    assert repr(expression) == "Expression('b == 1 and (`x y` > a or has(b))')"
    assert Expression("b == 1").matches([]).tolist() == []


def test_context_of_a_sequence_is_seen_and_its_lists_are_an_error():
    sequence = encode_sequence_example({"label": 7}, {"steps": [[1], [2]]})
    assert Expression("label == 7").matches([sequence]).tolist() == [True]
    with pytest.raises(SchemaError, match=r"'steps'.*a feature list"):
        Expression("label == 7 and has(steps)").matches([sequence])


def test_other_messages_and_malformed_ones_are_an_error():
    with pytest.raises(DecodeError):
        Expression("label == 7").matches([b"\x0a\xff"])
    with pytest.raises(DecodeError, match="another message"):
        Expression("label == 7").matches([RECORDS[0], b"\x18\x07"])


# Against an evaluation row by row

NAMES = ["i", "f", "s", "many", "mixed"]
small = st.integers(-3, 3)
tenths = st.sampled_from([-1.5, 0.0, 0.1, 0.5, 2.0])
words = st.sampled_from([b"", b"a", b"ab", b"b\0", b"bab"])


def optional(values):
    return st.one_of(st.none(), st.just([]), values)


examples = st.fixed_dictionaries(
    {
        "i": optional(small),
        "f": optional(tenths.map(float)),
        "s": optional(words),
        "many": st.one_of(st.none(), st.lists(small, max_size=3)),
        "mixed": optional(st.one_of(small, tenths.map(float))),
    }
).map(lambda row: {name: value for name, value in row.items() if value is not None})

number = st.recursive(
    st.one_of(
        st.sampled_from([("name", name) for name in ("i", "f", "mixed")]),
        small.map(lambda value: ("number", value)),
        tenths.map(lambda value: ("number", value)),
        st.sampled_from([("len", "many"), ("size", "s")]),
    ),
    lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner),
    max_leaves=4,
)
symbols = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
comparison = st.one_of(
    st.tuples(symbols, number, number),
    st.tuples(symbols, st.just(("name", "s")), words.map(lambda value: ("text", value))),
    st.tuples(st.sampled_from(["contains", "startswith", "endswith"]), words),
    st.tuples(st.just("in"), st.just(("name", "i")), st.lists(small, min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["any", "all"]), symbols, small),
    st.tuples(st.just("has"), st.sampled_from(NAMES)),
)
conditions = st.recursive(
    comparison,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=6,
)

PYTHON = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TEXT = ("contains", "startswith", "endswith")
SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def written(tree) -> str:
    kind, *parts = tree
    forms = {
        "name": lambda name: name,
        "number": repr,
        "text": lambda text: "'" + "".join(f"\\x{byte:02x}" for byte in text) + "'",
        **dict.fromkeys(("len", "size", "has"), lambda name: f"{kind}({name})"),
        **dict.fromkeys(TEXT, lambda text: f"{kind}(s, {written(('text', text))})"),
        **dict.fromkeys(("any", "all"), lambda symbol, value: f"{kind}(many {symbol} {value})"),
        "in": lambda value, values: f"{written(value)} in {tuple(values)}",
        "not": lambda inner: f"not ({written(inner)})",
    }
    return forms.get(kind, lambda left, right: f"({written(left)}) {kind} ({written(right)})")(*parts)


def single(row, name):
    values = row.get(name, ())
    return values[0] if len(values) else None


def computed(tree, row):
    kind, *parts = tree
    if kind == "name":
        return single(row, parts[0])
    if kind in ("number", "text"):
        return parts[0]
    if kind == "len":
        return len(row.get(parts[0], ()))
    if kind == "size":
        value = single(row, parts[0])
        return None if value is None else len(value)
    left, right = (exact(computed(part, row)) for part in parts)
    if left is None or right is None or (kind == "/" and right == 0):
        return None
    return left / right if kind == "/" else SUMS[kind](left, right)


def exact(value):
    return value.item() if isinstance(value, np.generic) else value


def constant(tree) -> bool:
    return tree[0] == "number" or (tree[0] in "+-*/" and all(map(constant, tree[1:])))


def holds(tree, row) -> bool:
    kind, *parts = tree
    text = single(row, "s")
    many = row.get("many", ())
    meanings = {
        "not": lambda inner: not holds(inner, row),
        "and": lambda left, right: holds(left, row) and holds(right, row),
        "or": lambda left, right: holds(left, row) or holds(right, row),
        "has": lambda name: name in row,
        "any": lambda symbol, value: any(PYTHON[symbol](one, value) for one in many),
        "all": lambda symbol, value: all(PYTHON[symbol](one, value) for one in many),
        "contains": lambda part: text is not None and part in text,
        "startswith": lambda part: text is not None and text.startswith(part),
        "endswith": lambda part: text is not None and text.endswith(part),
        "in": lambda value, values: computed(value, row) in values,
    }
    return meanings.get(kind, lambda left, right: compared(kind, left, right, row))(*parts)


def compared(symbol, left_tree, right_tree, row) -> bool:
    left, right = computed(left_tree, row), computed(right_tree, row)
    if left is None or right is None:
        return False
    if isinstance(left, np.float32) and constant(right_tree):
        right = np.float32(right)
    if isinstance(right, np.float32) and constant(left_tree):
        left = np.float32(left)
    return PYTHON[symbol](exact(left), exact(right))


def parsed(text):
    """The expression, or the reason why it is none."""
    try:
        return Expression(text)
    except ValueError as error:
        return str(error)


@given(conditions, st.lists(examples, max_size=12))
def test_expression_agrees_with_an_evaluation_row_by_row(tree, rows):
    text = written(tree)
    payloads = [encode_example(row) for row in rows]
    expression = parsed(text)
    if isinstance(expression, str):
        assert "division by zero" in expression or "names no feature" in expression, text
        return
    decoded = [decode_example(payload) for payload in payloads]
    assert expression.matches(payloads).tolist() == [holds(tree, row) for row in decoded], text


@given(st.text(alphabet="abl7.1e+-*/%()[]<>=!&|`'\"\\ ,ntrouisxz\0é", max_size=30))
def test_any_text_is_an_expression_or_a_value_error(text):
    expression = parsed(text)
    assert isinstance(expression, Expression) or "the expression is wrong at character" in expression
