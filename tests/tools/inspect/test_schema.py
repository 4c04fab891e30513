"""``schema``: specs from the first records, or from the statistics of all, and as Python to paste."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord import tools
from purerecord.tools.inspect.schema import occurrences
from tests.tools.inspect.test_ends import written

EXAMPLES = [
    pr.encode_example(
        {"label": n, "box": [0.5] * 4, "names": ["a"] * (1 + n % 3), "seldom": [7] if n else []}
    )
    for n in range(20)
]
SEQUENCES = [
    pr.encode_sequence_example(
        {"id": n}, {"frames": [[1.0, 2.0]] * n, "words": [["a"] * k for k in range(n)]}
    )
    for n in range(1, 5)
]


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "file", EXAMPLES)


def test_a_schema_fits_the_first_records(path):
    assert tools.schema(path) == pr.infer_schema(EXAMPLES)
    assert tools.schema([path, path], sample=1) == pr.infer_schema(EXAMPLES[:1])
    with pytest.raises(ValueError, match="sample must be positive"):
        tools.schema(path, sample=0)


@pytest.mark.parametrize(
    "payloads", [EXAMPLES, SEQUENCES, EXAMPLES[:1]], ids=["Examples", "Sequences", "one"]
)
def test_the_schema_of_all_records_is_what_would_be_inferred_of_them(tmp_path, payloads):
    path = written(tmp_path / "file", payloads)
    expected = pr.infer_schema(payloads, sequence=payloads is SEQUENCES)
    assert tools.schema_of(tools.stats(path)) == tools.schema(path) == expected


def test_occurrences_are_those_of_all_records(path):
    found = occurrences(tools.stats(path))
    assert {name: (one.always, one.fewest, one.most) for name, one in found.items()} == {
        "box": (True, 4, 4),
        "label": (True, 1, 1),
        "names": (True, 1, 3),
        "seldom": (False, 0, 1),
    }


def test_a_feature_of_two_kinds_has_no_schema(tmp_path):
    path = written(tmp_path / "file", [pr.encode_example({"x": value}) for value in (1, 1.5)])
    with pytest.raises(pr.SchemaError, match="feature 'x'"):
        tools.schema(path)
    with pytest.raises(ValueError, match="feature 'x' has lists of several kinds: float32/int64"):
        tools.schema_of(tools.stats(path))


def test_files_without_records_have_no_schema(tmp_path):
    with pytest.raises(ValueError, match="no record to infer a schema from"):
        tools.schema(written(tmp_path / "file", []))


@pytest.mark.parametrize("payloads", [EXAMPLES, SEQUENCES], ids=["Examples", "Sequences"])
def test_python_reads_back(tmp_path, payloads):
    specs = tools.schema(written(tmp_path / "file", payloads))
    namespace: dict[str, object] = {}
    exec(tools.schema_to_python(specs), namespace)
    if payloads is SEQUENCES:
        assert (namespace["context"], namespace["sequence"]) == specs
    else:
        assert namespace["features"] == specs


def test_no_name_can_become_code():
    specs = {"x': print('no')} #\n\x1b": pr.RaggedFeature(np.int64, value_key='"""')}
    text = tools.schema_to_python(specs)
    assert "\x1b" not in text
    namespace: dict[str, object] = {}
    exec(text, namespace)
    assert namespace["features"] == specs
