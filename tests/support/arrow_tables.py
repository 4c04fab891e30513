"""Arrow columns and tables for tests, and what an Example holds of them."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import strategies as st

import purerecord as pr
from tests.support.interop import interop
from tests.support.strategies import float32s, int64s

pa = interop("pyarrow")


def objects(*items: bytes) -> np.ndarray:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def same_column(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        return left.dtype == right.dtype and left.shape == right.shape and left.tolist() == right.tolist()
    return type(left) is type(right) and bool(left == right)


COLUMNS = {
    **{
        name: np.array([0, 1, 100], name)
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
    **{name: np.array([0, 0.5, np.inf], name) for name in ("float16", "float32", "float64")},
    "bool": np.array([True, False, True]),
    "bytes": objects(b"", b"\0", b"ab\0"),
    "matrix": np.arange(6, dtype=np.float32).reshape(3, 2),
    "cube": np.arange(24).reshape(3, 2, 4),
    "without columns": np.zeros((3, 0), np.float32),
    "strings in rows": objects(*[b"%d" % i for i in range(6)]).reshape(3, 2),
    "strided": np.arange(12, dtype=np.int32)[::4],
    "transposed": np.arange(6).reshape(2, 3).T,
    "ragged": pr.Ragged([1, 2, 3], [0, 2, 2, 3]),
    "ragged with int32 splits": pr.Ragged(np.array([1.5, 2, 3]), np.array([0, 0, 0, 3], np.int32)),
    "ragged bytes": pr.Ragged(objects(b"a", b""), [0, 1, 1, 2]),
    "ragged items": pr.Ragged(np.arange(8, dtype=np.float32).reshape(4, 2), [0, 3, 3, 4]),
    "nested": pr.Ragged(pr.Ragged([1, 2, 3], [0, 2, 2, 3]), [0, 1, 3, 3]),
    "sparse": pr.Sparse([[0, 3], [0, 1], [2, 9]], np.array([1, 2, 3], np.float32), (3, 10)),
    "sparse cube": pr.Sparse([[1, 0, 2], [2, 1, 0]], objects(b"x", b"y"), (3, 2, 3)),
    "sparse, empty": pr.Sparse(np.zeros((0, 2)), np.zeros(0, np.int64), (3, 4)),
}


def bits(value: object) -> object:
    """A float as what is stored of it, so that NaNs compare."""
    return struct.pack("<f", value) if isinstance(value, (float, np.float16)) else value


def stored_values(table: object) -> dict[str, list]:
    """Every cell of a table as a list of what an Example holds; a column of nulls only is left out."""
    found = {}
    for name, values in table.to_pydict().items():
        lists = [[value] if not isinstance(value, (list, type(None))) else value for value in values]
        lists = [
            None if row is None else [item.encode() if isinstance(item, str) else bits(item) for item in row]
            for row in lists
        ]
        if any(row is not None for row in lists):
            found[name] = lists
    return dict(sorted(found.items()))


_INTS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): int64s,
    pa.uint16(): st.integers(0, 2**16 - 1),
    pa.uint64(): st.integers(0, 2**63 - 1),
}
_LEAVES = {
    **_INTS,
    pa.bool_(): st.booleans(),
    pa.float16(): st.floats(width=16).map(np.float16),
    pa.float32(): float32s,
    pa.float64(): float32s,
    pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    pa.large_string(): st.text("abc", max_size=3),
    pa.binary(): st.binary(max_size=9),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.dictionary(pa.int32(), pa.string()): st.text("xy", max_size=2),
    pa.null(): st.none(),
}


@st.composite
def arrow_columns(draw: st.DrawFn, rows: int) -> object:
    dtype = draw(st.sampled_from(list(_LEAVES)))
    values = _LEAVES[dtype]
    form = draw(st.sampled_from(["values", "list", "large_list", "fixed"]))
    if form != "values" and not pa.types.is_null(dtype):
        width = draw(st.integers(0, 3))
        sizes = (width, width) if form == "fixed" else (0, draw(st.integers(0, 4)))
        values = st.lists(values, min_size=sizes[0], max_size=sizes[1])
        dtype = {"list": pa.list_(dtype), "large_list": pa.large_list(dtype)}.get(
            form, pa.list_(dtype, width)
        )
    if draw(st.booleans()):
        values = st.one_of(st.none(), values)
    cut = draw(st.integers(0, rows))
    items = draw(_many(values, rows))
    return pa.chunked_array([pa.array(part, dtype) for part in (items[:cut], items[cut:])], dtype)


def _many(values: st.SearchStrategy, rows: int) -> st.SearchStrategy:
    return st.lists(values, min_size=rows, max_size=rows)


@st.composite
def tables(draw: st.DrawFn) -> object:
    rows = draw(st.integers(0, 9))
    names = draw(st.lists(st.text("abcé", max_size=3), min_size=1, max_size=4, unique=True))
    return pa.table({name: draw(arrow_columns(rows)) for name in names})
