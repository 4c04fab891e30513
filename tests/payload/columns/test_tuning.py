"""The tuning: every number and switch serves a benchmark row, and no result depends on any of them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.cases import ALL_WORKLOADS
from benchmarks.workloads import WORKLOADS
from purerecord.payload.columns import same_layout, tuning
from purerecord.payload.columns.gather import gather
from purerecord.payload.columns.header_templates import layout_of
from purerecord.payload.columns.outline import outline
from purerecord.payload.columns.tuning import SWITCHES, Tuning, tuned
from purerecord.payload.columns.wide_layout import read_wide
from tests.support import handmade_messages as messages


@pytest.mark.parametrize("field", fields(Tuning), ids=lambda field: field.name)
def test_every_field_serves_rows_of_the_benchmark(field):
    rows = field.metadata["rows"]
    assert rows
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(ALL_WORKLOADS) & set(WORKLOADS)


@pytest.mark.parametrize("switch", SWITCHES)
def test_switch_needs_others_only_and_is_on(switch):
    assert getattr(tuning.current, switch) is True
    needed = Tuning.__dataclass_fields__[switch].metadata["needs"]
    assert set(needed) <= {*SWITCHES} - {switch}


def test_tuning_is_replaced_only_in_its_context():
    before = tuning.current
    with tuned(any_order=False) as outer:
        assert tuning.current is outer
        with tuned(records_per_block=5) as inner:
            assert (inner.any_order, inner.records_per_block) == (False, 5)
        assert tuning.current is outer
    assert tuning.current is before
    with pytest.raises(ZeroDivisionError), tuned(any_order=False):
        raise ZeroDivisionError
    assert tuning.current is before


def test_layout_of_one_tuning_does_not_serve_another():
    payload = messages.example([(f"f{i}", messages.floats(i)) for i in range(100)])
    entries = outline(payload)
    usual = layout_of(entries)
    assert usual.wide
    with tuned(wide_layout=False):
        assert not layout_of(entries).wide
    with tuned(one_float_segments=False):
        assert sum(map(len, layout_of(entries).parts)) == 100
    assert layout_of(entries) is usual


FOLDER = Path(tuning.__file__).parent
PAGE = FOLDER.parents[2] / "docs" / "internals" / "columns.md"


def test_page_names_every_module_of_the_folder_and_every_module_has_its_test():
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    named = set(re.findall(r"`(\w+)`", PAGE.read_text()))
    assert modules <= named
    assert {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")} == modules
    assert modules <= set(re.findall(r"\w+", (FOLDER / "__init__.py").read_text()))


def test_layout_that_one_tuning_remembers_does_not_serve_another(monkeypatch):
    payloads = [messages.example([(f"f{i}", messages.ints(i)) for i in range(100)])] * 20
    gather(payloads)
    wide = []

    def counted(*args):
        wide.append(args)
        return read_wide(*args)

    monkeypatch.setattr(same_layout, "read_wide", counted)
    with tuned(wide_layout=False):
        gather(payloads)
    assert not wide
    gather(payloads)
    assert wide
