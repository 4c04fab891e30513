"""What a cell of CSV is, what a column of them is, and their values."""

from __future__ import annotations

import io

import numpy as np
import pytest

import purerecord as pr
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET
from purerecord.tools.converters.column_types import FeatureType
from purerecord.tools.converters.tables.csv_cells import CsvFile
from purerecord.tools.converters.tables.csv_types import ColumnForm, Converter, form_of


@pytest.mark.parametrize(
    ("cell", "form"),
    [
        (b"0", "int64"),
        (b"-12", "int64"),
        (b" 5 ", "int64"),
        (b"9223372036854775807", "int64"),
        (b"9223372036854775808", "text"),
        (b"007", "text"),
        (b"-0", "float"),
        (b"+5", "float"),
        (b"1_000", "text"),
        (b"0.5", "float"),
        (b".5", "float"),
        (b"5.", "float"),
        (b"01.5", "text"),
        (b"1e-5", "float"),
        (b"1e999", "text"),
        (b"NaN", "float"),
        (b"-inf", "float"),
        (b"True", "boolean"),
        (b"false", "boolean"),
        (b"yes", "text"),
        (b"", "an empty string"),
        (b"[1, 2]", "int64 list"),
        (b"[1, 2.5]", "float list"),
        (b'["x"]', "text list"),
        (b"[]", "an empty list"),
        (b"[1, true]", "text"),
        (b"[[1]]", "text"),
        (b"[9223372036854775808]", "text"),
        (b"[" * 100_000 + b"]", "text"),
        (b"1\n2", "text"),
        ("٣".encode(), "text"),
    ],
)
def test_forms_of_cells(cell, form):
    assert form_of(cell) == form


def column(*cells: str) -> tuple[CsvFile, object, object]:
    text = "x,_\n" + "".join(f"{cell},\n" for cell in cells)
    file = CsvFile(io.BytesIO(text.encode()), "a.csv", None)
    (block,) = file.blocks()
    found = block.column(0)
    return file, found, found.bare & (found.strings.lengths == 0)


@pytest.mark.parametrize(
    ("cells", "kind", "count", "words"),
    [
        (("1", "2"), INT64, 1, "int64"),
        (("1", "", '""'), INT64, 1, "int64, missing in 1"),
        (("1", "2.5"), FLOAT, 1, "float"),
        (("0.1", "0.123456789"), FLOAT, 1, "float (rounded to float32)"),
        (("true", "False"), INT64, 1, "int64 (from true and false)"),
        (("true", "1"), BYTES, 1, "bytes ('1' in line 3 is not boolean)"),
        (("1", "x", "y"), BYTES, 1, "bytes ('x' in line 3 is not int64)"),
        (("x", '""'), BYTES, 1, "bytes"),
        (('""', '""'), BYTES, 1, "bytes"),
        (("", ""), UNSET, 1, "nothing, missing in 2"),
        (('"[1, 2]"', "[]"), INT64, None, "int64 list"),
        (('"[1, 2]"', "[0.5]"), FLOAT, None, "float list"),
        (("[1]", '"[""x""]"'), BYTES, 1, "bytes ('[\"x\"]' in line 3 is not int64 list)"),
        (("[]", "[]"), UNSET, None, "nothing list"),
    ],
)
def test_types_of_columns(cells, kind, count, words):
    form = ColumnForm(base64=False)
    form.add(*column(*cells)[1:])
    assert form.type == FeatureType(kind, count)
    assert form.words() == words


@pytest.mark.parametrize(
    ("odd", "kind", "words"),
    [
        ("N/A", BYTES, "bytes ('N/A' in line 7 is not int64)"),
        ("true", BYTES, "bytes ('true' in line 7 is not int64)"),
        ("[1]", BYTES, "bytes ('[1]' in line 7 is not int64)"),
        ("0.5", FLOAT, "float"),
        ("9223372036854775807", INT64, "int64"),
        ("9223372036854775808", BYTES, "bytes ('9223372036854775808' in line 7 is not int64)"),
        ("1e300", FLOAT, "float (rounded to float32)"),
        ('"1\n2"', BYTES, "bytes ('1\\n2' in line 7 is not int64)"),
    ],
)
def test_an_odd_cell_in_another_group_counts(monkeypatch, odd, kind, words):
    monkeypatch.setattr("purerecord.tools.converters.tables.csv_types._MATCHED", 2)
    form = ColumnForm(base64=False)
    form.add(*column("1", "2", "3", "4", "5", odd, "7", "8", "9")[1:])
    assert (form.type.kind, form.words()) == (kind, words)


def values(feature, *cells, given=True, base64=False, floats="round"):
    file, found, missing = column(*cells)
    made = Converter("x", feature, given=given, base64=base64, floats=floats).cells(file, found, missing)
    return list(made.values), made.counts.tolist()


def test_a_schema_takes_what_inference_leaves_as_text():
    assert values(FeatureType(INT64), "007", "+5", "true", "") == ([7, 5, 1], [1, 1, 1, 0])
    assert values(FeatureType(FLOAT), "01.5", "2") == ([1.5, 2.0], [1, 1])
    assert values(FeatureType(BYTES), "5", '""') == ([b"5", b""], [1, 1])
    assert values(FeatureType(INT64, None), "5", '"[1, 2]"', "[]") == ([5, 1, 2], [1, 2, 0])
    assert values(FeatureType(FLOAT, None), "[1]", "0.5") == ([1.0, 0.5], [1, 1])
    assert values(FeatureType(BYTES, None), "AAA=", '"[""/w==""]"', base64=True) == (
        [b"\0\0", b"\xff"],
        [1, 1],
    )


@pytest.mark.parametrize(
    ("feature", "cells", "options", "words"),
    [
        (FeatureType(INT64), ("1", "x"), {}, "line 3: feature 'x': 'x', where the schema says int64"),
        (
            FeatureType(INT64),
            ("1.5",),
            {"given": False},
            "line 2: feature 'x': '1.5', where the first rows have",
        ),
        (FeatureType(INT64), ("007",), {"given": False}, "'007'"),
        (FeatureType(INT64), ("9" * 19,), {}, "where the schema says int64"),
        (FeatureType(FLOAT), ("1", "1e300"), {}, "line 3: feature 'x': a float is too large"),
        (FeatureType(FLOAT), ("0.5", "0.1"), {"floats": "exact"}, "line 3: feature 'x': .*exactly"),
        (FeatureType(FLOAT, None), ("0.5", "[0.1]"), {"floats": "exact"}, "line 3: feature 'x': .*exactly"),
        (FeatureType(BYTES), ("AA==", "?"), {"base64": True}, "line 3: feature 'x': '.' is not base64"),
        (FeatureType(INT64, 2), ("[1]",), {}, "has 1 values, where the schema has 2"),
        (FeatureType(INT64, None), ("[0.5]",), {}, "a list of float, where the schema says int64"),
        (FeatureType(UNSET), ("5",), {"given": False}, "where the first rows have no value"),
        (FeatureType(INT64, 1, required=True), ("5", ""), {}, "line 3: feature 'x': is missing"),
        (FeatureType(INT64), ("\x1b[31m" * 20,), {}, r"'(.x1b.31m){8}\.\.\.', where"),
    ],
)
def test_cells_that_do_not_fit_are_errors_with_the_line(feature, cells, options, words):
    with pytest.raises(pr.EncodeError, match=words) as caught:
        values(feature, *cells, **options)
    assert "\x1b" not in str(caught.value)


def test_floats_are_the_nearest():
    found, _ = values(FeatureType(FLOAT), "0.1", "nan", "-inf")
    assert found[0] == np.float32(0.1)
    assert np.isnan(found[1])
    assert found[2] == -np.inf
