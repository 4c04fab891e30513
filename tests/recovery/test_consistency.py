"""Files of a dataset that do not fit together: mixed compression, missing shards, numbers of records."""

from __future__ import annotations

import pytest

from purerecord.recovery.consistency import warnings, wrong_counts
from purerecord.recovery.report import FileReport


def reports(*names: str, **compressions: str) -> list[FileReport]:
    """Reports on files of one record each."""
    return [FileReport(name, 1, 20) for name in names] + [
        FileReport(name, 1, 20, (), compression) for name, compression in compressions.items()
    ]


def shards(count: int, *numbers: int, head: str = "x") -> list[str]:
    return [f"{head}-{number:05d}-of-{count:05d}" for number in numbers]


@pytest.mark.parametrize(
    "files",
    [
        reports(),
        reports("a", b="GZIP"),  # two datasets
        reports("a1", "a2", "a3"),
        reports(a1="GZIP", a2="GZIP"),
        reports("train/a1", "test/a1", "train/a2"),
        [FileReport("a1", 1, 20), FileReport("a2", 0, 0, (), "GZIP")],  # which holds nothing
        reports(*shards(3, 0, 1, 2)),
        reports(*shards(3, 1, 2, 3)),  # numbered from 1
        reports(*shards(20, 7)),  # named alone
        reports(*shards(2, 0, 1), *shards(3, 0, 1, 2)),
        reports(*shards(20, 7), *shards(20, 3, head="y")),
    ],
)
def test_files_that_fit_together_bring_no_warning(files):
    assert list(warnings(files)) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (reports("a1", "a3", a2="GZIP"), "1 of 3 files is GZIP, 2 not compressed: a2"),
        (reports("a1", a2="GZIP", a3="GZIP"), "1 of 3 files is not compressed, 2 GZIP: a1"),
        (
            reports(*(f"a{n}" for n in range(10)), **{f"a{n}": "ZLIB" for n in range(10, 17)}),
            "7 of 17 files are ZLIB, 10 not compressed: a10, a11, a12, a13, a14 and 2 more",
        ),
        (reports(*shards(4, 0, 1, 3)), "1 of 4 shards x-?????-of-00004 is missing: 2"),
        (reports(*shards(4, 2, 4)), "2 of 4 shards x-?????-of-00004 are missing: 1, 3"),
        (
            reports(*shards(20, 0, 1)),
            "18 of 20 shards x-?????-of-00020 are missing: 2, 3, 4, 5, 6 and 13 more",
        ),
        (reports("d\x1b/a1", "d\x1b/a2", **{"d\x1b/a3": "GZIP"}), r"2 not compressed: d\x1b/a3"),
    ],
)
def test_files_that_do_not_fit_together_bring_a_warning(files, expected):
    (warning,) = warnings(files)
    assert warning.endswith(expected)


@pytest.mark.parametrize(
    ("expect", "min_records", "expected"),
    [
        (None, None, []),
        (2, 1, []),
        (3, None, ["2 records in all, 3 expected"]),
        (1, None, ["2 records in all, 1 expected"]),
        (None, 2, ["a: 1 record, at least 2 expected", "b: 1 record, at least 2 expected"]),
    ],
)
def test_counts_are_those_that_were_expected(expect, min_records, expected):
    assert list(wrong_counts(reports("a", "b"), expect, min_records)) == expected
