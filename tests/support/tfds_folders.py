"""The golden folders of tensorflow-datasets in tests/tfds/, their values as JSON has them, and any JSON."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import strategies as st

import purerecord as pr
from tests.support.places import TESTS

GOLDEN = TESTS / "tfds"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
EVERYTHING = GOLDEN / "everything" / "1.2.0"


def plain(value: object) -> object:
    """A parsed value as expected.json has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, pr.Ragged):
        return [plain(row) for row in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return [plain(part) for part in value] if isinstance(value, list) else value


def restored(value: object, feature: object) -> object:
    """A value of an example in the dtype and shape that it had."""
    if feature.dtype == "uint64":
        return int(np.int64(value).view(np.uint64))
    if feature.dtype == "bool":
        return bool(value)
    if None in feature.shape[1:] and isinstance(value, np.ndarray) and not feature.encoding:
        return value.reshape([-1 if length is None else length for length in feature.shape])
    return value


any_json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(["", "-1", "9" * 30, "x"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(node: object) -> list[tuple[object, object]]:
    """Every place in a JSON document where something can be put."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]
