"""``dedup``: the first of equal records stays, whatever the memory."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import SchemaError, encode_example
from purerecord.tools import dedup
from purerecord.tools.rewrite.dedup import FindDuplicates
from tests.support.rewriting import files_of, records, write_inputs
from tests.support.settings import tries


@settings(max_examples=tries(40))
@given(st.lists(st.binary(max_size=1), max_size=80), st.integers(1, 4), st.integers(1, 5000))
def test_records_are_those_of_a_dict(tmp_path_factory, payloads, files, memory):
    folder = tmp_path_factory.mktemp("dedup")
    source = write_inputs(folder / "in", payloads, files)
    done = dedup(source, folder / "a" / "out@3", memory=memory)
    assert records(done.paths) == list(dict.fromkeys(payloads))
    assert done.facts == {"duplicates": len(payloads) - len(set(payloads))}
    dedup(source, folder / "b" / "out@3")
    assert files_of(folder / "a") == files_of(folder / "b")


@settings(max_examples=tries(30))
@given(
    st.lists(
        st.fixed_dictionaries({}, optional={"x": st.integers(0, 2), "y": st.sampled_from(["a", "b", []])}),
        max_size=40,
    ),
    st.integers(1, 3),
)
def test_records_are_compared_by_some_features(tmp_path_factory, rows, files):
    folder = tmp_path_factory.mktemp("dedup")
    payloads = [encode_example({**row, "id": n}) for n, row in enumerate(rows)]
    source = write_inputs(folder / "in", payloads, files)
    if rows and not any("x" in row and row.get("y", []) != [] for row in rows):
        with pytest.raises(SchemaError, match="no record has values of all of 'x', 'y'"):
            dedup(source, folder / "out@2", by=["x", "y"])
        return
    done = dedup(source, folder / "out@2", by=["x", "y"], memory=2000)
    seen, expected = set(), []
    for row, payload in zip(rows, payloads, strict=True):
        complete = "x" in row and row.get("y", []) != []
        key = (row.get("x"), str(row.get("y")))
        if not complete or key not in seen:
            expected.append(payload)
        if complete:
            seen.add(key)
    assert records(done.paths) == expected


def test_a_run_goes_on_with_another_memory(tmp_path, monkeypatch):
    source = write_inputs(tmp_path / "in", [b"%d" % (n % 100) for n in range(300)])

    def full(self, folder, progress):
        found(self, folder, progress)
        raise OSError(errno.ENOSPC, "No space left on device")

    found = FindDuplicates.run
    with monkeypatch.context() as patch:
        patch.setattr(FindDuplicates, "run", full)
        with pytest.raises(OSError, match="No space"):
            dedup(source, tmp_path / "out@1", memory=15_000)  # three parts, of which one is done
    done = dedup(source, tmp_path / "out@1", resume=True)
    assert records(done.paths) == [b"%d" % n for n in range(100)]
    assert done.facts == {"duplicates": 200}


def test_features_must_be_named_in_a_list(tmp_path):
    source = write_inputs(tmp_path / "in")
    with pytest.raises(TypeError, match=r"such as \['url'\]"):
        dedup(source, tmp_path / "out", by="url")
    with pytest.raises(ValueError, match="by names no feature"):
        dedup(source, tmp_path / "out", by=[])
