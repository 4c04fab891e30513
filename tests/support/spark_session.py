"""A Spark of two threads on this machine, small and quiet."""

from __future__ import annotations

import os
import sys
from typing import Any


def session(folder: str) -> Any:
    """A session whose tasks are tried four times, and whose files are in ``folder``."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession  # noqa: PLC0415 - reads the environment

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": f"{folder}/local",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master("local[2,4]").appName("purerecord")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
