"""The keywords of all functions that rewrite."""

from __future__ import annotations

import pytest

from purerecord.tools import How, merge
from purerecord.tools.rewrite.how import DEFAULTS, complete


def test_every_keyword_has_a_default():
    assert DEFAULTS.keys() == How.__annotations__.keys()
    assert complete({}) == DEFAULTS


def test_an_unknown_keyword_is_an_error():
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'worker'; there are shards, max_records"
    ):
        merge("in", "out", worker=2)
