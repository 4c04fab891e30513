"""Rows of features for tests of converters: text, numbers and lists, written as Examples and read back."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import purerecord as pr

INTS = st.integers(-(1 << 63), (1 << 63) - 1)
FLOATS = st.floats(width=32, allow_nan=False)
TEXTS = st.text(max_size=5).map(str.encode)
KINDS = {"int64": (INTS, np.int64), "float32": (FLOATS, np.float32), "bytes": (TEXTS, bytes)}
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), min_size=1, max_size=3)


@st.composite
def feature_rows(draw):
    """Rows of features, and the schema that tells their types; each row may lack each feature but the first
    row."""
    schema, values = {}, {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        one, dtype = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        scalar = draw(st.booleans())
        values[name] = one.map(lambda value: [value]) if scalar else st.lists(one, max_size=3)
        schema[name] = pr.FixedLenFeature([], dtype, dtype()) if scalar else pr.VarLenFeature(dtype)
    rows = draw(st.lists(st.fixed_dictionaries({}, optional=values), min_size=1, max_size=5))
    rows[0] = draw(st.fixed_dictionaries(values))
    return rows, schema


def written(path, rows):
    with pr.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(
                pr.encode_example(
                    {
                        name: np.array(values, np.float32)
                        if values and isinstance(values[0], float)
                        else values
                        for name, values in row.items()
                    }
                )
            )
    return path


def rows_of(path):
    return [
        {name: list(values) for name, values in pr.decode_example(record).items()}
        for record in pr.read_records(path)
    ]
