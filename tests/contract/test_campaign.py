"""The damage campaign: 200 damaged files in the light suite, 20,000 with PURERECORD_CAMPAIGN=2."""

from __future__ import annotations

import pytest

from tests.support.campaign import FORMS, Tally, run, run_on_all_cores
from tests.support.settings import CAMPAIGN

FILES = 200 if CAMPAIGN == 1 else 20_000


@pytest.fixture(scope="module")
def tally() -> Tally:
    # ``run`` checks for each file that every damage is detected, every byte is accounted for, no record is
    # invented or altered, and all ways of reading agree.
    return run(FILES) if CAMPAIGN == 1 else run_on_all_cores(FILES)


def test_every_record_that_no_damage_touched_is_recovered(tally, capsys):
    for form in FORMS:
        if form != "nested":
            assert tally.intact[form] > 0
            assert tally.recall(form) == 1
    with capsys.disabled():
        print(f"\n{tally}")


def test_nested_files_cost_next_to_no_record_of_the_file_around_them(tally):
    assert tally.recall("nested") > 0.99


def test_damage_of_every_kind_was_done(tally):
    assert len(tally.damages) == 9
    assert min(tally.damages.values()) > FILES / 20
