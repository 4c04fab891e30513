"""Which kind of feature a column of rows is made of, and which types no feature has."""

from __future__ import annotations

import pytest

from purerecord.errors import SchemaError
from purerecord.payload.wire import BYTES, FLOAT, INT64
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord.spark.row_types import LIST, STEPS, VALUE, row_columns  # noqa: E402 - needs pyarrow


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (pa.bool_(), INT64),
        (pa.int8(), INT64),
        (pa.int16(), INT64),
        (pa.int32(), INT64),
        (pa.int64(), INT64),
        (pa.float32(), FLOAT),
        (pa.float64(), FLOAT),
        (pa.decimal128(10, 2), FLOAT),
        (pa.string(), BYTES),
        (pa.binary(), BYTES),
    ],
)
def test_type_of_a_value_in_each_depth(dtype, kind):
    schema = pa.schema([("a", dtype), ("b", pa.list_(dtype)), ("c", pa.list_(pa.list_(dtype)))])
    found = row_columns(schema, sequences=True)
    assert [(column.kind, column.depth) for column in found] == [(kind, VALUE), (kind, LIST), (kind, STEPS)]
    assert all(column.values == dtype and column.nullable for column in found)


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (pa.date32(), "no feature holds values of date32"),
        (pa.timestamp("us"), "no feature holds values of timestamp"),
        (pa.struct([("x", pa.int64())]), "no feature holds values of struct"),
        (pa.null(), "no feature holds values of null"),
        (pa.list_(pa.list_(pa.list_(pa.int64()))), "no feature holds values of list"),
    ],
)
def test_type_that_no_feature_has_is_an_error(dtype, message):
    with pytest.raises(SchemaError, match=message) as caught:
        row_columns(pa.schema([("good", pa.int64()), ("bad", dtype)]), sequences=True)
    assert caught.value.feature == "bad"


def test_feature_lists_are_of_sequence_examples_only():
    with pytest.raises(SchemaError, match="set recordType to SequenceExample"):
        row_columns(pa.schema([("a", pa.list_(pa.list_(pa.int64())))]), sequences=False)


def test_a_name_is_that_of_one_column():
    with pytest.raises(SchemaError, match="the name of several columns"):
        row_columns(pa.schema([("a", pa.int64()), ("a", pa.int64())]), sequences=True)
