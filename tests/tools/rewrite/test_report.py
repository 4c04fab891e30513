"""``Rewritten``: the report as text and as JSON."""

from __future__ import annotations

import json
import pickle

import purerecord.tools
from purerecord.tools import Rewritten

DONE = Rewritten(
    ("a-0", "a-1", "a\x1b"), (5, 6, 7), 1000, 20, 1, ("bad\x07",), ("m",), {"missing": 2}, ("in",), 99
)


def test_the_text_has_no_control_characters():
    assert str(DONE).split("\n") == [
        "20 records read, 18 written and verified, 2 missing",
        "3 files, 1.0 kB: a-0 ... a\\x1b",
        "manifest: m",
        "1 damaged place skipped: bad\\x07",
    ]


def test_the_json_has_all():
    assert json.loads(json.dumps(DONE.to_dict()))["lengths"] == [5, 6, 7]
    assert DONE.to_dict()["facts"] == {"missing": 2}
    assert DONE.to_dict()["manifests"] == [DONE.manifest] == ["m"]


def test_it_is_public():
    assert Rewritten.__module__ == "purerecord.tools"
    assert pickle.loads(pickle.dumps(DONE)) == DONE
    assert {"Rewritten", "merge"} <= set(dir(purerecord.tools))
