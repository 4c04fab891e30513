"""Run with an environment that has the built wheel and Spark: Spark finds the source without registration.

cd / && python .../tests/support/spark_wheel.py
"""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

import pyspark_tfrecord
from spark_session import session

import purerecord


def main() -> None:
    top = {path.parts[0] for path in files("purerecord") or () if path.parts[0] != ".."}
    assert top == {"purerecord", "pyspark_tfrecord", f"purerecord-{purerecord.__version__}.dist-info"}, top
    for module in (purerecord, pyspark_tfrecord):
        assert Path(sys.prefix) in Path(str(module.__file__)).parents, f"{module.__file__} is not the wheel's"
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        spark.range(100).write.format("tfrecord").mode("append").save(f"{folder}/out")
        found = spark.read.format("tfrecord").load(f"{folder}/out")
        assert sorted(row.id for row in found.collect()) == list(range(100))
        spark.stop()
    print("the wheel's source works without registration")


if __name__ == "__main__":
    main()
