"""``schema.pbtxt``: what is written reads back, and what TFX writes is understood."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    encode_example,
    encode_sequence_example,
    infer_schema,
    schema_from_pbtxt,
    schema_to_json,
    schema_to_pbtxt,
)
from purerecord.payload.parse.schema import schema_from_text
from purerecord.payload.parse.schema_pbtxt import Occurrence
from tests.support.spec_cases import Case

RAGGED = RaggedFeature(np.int64, row_splits_dtype=np.int64)

# As TFDV prints them, with more than is known here.
TFDV = """
# proto-file: tensorflow_metadata/proto/v0/schema.proto
feature {
  name: "fixed"
  type: FLOAT
  presence { min_fraction: 1.0 min_count: 1 }
  shape { dim { size: 2 } dim { size: 3 name: "rgb" } }
  float_domain { min: 0.0 max: 1.0 }
}
feature {
  name: "one"
  value_count { min: 1 max: 1 }
  type: INT
  int_domain { is_categorical: true }
  presence { min_fraction: 1.0 min_count: 1 }
}
feature {
  name: "seldom"
  value_count { min: 1 max: 1 }
  type: INT
  presence { min_count: 1 }
}
feature { name: "shape without presence" type: BYTES shape { dim { size: 4 } } }
feature { name: "many" type: BYTES value_count { min: 1 } domain: "words" presence { min_fraction: 1.0 } }
feature { name: "nested" type: INT value_counts { value_count { min: 1 } value_count { min: 2 } } }
feature { name: "never seen" presence { min_count: 0 } }
feature { name: "old" type: INT deprecated: true }
feature { name: "planned" type: INT lifecycle_stage: PLANNED }
feature { name: "in use" type: INT lifecycle_stage: PRODUCTION not_in_environment: "SERVING" }
string_domain { name: "words" value: "a" value: "b" }
default_environment: "TRAINING"
"""


def test_what_tfdv_writes_is_understood():
    assert schema_from_pbtxt(TFDV) == {
        "fixed": FixedLenFeature((2, 3), np.float32),
        "one": FixedLenFeature((), np.int64),
        "seldom": RAGGED,
        "shape without presence": RaggedFeature(bytes, row_splits_dtype=np.int64),
        "many": RaggedFeature(bytes, row_splits_dtype=np.int64),
        "nested": RAGGED,
        "in use": RAGGED,
    }


def test_what_is_inferred_survives():
    payloads = [
        encode_example({"label": n, "box": [0.5] * 4, "names": ["a"] * (n % 3), 'ü "quoted"\n': b"x"})
        for n in range(5)
    ]
    specs = infer_schema(payloads)
    assert schema_from_pbtxt(schema_to_pbtxt(specs)) == specs
    assert schema_from_pbtxt(schema_to_pbtxt(specs).encode()) == specs


def test_feature_lists_survive():
    payloads = [
        encode_sequence_example(
            {"id": n}, {"frames": [[1.0, 2.0]] * n, "words": [["a"] * k for k in range(n)]}
        )
        for n in range(1, 4)
    ]
    specs = infer_schema(payloads, sequence=True)
    assert {type(spec) for spec in specs[1].values()} == {FixedLenSequenceFeature, RaggedFeature}
    assert schema_from_pbtxt(schema_to_pbtxt(specs)) == specs


@given(st.integers(0, 2**32))
def test_any_specs_can_be_written_and_what_is_lost_is_said(seed):
    rng = Random(seed)
    specs = {name: Case(rng, name, 0.0).spec for name in "abcdef"}
    text = schema_to_pbtxt(specs)
    again = schema_from_pbtxt(text)
    for name, spec in specs.items():
        partitioned = isinstance(spec, RaggedFeature) and (spec.partitions or spec.value_key)
        default = getattr(spec, "default_value", None) is not None
        said = f"# feature {name!r}: " in text
        assert said == bool(partitioned or default or isinstance(spec, SparseFeature))
        if not said and isinstance(spec, FixedLenFeature):
            assert again[name] == spec
        elif isinstance(spec, (VarLenFeature, RaggedFeature)) and not said:
            assert again[name] == RaggedFeature(spec.dtype, row_splits_dtype=np.int64)


def test_what_is_known_of_the_records_is_written():
    text = schema_to_pbtxt({"tags": RAGGED}, {"tags": Occurrence(always=True, fewest=2, most=5)})
    assert " ".join(text.split()).startswith(
        'feature { name: "tags" value_count { min: 2 max: 5 } type: INT presence { min_fraction: 1'
    )


def test_no_control_character_is_written():
    name = "\x1b[31m\u202e\x7f"
    text = schema_to_pbtxt({name: FixedLenFeature((), np.int64, 3)})
    assert not set(name) - set("[31m") & set(text)
    assert list(schema_from_pbtxt(text)) == [name]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has no feature"),
        ('item { id: 1 name: "cat" }', "it has no feature"),
        ("feature {", "not a schema.pbtxt: 1:"),
        ("feature { type: INT }", "needs a name of its own"),
        ('feature { name: "a" type: INT } feature { name: "a" type: INT }', "'a' needs a name of its own"),
        ('feature { name: "a" type: INTEGER }', "INTEGER"),
        (
            'feature { name: "a" type: INT presence { min_fraction: 1 } shape { dim { size: -1 } } }',
            "feature 'a': the dimensions of shape must not be negative",
        ),
        (b"\xff\xfe", "not a schema.pbtxt"),
        ("\x1b[31m", r"\\x1b"),
    ],
)
def test_a_wrong_schema_is_explained(text, reason):
    with pytest.raises(ValueError, match=reason):
        schema_from_pbtxt(text)


def test_either_form_of_text_is_recognised():
    specs = {"a": RAGGED}
    for text in (schema_to_json(specs), schema_to_pbtxt(specs)):
        for given_text in (text, text.encode(), "\n  " + text):
            assert schema_from_text(given_text) == specs
    for text in ("", "[]", "{}"):
        with pytest.raises(ValueError, match=r"schema|Expecting"):
            schema_from_text(text)
    with pytest.raises(ValueError, match=r"schema\.pbtxt"):
        schema_from_text("label,name\n1,cat\n")
