"""``Expression``: a condition on the features of a record, as text: ``label == 7 and score > 0.5``.

Nothing is ever executed as Python: a small grammar is parsed here, and evaluated for many records at once,
of which only the named features are decoded.

    condition   or, and, not, ( )
    comparison  == != < <= > >= in not-in, also chained: 0 < score <= 1
    value       a feature, a number, a "string", + - * / %, size(name): the bytes of a string
    feature     label, image/class/label; any other name in backquotes: `a name`. A slash or a dot between
                letters belongs to the name, so a division needs spaces.
    functions   has(name), len(name): the number of values; any(...), all(...): of the values of lists;
                contains(name, "x"), startswith(name, "x"), endswith(name, "x")

A comparison in which a feature is missing, or has no value, is false; ``not`` makes it true. A feature that
has several values can only stand in ``any``, ``all``, ``len`` and ``has``; elsewhere it is an error, as it is
to compare strings with numbers. This module must not know where records come from, nor what is done with
those that match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np

from .. import public
from ..bytes_column import BytesColumn
from ..errors import SchemaError
from ..payload.columns.block_decoder import decode_row
from ..payload.columns.gather import Column
from ..payload.columns.gather_sequences import has_feature_lists
from ..payload.recognize import check_example
from ..payload.wire import ABSENT, decode_sequence
from ..printable import printable
from ..records import Records
from .expression_values import (
    COMPARISONS,
    Mask,
    UnfitError,
    Values,
    arithmetic,
    compare,
    text_matches,
    text_sizes,
)
from .one_kind import of_one_kind

_T = TypeVar("_T")

# What bounds the cost of an expression, whoever has written it.
MOST_CHARACTERS = 10_000
_MOST_OPERATORS = 500
_MOST_NESTED = 30


@public
class Expression:
    """A condition on the features of a record. ``text`` is as given, ``features`` are the names in it.

    Errors about the text are ValueErrors that name the place in it; those about a record are SchemaErrors.

    >>> Expression("label == 7 and not has(`image/encoded`)").matches(records)
    array([False,  True])
    """

    def __init__(self, text: str) -> None:
        parser = _Parser(text)
        self.text = text
        self._condition = parser.whole()
        self.features: tuple[str, ...] = tuple(dict.fromkeys(parser.features))
        # Those that some record must have for the expression to make sense: not only asked for with has().
        self.needed: tuple[str, ...] = tuple(dict.fromkeys(parser.needed))

    def matches(self, records: Records | Sequence[bytes]) -> Mask:
        """Which of the records it holds for."""
        batch = Records.of(records)
        found = np.zeros(len(batch), bool)
        for rows, some, columns in of_one_kind(batch, self.features):
            self._check(some, columns)
            found[rows] = self._condition.holds(_EachRecord(some, columns))
        return found

    def _check(self, batch: Records, columns: dict[str, Column]) -> None:
        """Raise an error for records that have these features in another form, or are other messages."""
        missing: Any = np.ones(len(batch), bool)
        for column in columns.values():
            missing &= False if column.kinds is None else column.kinds == ABSENT
        if missing.any():
            decode_row(batch, int(missing.argmax()), check_example)
        unseen = {name for name, column in columns.items() if column.is_absent}
        if unseen and has_feature_lists(batch):
            for row in range(len(batch)):
                _, lists = decode_row(batch, row, decode_sequence)
                for name in sorted(lists.keys() & unseen):
                    raise _error(batch, row, "a feature list, whose steps an expression cannot see", name)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text,)


def _error(records: Records, row: int, reason: str, feature: str | None = None) -> SchemaError:
    error = SchemaError(reason, feature=feature)
    error.path, error.record, _ = records.origin(row)
    return error


# --- What the names in an expression stand for --------------------------------------------------------


class _Rows(Protocol):
    """The features of some rows: records, or the values in them."""

    rows: int

    def feature(self, name: str) -> Values:
        """The value of a feature in each row."""

    def record_of(self, row: int) -> int:
        """The record that a row belongs to."""

    @property
    def parent(self) -> _EachRecord:
        """The records."""


class _EachRecord:
    """A row is a record; a feature has at most one value in each."""

    def __init__(self, records: Records, columns: dict[str, Column]) -> None:
        self.records, self.columns = records, columns
        self.rows = len(records)

    @property
    def parent(self) -> _EachRecord:
        return self

    def record_of(self, row: int) -> int:
        return row

    def feature(self, name: str) -> Values:
        column = self.columns[name]
        if column.uniform == 1:
            return Values(column.values)
        counts = np.diff(column.row_splits)
        if bool((counts > 1).any()):
            row = int((counts > 1).argmax())
            reason = (
                f"it has {counts[row]} values, and one is needed; say any(...) or all(...), as in "
                "any(label == 7)"
            )
            raise _error(self.records, row, reason, name)
        known = counts == 1
        if not known.any():
            return Values(None, known)
        if isinstance(column.values, BytesColumn):
            begins, ends = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.int64)
            begins[known], ends[known] = column.values.begins, column.values.ends
            return Values(BytesColumn(column.values.buffer, begins, ends), known)
        values = np.zeros(self.rows, column.values.dtype)
        values[known] = column.values
        return Values(values, known)


class _EachValue:
    """A row is a value: of the lists of some features, which must have equally many values in a record."""

    def __init__(self, parent: _EachRecord, features: tuple[str, ...]) -> None:
        self.parent = parent
        self.splits = parent.columns[features[0]].row_splits
        counts = np.diff(self.splits)
        for name in features[1:]:
            others = np.diff(parent.columns[name].row_splits)
            if bool((differs := others != counts).any()):
                row = int(differs.argmax())
                reason = f"it has {others[row]} values, but feature {features[0]!r} has {counts[row]}"
                raise _error(parent.records, row, reason, name)
        self.rows = int(self.splits[-1])

    def record_of(self, row: int) -> int:
        return int(np.searchsorted(self.splits, row, side="right")) - 1

    def feature(self, name: str) -> Values:
        column = self.parent.columns[name]
        return Values(column.values if self.rows else None)


# --- The tree ------------------------------------------------------------------------------------------


class _Value(Protocol):
    def values(self, rows: _Rows) -> Values: ...


class _Condition(Protocol):
    def holds(self, rows: _Rows) -> Mask: ...


@dataclass(frozen=True)
class _Constant:
    value: Values

    def values(self, rows: _Rows) -> Values:
        return self.value


@dataclass(frozen=True)
class _Feature:
    name: str

    def values(self, rows: _Rows) -> Values:
        return rows.feature(self.name)


@dataclass(frozen=True)
class _Length:
    name: str

    def values(self, rows: _Rows) -> Values:
        return Values(np.diff(rows.parent.columns[self.name].row_splits))


@dataclass(frozen=True)
class _Size:
    inner: _Value

    def values(self, rows: _Rows) -> Values:
        return _located(rows, lambda: text_sizes(self.inner.values(rows)))


@dataclass(frozen=True)
class _Arithmetic:
    symbol: str
    left: _Value
    right: _Value

    def values(self, rows: _Rows) -> Values:
        left, right = self.left.values(rows), self.right.values(rows)
        return _located(rows, lambda: arithmetic(self.symbol, left, right))


@dataclass(frozen=True)
class _Comparison:
    symbol: str
    left: _Value
    right: _Value

    def holds(self, rows: _Rows) -> Mask:
        left, right = self.left.values(rows), self.right.values(rows)
        return _located(rows, lambda: compare(self.symbol, left, right, rows.rows))


@dataclass(frozen=True)
class _Text:
    function: str
    inner: _Value
    constant: bytes

    def holds(self, rows: _Rows) -> Mask:
        values = self.inner.values(rows)
        return _located(rows, lambda: text_matches(self.function, values, self.constant, rows.rows))


@dataclass(frozen=True)
class _Has:
    name: str

    def holds(self, rows: _Rows) -> Mask:
        kinds = rows.parent.columns[self.name].kinds
        return np.ones(rows.rows, bool) if kinds is None else kinds != ABSENT


@dataclass(frozen=True)
class _Joined:
    join: Callable[[Mask, Mask], Mask]  # np.logical_and, np.logical_or
    conditions: tuple[_Condition, ...]

    def holds(self, rows: _Rows) -> Mask:
        return reduce(self.join, (condition.holds(rows) for condition in self.conditions))


@dataclass(frozen=True)
class _Not:
    condition: _Condition

    def holds(self, rows: _Rows) -> Mask:
        return ~self.condition.holds(rows)


@dataclass(frozen=True)
class _OfValues:
    every: bool
    condition: _Condition
    features: tuple[str, ...]

    def holds(self, rows: _Rows) -> Mask:
        values = _EachValue(rows.parent, self.features)
        so_far = np.append(0, np.cumsum(self.condition.holds(values)))
        counts = so_far[values.splits[1:]] - so_far[values.splits[:-1]]
        found: Mask = counts == np.diff(values.splits) if self.every else counts > 0
        return found


def _located(rows: _Rows, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except UnfitError as error:
        raise _error(rows.parent.records, rows.record_of(error.row), str(error)) from None


# --- The text ------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<string>b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\]|\\.)*')
  | (?P<quoted>`[^`]+`)
  | (?P<name>[^\W\d]\w*(?:[/.][^\W\d]\w*)*)
  | (?P<symbol>==|!=|<=|>=|<|>|\+|-|\*\*|\*|//|/|%|\(|\)|\[|\]|,|&&|\|\||<>|=|!|&|\|)
  | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
_INSTEAD = {
    "=": "write ==",
    "<>": "write !=",
    "!": "write not",
    "&&": "write and",
    "||": "write or",
    "&": "write and",
    "|": "write or",
    "**": "there are no powers",
    "//": "there is only /",
    "True": "write 1, or a comparison",
    "False": "write 0, or a comparison",
    "None": "write not has(name)",
    "is": "write ==, or has(name)",
}
_WORDS = {"and", "or", "not", "in"}
_TEXT = ("contains", "startswith", "endswith")


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Parser:
    """Parses one text. ``features`` are the names in it, in their order; ``needed`` those not in has()."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"an expression is a str, not a {type(text).__name__}")
        self._text = text
        if len(text) > MOST_CHARACTERS:
            self._fail(MOST_CHARACTERS, f"it is longer than {MOST_CHARACTERS:,} characters")
        self.features: list[str] = []
        self.needed: list[str] = []
        self._tokens = self._split()
        self._place = self._nested = self._operators = 0
        self._in_values = False  # inside of any() or all()

    def _fail(self, at: int, reason: str) -> NoReturn:
        around = printable(self._text[at : at + 20]) or "its end"
        raise ValueError(f"the expression is wrong at character {at + 1} ({around}): {reason}")

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while not tokens or tokens[-1].kind != "end":
            match = _TOKEN.match(self._text, at)
            if match is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                quote = self._text[at] in "\"'`"
                self._fail(at, "the quote is not closed" if quote else "no such character is known")
            kind = str(match.lastgroup)
            tokens.append(_Token(kind, match[kind], match.start(kind)))
            at = match.end()
        return tokens

    def whole(self) -> _Condition:
        """The whole text as a condition."""
        if self._next.kind == "end":
            self._fail(0, "it is empty")
        found = self._either()
        if self._next.kind != "end":
            self._fail(self._next.at, _INSTEAD.get(self._next.text, "and, or, or the end must follow"))
        if not self.features:
            self._fail(0, "it names no feature")
        return self._as_condition(found, 0)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self, *texts: str) -> str | None:
        """The next token, if it is one of these words or symbols; it is then passed."""
        token = self._next
        if token.kind in ("symbol", "name") and token.text in texts:
            self._place += 1
            if token.text not in ("(", ")", ","):
                self._operators += 1
                if self._operators > _MOST_OPERATORS:
                    self._fail(token.at, f"there are more than {_MOST_OPERATORS} operators")
            return token.text
        return None

    def _need(self, text: str) -> None:
        if self._take(text) is None:
            self._fail(self._next.at, f"{text} must follow")

    def _as_condition(self, node: Any, at: int) -> _Condition:
        if not hasattr(node, "holds"):
            self._fail(at, "this is a value, and a condition is needed; compare it with something")
        condition: _Condition = node
        return condition

    def _as_value(self, node: Any, at: int) -> _Value:
        if not hasattr(node, "values"):
            self._fail(at, "this is a condition, and a value is needed")
        value: _Value = node
        return value

    def _either(self) -> Any:
        return self._joined("or", np.logical_or, lambda: self._joined("and", np.logical_and, self._negated))

    def _joined(self, word: str, join: Any, part: Callable[[], Any]) -> Any:
        at = self._next.at
        first = part()
        if self._next.text != word:
            return first
        found = [self._as_condition(first, at)]
        while self._take(word):
            at = self._next.at
            found.append(self._as_condition(part(), at))
        return _Joined(join, tuple(found))

    def _negated(self) -> Any:
        if self._take("not"):
            at = self._next.at
            return _Not(self._as_condition(self._deeper(self._negated), at))
        return self._compared()

    def _deeper(self, part: Callable[[], Any]) -> Any:
        self._nested += 1
        if self._nested > _MOST_NESTED:
            self._fail(self._next.at, f"it is nested more than {_MOST_NESTED} times")
        found = part()
        self._nested -= 1
        return found

    def _compared(self) -> Any:
        at = self._next.at
        left = self._sum()
        found: list[_Condition] = []
        while True:
            if symbol := self._take(*COMPARISONS):
                left = self._as_value(left, at)
                at = self._next.at
                right = self._as_value(self._sum(), at)
                found.append(_Comparison(symbol, left, right))
                left = right
                continue
            if self._next.text == "not" and self._tokens[self._place + 1].text == "in":
                self._place += 1
                self._take("in")
                found.append(_Not(self._one_of(self._as_value(left, at))))
            elif self._take("in"):
                found.append(self._one_of(self._as_value(left, at)))
            break
        if not found:
            return left
        return found[0] if len(found) == 1 else _Joined(np.logical_and, tuple(found))

    def _one_of(self, value: _Value) -> _Condition:
        """What follows ``in``: constants in parentheses."""
        closing = {"(": ")", "[": "]"}.get(str(self._take("(", "[")))
        if closing is None:
            self._fail(
                self._next.at, "in needs a list of numbers or strings, like (1, 2); for texts: contains()"
            )
        found: list[_Condition] = []
        while self._take(closing) is None:
            at = self._next.at
            constant = self._sum()
            if not isinstance(constant, _Constant):
                self._fail(at, "a number or a string must follow")
            found.append(_Comparison("==", value, constant))
            if self._next.text != closing:
                self._need(",")
        if not found:
            self._fail(self._tokens[self._place - 1].at, "the list is empty")
        return _Joined(np.logical_or, tuple(found))

    def _sum(self) -> Any:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/", "%"), self._signed))

    def _chain(self, symbols: tuple[str, ...], part: Callable[[], Any]) -> Any:
        at = self._next.at
        left = part()
        while True:
            operator_at = self._next.at
            symbol = self._take(*symbols)
            if symbol is None:
                return left
            value = self._as_value(left, at)
            at = self._next.at
            left = self._folded(symbol, value, self._as_value(part(), at), operator_at)

    def _folded(self, symbol: str, left: _Value, right: _Value, at: int) -> _Value:
        """An operation, or its result if it is one of constants."""
        if not (isinstance(left, _Constant) and isinstance(right, _Constant)):
            return _Arithmetic(symbol, left, right)
        try:
            values = arithmetic(symbol, left.value, right.value)
        except UnfitError as error:
            self._fail(at, str(error))
        if values.known is not None:
            self._fail(at, "a division by zero")
        return _Constant(values)

    def _signed(self) -> Any:
        at = self._next.at
        if self._take("-"):
            if self._next.kind == "number":
                return self._number(negative=True)
            value = self._as_value(self._deeper(self._signed), at)
            return self._folded("-", _Constant(Values.constant(0)), value, at)
        return self._atom()

    def _number(self, *, negative: bool) -> _Constant:
        token = self._next
        self._place += 1
        text = "-" * negative + token.text
        if not text.lstrip("-").isdigit():
            return _Constant(Values.constant(float(text)))
        if len(text) > 25 or not -(2**63) <= int(text) < 2**63:
            self._fail(token.at, "the integer does not fit in 64 bits")
        return _Constant(Values(np.array(int(text), np.int64)))

    def _atom(self) -> Any:
        token = self._next
        if token.kind == "number":
            return self._number(negative=False)
        if token.kind == "string":
            self._place += 1
            return _Constant(Values(self._unescaped(token)))
        if token.kind == "quoted":
            return self._feature()
        if token.text in _INSTEAD:
            self._fail(token.at, _INSTEAD[token.text])
        if token.kind == "name" and token.text not in _WORDS:
            if self._tokens[self._place + 1].text == "(":
                return self._deeper(self._call)
            return self._feature()
        if self._take("("):
            found = self._deeper(self._either)
            self._need(")")
            return found
        self._fail(token.at, "a feature, a number, a string or ( must follow")

    def _feature(self, *, needed: bool = True) -> _Feature:
        token = self._next
        if token.kind not in ("quoted", "name") or token.text in _WORDS:
            self._fail(token.at, "the name of a feature must follow")
        self._place += 1
        name = token.text.strip("`") if token.kind == "quoted" else token.text
        self.features.append(name)
        self.needed += [name] * needed
        return _Feature(name)

    def _call(self) -> Any:
        token = self._next
        name = token.text
        self._place += 1
        self._need("(")
        at = self._next.at
        found: Any
        if name in ("has", "len", "any", "all") and self._in_values:
            self._fail(token.at, f"{name}() cannot stand in any() or all()")
        if name == "has":
            found = _Has(self._feature(needed=False).name)
        elif name == "len":
            found = _Length(self._feature().name)
        elif name == "size":
            found = _Size(self._as_value(self._sum(), at))
        elif name in _TEXT:
            value = self._as_value(self._sum(), at)
            self._need(",")
            at = self._next.at
            constant = self._sum()
            if not isinstance(constant, _Constant) or not isinstance(constant.value.data, bytes):
                self._fail(at, "a string must follow")
            found = _Text(name, value, constant.value.data)
        elif name in ("any", "all"):
            found = self._of_values(name)
        else:
            known = ", ".join(("has", "len", "size", "any", "all", *_TEXT))
            self._fail(token.at, f"there is no such function, but {known}")
        self._need(")")
        return found

    def _of_values(self, name: str) -> _OfValues:
        at, before = self._next.at, len(self.features)
        self._in_values = True
        condition = self._as_condition(self._either(), at)
        self._in_values = False
        features = tuple(dict.fromkeys(self.features[before:]))
        if not features:
            self._fail(at, "it names no feature")
        return _OfValues(name == "all", condition, features)

    def _unescaped(self, token: _Token) -> bytes:
        r"""The bytes of a string: UTF-8, with \n, \t, \r, \0, \\, the quotes, and \xff for one byte."""
        text = token.text.removeprefix("b")[1:-1]
        parts, at = [], 0
        for match in _ESCAPE.finditer(text):
            code = match[1]
            if code not in _ESCAPES and len(code) == 1:
                self._fail(token.at, f"there is no escape {match[0]}; a backslash is written twice")
            parts.append(text[at : match.start()].encode(errors="surrogatepass"))
            parts.append(bytes([int(code[1:], 16)]) if len(code) > 1 else _ESCAPES[code].encode())
            at = match.end()
        return b"".join([*parts, text[at:].encode(errors="surrogatepass")])
