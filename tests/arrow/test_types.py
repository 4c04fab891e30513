"""Arrow types that an Example cannot hold."""

from __future__ import annotations

import pytest

import purerecord as pr
from tests.support.arrow_tables import COLUMNS
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow

REFUSED = [
    (pa.array([1, 2], pa.timestamp("us")), "timestamp"),
    (pa.array([1, 2], pa.date32()), "date32"),
    (pa.array([1, 2], pa.decimal128(5, 2)), "decimal"),
    (pa.array([{"a": 1}, None]), "flatten"),
    (pa.array([[1], [2, None]]), "a null in a list"),
    (pa.array([[[[1]]], [[[2]]]]), "lists in lists"),
    (pa.array([0, 2**63], pa.uint64()), "record 1: .*64 bits"),
    (pa.array([0.5, 1e300]), "record 1: .*too large"),
    (pa.array([[0.5], [0.5, 1e300]]), "record 1: .*too large"),
]


@pytest.mark.parametrize(("column", "reason"), REFUSED, ids=lambda value: str(getattr(value, "type", "")))
def test_what_would_be_lost_is_an_error_and_leaves_no_file(column, reason, tmp_path):
    with pytest.raises(pr.EncodeError, match=reason) as caught:
        arrow.write_table(pa.table({"good": [1, 2], "bad": column}), tmp_path / "file")
    assert caught.value.feature == "bad"
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_cannot_be_stored_is_refused_without_rows_too(tmp_path):
    sparse = arrow.to_arrow({"x": COLUMNS["sparse"]})
    for table in (pa.table({"x": pa.array([], pa.timestamp("s"))}), sparse, sparse.slice(0, 0)):
        with pytest.raises(pr.EncodeError, match="'x'"):
            arrow.write_table(table, tmp_path / "file")
    assert not (tmp_path / "file").exists()
