"""Records to record batches: the rows of each type, compared with messages that protobuf has read."""

from __future__ import annotations

import decimal
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.errors import SchemaError
from purerecord.records import Records
from tests.support.interop import interop
from tests.support.strategies import hostile_example, hostile_sequence

pa = interop("pyarrow")
from purerecord.spark.row_batches import RowBatches  # noqa: E402 - needs pyarrow

MISSING = object()


def feature(value: Any, kind: str | None = None) -> pr.Feature:
    """A feature of one kind; of none for None."""
    if kind is None:
        kind = {int: "int64", float: "float", bytes: "bytes"}[type(value[0])] if value else None
    if kind is None:
        return pr.Feature()
    made = {"int64": pr.Int64List, "float": pr.FloatList, "bytes": pr.BytesList}[kind](value=value)
    return pr.Feature(**{f"{kind}_list": made})


def records(*rows: dict[str, pr.Feature]) -> Records:
    payloads = [pr.Example(features=pr.Features(feature=row)).SerializeToString() for row in rows]
    made = Records.of(payloads)
    return Records(made.buffer, made.begins, made.ends, path="the file")


def column(dtype: Any, *values: Any, kind: str | None = None, nullable: bool = True) -> list[Any]:
    """What a column of ``dtype`` holds for features of these values; MISSING has none."""
    schema = pa.schema([pa.field("x", dtype, nullable=nullable)])
    rows = [{} if value is MISSING else {"x": feature(value, kind)} for value in values]
    (batch,) = RowBatches(schema, "Example").batches(records(*rows))
    batch.validate(full=True)
    assert batch.schema == schema
    found: list[Any] = batch.column(0).to_pylist()
    return found


INTS = [MISSING, [7], [], [-3]]


@pytest.mark.parametrize(
    ("dtype", "kind", "values", "rows"),
    [
        (pa.int64(), "int64", INTS, [None, 7, None, -3]),
        (pa.int32(), "int64", [[2**31 - 1], [-(2**31)]], [2**31 - 1, -(2**31)]),
        (pa.int16(), "int64", [[2**15 - 1], [-(2**15)]], [2**15 - 1, -(2**15)]),
        (pa.int8(), "int64", [[127], MISSING], [127, None]),
        (pa.bool_(), "int64", [[0], [1], MISSING], [False, True, None]),
        (pa.list_(pa.int64()), "int64", [*INTS, [1, 2]], [None, [7], [], [-3], [1, 2]]),
        (pa.list_(pa.int32()), "int64", [[1, 2], MISSING], [[1, 2], None]),
        (pa.float32(), "float", [[0.1], MISSING], [float(np.float32(0.1)), None]),
        (pa.float64(), "float", [[0.1], [1e30]], [float(np.float32(0.1)), float(np.float32(1e30))]),
        (pa.list_(pa.float64()), "float", [[0.5, -1.0], []], [[0.5, -1.0], []]),
        (pa.decimal128(5, 2), "float", [[0.1], MISSING], [decimal.Decimal("0.10"), None]),
        (pa.list_(pa.decimal128(5, 1)), "float", [[2.5, -1.0]], [[decimal.Decimal("2.5"), -1]]),
        (pa.string(), "bytes", [["é".encode()], MISSING, [b""]], ["é", None, ""]),
        (pa.binary(), "bytes", [[b"\xff"], MISSING, []], [b"\xff", None, None]),
        (pa.list_(pa.string()), "bytes", [[b"a", b"b"], [], MISSING], [["a", "b"], [], None]),
        (pa.list_(pa.binary()), "bytes", [[b"\xff", b""]], [[b"\xff", b""]]),
    ],
)
def test_rows_of_each_type(dtype, kind, values, rows):
    assert column(dtype, *values, kind=kind) == rows


@pytest.mark.parametrize(
    "dtype", [pa.int64(), pa.list_(pa.int64()), pa.string(), pa.list_(pa.list_(pa.int64()))]
)
def test_feature_that_no_record_has_or_that_has_no_kind_is_null(dtype):
    schema = pa.schema([("x", dtype)])
    (batch,) = RowBatches(schema, "").batches(records({}, {}))
    assert batch.column(0).to_pylist() == [None, None]
    if not pa.types.is_list(dtype) or not pa.types.is_list(dtype.value_type):
        assert column(dtype, [], MISSING) == [None, None]


@pytest.mark.parametrize(
    ("dtype", "values", "kind", "problem", "message"),
    [
        (pa.int32(), [[1], [2**31]], "int64", "range", "holds 2147483648, which .* int32, cannot hold"),
        (pa.int8(), [[1], [-129]], "int64", "range", "holds -129"),
        (pa.list_(pa.int16()), [[1], [2, 2**15]], "int64", "range", "holds 32768"),
        (pa.bool_(), [[1], [2]], "int64", "range", "holds 2, which"),
        (pa.decimal128(3, 2), [[1.0], [10.0]], "float", "range", "holds 10.0"),
        (pa.decimal128(3, 2), [[1.0], [float("nan")]], "float", "range", "holds nan"),
        (pa.int64(), [[1], [1, 2]], "int64", "count", "2 int64 values, but the schema has one"),
        (pa.int64(), [[1.0]], "float", "kind", "holds a list of float, .* needs int64"),
        (pa.list_(pa.float32()), [[1]], "int64", "kind", "holds a list of int64"),
        (pa.string(), [[b"a"], [b"\xff"]], "bytes", "text", "not UTF-8.*binary"),
        (pa.list_(pa.string()), [[], [b"a", b"\xff"]], "bytes", "text", "not UTF-8"),
        (pa.list_(pa.list_(pa.int64())), [[1]], "int64", "kind", "make it an array in the schema"),
    ],
)
def test_value_that_a_type_cannot_hold_is_an_error_that_names_the_record(
    dtype, values, kind, problem, message
):
    made = RowBatches(pa.schema([("x", dtype)]), "")
    with pytest.raises(SchemaError, match=message) as caught:
        list(made.batches(records(*({"x": feature(value, kind)} for value in values))))
    error = caught.value
    assert (error.path, error.feature, error.record) == ("the file", "x", len(values) - 1)
    assert error.problem == problem


@pytest.mark.parametrize("dtype", [pa.int64(), pa.list_(pa.int64())])
def test_null_where_the_schema_allows_none_is_an_error(dtype):
    assert column(dtype, [1], kind="int64", nullable=False) == column(dtype, [1], kind="int64")
    for rows in ([[1], MISSING], [MISSING]):
        with pytest.raises(SchemaError, match="says that it is not null"):
            column(dtype, *rows, kind="int64", nullable=False)


def test_no_row_has_a_value_of_another_row():
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    rows = [{"a": feature([i])} if i % 2 else {"b": feature([b"%d" % i])} for i in range(1000)]
    (batch,) = RowBatches(schema, "Example").batches(records(*rows))
    assert batch.to_pylist() == [
        {"a": i, "b": None} if i % 2 else {"a": None, "b": str(i)} for i in range(1000)
    ]


# --- SequenceExamples -------------------------------------------------------------------------------


def sequences(*rows: tuple[dict[str, pr.Feature], dict[str, list[pr.Feature]]]) -> Records:
    payloads = []
    for context, lists in rows:
        made = {name: pr.FeatureList(feature=steps) for name, steps in lists.items()}
        message = pr.SequenceExample(
            context=pr.Features(feature=context), feature_lists=pr.FeatureLists(feature_list=made)
        )
        payloads.append(message.SerializeToString())
    return Records.of(payloads)


STEPPED = sequences(
    ({"id": feature([1])}, {"s": [feature([1, 2]), feature([], "int64")], "t": []}),
    ({}, {"s": [feature([])], "t": [feature([b"x"]), feature([b"y", b"z"])]}),
    ({"id": feature([3])}, {}),
)
STEPS = pa.schema(
    [("id", pa.int64()), ("s", pa.list_(pa.list_(pa.int32()))), ("t", pa.list_(pa.list_(pa.string())))]
)


@pytest.mark.parametrize("inferred", [False, True])
@pytest.mark.parametrize("record_type", ["", "SequenceExample"])
def test_feature_lists_are_arrays_of_arrays(record_type, inferred):
    (batch,) = RowBatches(STEPS, record_type, inferred=inferred).batches(STEPPED)
    batch.validate(full=True)
    assert batch.to_pylist() == [
        {"id": 1, "s": [[1, 2], []], "t": []},
        {"id": None, "s": [None], "t": [["x"], ["y", "z"]]},
        {"id": 3, "s": None, "t": None},
    ]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (pa.schema([("s", pa.list_(pa.int64()))]), "is a feature list, .* make it an array of arrays"),
        (pa.schema([("id", pa.list_(pa.list_(pa.int64())))]), "is a feature, and no feature list"),
        (pa.schema([("s", pa.list_(pa.list_(pa.float32())))]), "holds a list of int64"),
        (
            pa.schema([("s", pa.list_(pa.field("element", pa.list_(pa.int64()), nullable=False)))]),
            "is missing, but the schema says",
        ),
        (pa.schema([pa.field("t", pa.list_(pa.list_(pa.binary())), nullable=False)]), "is missing, but"),
    ],
)
def test_feature_list_that_a_type_cannot_hold_is_an_error(schema, message):
    with pytest.raises(SchemaError, match=message):
        list(RowBatches(schema, "").batches(STEPPED))


def test_sequence_examples_are_not_read_as_examples():
    with pytest.raises(SchemaError, match="set recordType to SequenceExample"):
        list(RowBatches(pa.schema([("id", pa.int64())]), "Example").batches(STEPPED))


# --- Other ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [pa.binary(), pa.string()])
def test_byte_arrays_are_the_records(dtype):
    made = RowBatches(pa.schema([("byteArray", dtype)]), "ByteArray")
    (batch,) = made.batches(Records.of([b"a", b"", b"long" * 99]))
    assert batch.column(0).cast(pa.binary()).to_pylist() == [b"a", b"", b"long" * 99]
    assert list(made.batches(Records.of([]))) == []


@pytest.mark.parametrize("types", [[pa.int64()], [pa.list_(pa.binary())], [pa.binary(), pa.binary()]])
def test_byte_arrays_have_one_column(types):
    with pytest.raises(SchemaError, match="one column, of binary or string"):
        RowBatches(pa.schema([(str(number), dtype) for number, dtype in enumerate(types)]), "ByteArray")


def test_feature_that_an_inferred_schema_lacks_is_an_error():
    made = RowBatches(pa.schema([("a", pa.int64())]), "", inferred=True)
    with pytest.raises(SchemaError, match=r"'late': record 1: .* was inferred from; .*inferAll"):
        list(made.batches(records({"a": feature([1])}, {"a": feature([1]), "late": feature([2])})))


def test_feature_list_that_an_inferred_schema_lacks_is_an_error():
    for lacking in ("id", "t"):
        schema = pa.schema([field for field in STEPS if field.name != lacking])
        with pytest.raises(SchemaError, match=rf"'{lacking}': record 0: .* was inferred from"):
            list(RowBatches(schema, "", inferred=True).batches(STEPPED))


def test_many_columns_come_in_several_batches():
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(1 << 13)])
    batches = list(RowBatches(schema, "Example").batches(records(*[{"c7": feature([1])}] * 3000)))
    assert [batch.num_rows for batch in batches] == [2048, 952]
    assert all(batch.column(7).to_pylist() == [1] * batch.num_rows for batch in batches)


KINDS = {"int64_list": pa.int64(), "float_list": pa.float32(), "bytes_list": pa.binary()}


def listed(one: pr.Feature | None, kind: str) -> list[Any] | None:
    if one is None or one.WhichOneof("kind") != kind:
        return None
    return list(getattr(one, kind).value)


@given(st.integers(0, 2**32), st.booleans())
def test_lists_hold_what_protobuf_reads_in_any_message(seed, several):
    random = Random(seed)
    payloads = [hostile_example(random) for _ in range(random.randrange(1, 12) if several else 1)]
    try:
        messages = [pr.Example.FromString(payload).features.feature for payload in payloads]
    except Exception:
        return
    kinds: dict[str, set[str]] = {}
    for message in messages:
        for name, one in message.items():
            kinds.setdefault(name, set()).add(one.WhichOneof("kind") or "")
    names = {name: found - {""} for name, found in kinds.items()}
    plain = {name: next(iter(found)) for name, found in names.items() if len(found) == 1}
    if not plain:
        return
    schema = pa.schema([(name, pa.list_(KINDS[kind])) for name, kind in plain.items()])
    try:
        (batch,) = RowBatches(schema, "").batches(Records.of(payloads))
    except pr.DecodeError:  # we are stricter than protobuf
        return
    batch.validate(full=True)
    for name, kind in plain.items():
        expected = [listed(message.get(name), kind) for message in messages]
        assert repr(batch.column(name).to_pylist()) == repr(expected)


@given(st.integers(0, 2**32))
def test_sequences_hold_what_protobuf_reads_in_any_message(seed):
    random = Random(seed)
    payloads = [hostile_sequence(random) for _ in range(random.randrange(1, 8))]
    try:
        messages = [pr.SequenceExample.FromString(payload) for payload in payloads]
    except Exception:
        return
    kinds: dict[str, set[str]] = {}
    for message in messages:
        for name, steps in message.feature_lists.feature_list.items():
            found = {step.WhichOneof("kind") or "" for step in steps.feature} - {""}
            kinds.setdefault(name, set()).update(found)
        for name in message.context.feature:
            kinds.setdefault(name, set()).add("context")
    plain = {name: next(iter(found)) for name, found in kinds.items() if len(found) == 1}
    plain = {name: kind for name, kind in plain.items() if kind != "context"}
    if not plain:
        return
    schema = pa.schema([(name, pa.list_(pa.list_(KINDS[kind]))) for name, kind in plain.items()])
    try:
        (batch,) = RowBatches(schema, "SequenceExample").batches(Records.of(payloads))
    except pr.DecodeError:
        return
    batch.validate(full=True)
    for name, kind in plain.items():
        expected = [
            [listed(step, kind) for step in message.feature_lists.feature_list[name].feature]
            if name in message.feature_lists.feature_list
            else None
            for message in messages
        ]
        assert repr(batch.column(name).to_pylist()) == repr(expected)
