"""A program that uses every kind of file access and process once: ``python -m tests.support.tour FOLDER``."""

import tests.support.as_on_windows  # noqa: F401, I001 - before anything of ours

import os
import sys

import purerecord as pr
from purerecord.cli import main
from purerecord.dataset import Dataset, TFRecordDataset


def negate(number: int) -> int:
    return -number


def tour() -> None:
    records = [b"%d" % number for number in range(1000)]
    with pr.TFRecordWriter("one", atomic=True, index=True) as writer:
        writer.write_many(records)
    with pr.TFRecordWriter("one", mode="a") as writer:
        writer.write(b"more")
    pr.build_index("one").save("one.index")
    with pr.ShardedWriter("many@3", options="GZIP") as writer:
        writer.write_many(records)
    assert list(pr.read_records("one")) == [*records, b"more"]
    assert list(pr.RecordFile("one")[10:12]) == records[10:12]
    assert sorted(pr.read_records("many@3")) == sorted(records)
    assert sorted(TFRecordDataset("many@3").parallel(2)) == sorted(records)
    assert list(Dataset.range(3).map(negate, 2, processes=True)) == [0, -1, -2]
    assert len(list(TFRecordDataset("one").shuffle(9).prefetch(2).cache("cache"))) == 1001
    assert pr.validate("many@3", workers=2).ok
    with open("one", "r+b") as file:
        file.seek(100)
        file.write(b"damage")
    assert not pr.validate("one").ok
    assert pr.salvage("one", "saved", quarantine="bad").records > 990
    assert main(["demo"]) == 0
    print("done")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    tour()
