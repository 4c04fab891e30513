"""The source ``tfrecord`` in a real Spark: round trips, save modes, damage, lost workers, splits.

All tests share one session. Spark finds the source by itself, as the editable install has the module too.
"""

from __future__ import annotations

import decimal
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop, run_page
from tests.support.places import TESTS

interop("pyspark")
interop("pyarrow")
from pyspark.errors import AnalysisException  # noqa: E402 - needs pyspark

from purerecord.spark import DefaultSource  # noqa: E402
from tests.support.spark_session import session  # noqa: E402
from tests.support.spark_sources import KilledSource  # noqa: E402


@pytest.fixture(scope="module")
def spark(tmp_path_factory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # where Spark runs, which is where relative paths lead to
        made = session(str(folder))
        made.dataSource.register(KilledSource)
        yield made
        made.stop()


def read(spark: Any, *paths: Any, schema: Any = None, source: str = "tfrecord", **options: Any) -> Any:
    reader = spark.read.format(source).options(**options)
    reader = reader if schema is None else reader.schema(schema)
    return reader.load([str(path) for path in paths])


def save(frame: Any, path: Any, mode: str = "append", source: str = "tfrecord", **options: Any) -> None:
    frame.write.format(source).mode(mode).options(**options).save(str(path))


def rows(frame: Any) -> list[Any]:
    return sorted(frame.collect(), key=repr)


def shards(folder: Any, count: int = 3, size: int = 500, **options: Any) -> Path:
    """Files with ids 0, 1, 2, ... in a folder."""
    Path(folder).mkdir()
    for number in range(count):
        ids = np.arange(size) + number * size
        columns = {"id": ids, "half": ids / 2, "name": [f"é{one}" for one in ids]}
        with pr.TFRecordWriter(f"{folder}/{number}.tfrecord", **options) as writer:
            writer.write_many(pr.encode_examples(columns))
    return Path(folder)


def ids(frame: Any) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


# --- Round trips ------------------------------------------------------------------------------------

SCHEMA = """yes boolean, b tinyint, s smallint, i int, l bigint, f float, d double, n decimal(10,2),
    t string, x binary, ls array<bigint>, fs array<float>, ts array<string>, xs array<binary>,
    ds array<double>"""
ROW = (True, 1, -2, 3, 2**62, 0.5, 0.25, decimal.Decimal("1.50"), "é\0", b"\xff\0")
LISTS = ([1, 2], [0.5], ["a", "", "é"], [b"\xff", b""], [0.25])
TABLES = {
    "full": [ROW + LISTS] * 3,
    "nulls": [ROW + LISTS, (None,) * 15, ROW + LISTS],
    "empty lists": [ROW + ([],) * 5, ROW + LISTS],
    "only nulls": [(None,) * 15] * 2,
    "no rows": [],
}


@pytest.mark.parametrize("codec", ["none", "gzip", "deflate"])
@pytest.mark.parametrize("name", TABLES)
def test_table_comes_back_as_it_was(spark, tmp_path, name, codec):
    frame = spark.createDataFrame(TABLES[name], SCHEMA)
    save(frame, tmp_path / "out", codec=codec)
    assert "_SUCCESS" in os.listdir(tmp_path / "out")
    back = read(spark, tmp_path / "out", schema=SCHEMA)
    assert back.schema == frame.schema
    assert rows(back) == rows(frame)


@pytest.mark.parametrize("seed", range(3))
def test_random_table_comes_back_as_it_was(spark, tmp_path, seed):
    random = Random(seed)

    def text() -> str:
        return "".join(random.choices("aé\0\U0001f600 `", k=random.randrange(5)))

    def number() -> float:
        return float(np.float32(random.choice([random.uniform(-1e30, 1e30), 0.0, random.random()])))

    values = {
        "b boolean": lambda: random.random() < 0.5,
        "i int": lambda: random.randrange(-(2**31), 2**31),
        "l bigint": lambda: random.choice([random.randrange(-(2**63), 2**63), -1, 0]),
        "f float": number,
        "d double": number,
        "s string": text,
        "x binary": lambda: random.randbytes(random.randrange(5)),
        "ll array<bigint>": lambda: [random.randrange(300) for _ in range(random.randrange(4))],
        "`odd `` näme` array<string>": lambda: [text() for _ in range(random.randrange(4))],
        "ff array<double>": lambda: [number() for _ in range(random.randrange(4))],
    }
    makes = list(values.values())
    table = [[make() if random.random() < 0.8 else None for make in makes] for _ in range(300)]
    frame = spark.createDataFrame(table, ", ".join(values)).repartition(3)
    save(frame, tmp_path / "out", codec=random.choice(["none", "gzip"]), maxRecordsPerFile="70")
    back = read(spark, tmp_path / "out", schema=frame.schema, splitSize="2000")
    assert rows(back) == rows(frame)


def test_sequences_come_back_as_they_were(spark, tmp_path):
    schema = "id bigint, steps array<array<bigint>>, words array<array<string>>, x array<array<float>>"
    table = [
        (1, [[1, 2], []], [["a"], ["é", ""]], [[0.5]]),
        (None, None, [], None),
        (3, [[]], None, [[], []]),
    ]
    frame = spark.createDataFrame(table, schema)
    save(frame, tmp_path / "out", recordType="SequenceExample")
    for record_type in ("SequenceExample", ""):
        assert rows(read(spark, tmp_path / "out", schema=schema, recordType=record_type)) == rows(frame)
    inferred = read(spark, tmp_path / "out")
    assert rows(inferred.select("id", "steps", "words", "x")) == rows(frame)


def test_byte_arrays_come_back_as_they_were(spark, tmp_path):
    frame = spark.createDataFrame([(b"a",), (b"",), (b"\xff" * 1000,)], "byteArray binary")
    save(frame, tmp_path / "out", recordType="ByteArray")
    back = read(spark, tmp_path / "out", recordType="ByteArray")
    assert back.schema == frame.schema
    assert rows(back) == rows(frame)


def test_inferred_schema_has_linkedins_types(spark, tmp_path):
    frame = spark.createDataFrame(TABLES["full"], SCHEMA)
    save(frame, tmp_path / "out")
    assert dict(read(spark, tmp_path / "out").dtypes) == {
        **dict.fromkeys(("yes", "b", "s", "i", "l"), "bigint"),
        **dict.fromkeys(("f", "d", "n"), "float"),
        "t": "string",
        "x": "binary",
        "ls": "array<bigint>",
        "fs": "float",
        "ds": "float",
        "ts": "array<string>",
        "xs": "array<binary>",
    }


GOLDEN = sorted((TESTS / "corpus").glob("*.tfrecord"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_files_are_read_as_by_one_process(spark, path):
    found = read(spark, path, recordType="ByteArray", schema="byteArray binary")
    assert [bytes(row.byteArray) for row in found.collect()] == list(pr.read_records(path))


@pytest.mark.parametrize("name", ["examples", "example-lists"])
def test_golden_examples_are_read_as_by_one_process(spark, name):
    path = TESTS / "corpus" / f"{name}.tfrecord"
    table = pr_arrow().read_table(path)
    frame = read(spark, path, inferAll="true")
    assert set(frame.columns) == set(table.column_names)
    assert frame.count() == table.num_rows
    for feature, kind in frame.dtypes:
        expected = table[feature].to_pylist()
        found = [plain(row[0]) for row in frame.select(f"`{feature}`").collect()]
        if kind.startswith("array"):
            expected = [[one] if one is not None and not isinstance(one, list) else one for one in expected]
        if "string" in kind:
            expected = [texts(one) for one in expected]
        assert repr(found) == repr(expected), feature


def pr_arrow() -> Any:
    from purerecord import arrow  # noqa: PLC0415 - needs pyarrow

    return arrow


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [plain(one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value


def texts(value: Any) -> Any:
    if isinstance(value, list):
        return [texts(one) for one in value]
    return None if value is None else value.decode()


# --- Paths, columns, splits -------------------------------------------------------------------------


def test_paths_of_all_kinds(spark, tmp_path):
    folder = shards(tmp_path / "d")
    everything = list(range(1500))
    assert ids(read(spark, folder)) == everything
    assert ids(read(spark, f"{folder}/*.tfrecord")) == everything
    assert ids(read(spark, *sorted(folder.iterdir()))) == everything
    assert ids(read(spark, f"file:{folder}/1.tfrecord")) == everything[500:1000]
    assert ids(spark.read.format("tfrecord").load(str(folder))) == everything


def test_urls_are_read_and_written(spark, tmp_path):
    out = f"local://{tmp_path}/out"  # a file system of fsspec that all processes see
    options = json.dumps({"auto_mkdir": True})
    save(spark.range(0, 10, 1, 2), out, storageOptions=options)
    save(spark.range(10, 20, 1, 2), out, storageOptions=options)
    assert ids(read(spark, out, storageOptions=options)) == list(range(20))
    save(read(spark, out).where("id < 3"), out, "overwrite", storageOptions=options)
    assert ids(read(spark, f"{out}/part-*")) == [0, 1, 2]
    assert "_SUCCESS" in os.listdir(tmp_path / "out")
    assert not [name for name in os.listdir(tmp_path / "out") if name.startswith("_temporary")]


def test_relative_paths_lead_to_where_spark_runs(spark):
    save(spark.range(3), "relative/out")
    assert ids(read(spark, "relative/out")) == [0, 1, 2]
    assert ids(read(spark, os.path.abspath("relative/out"))) == [0, 1, 2]


def test_columns_and_schemas_choose(spark, tmp_path):
    folder = shards(tmp_path / "d")
    assert read(spark, folder, columns="name,id").columns == ["name", "id"]
    pruned = read(spark, folder, schema="half double, extra string")
    assert pruned.agg({"half": "sum"}).first()[0] == sum(range(1500)) / 2
    assert pruned.where("extra is not null").count() == 0
    with pytest.raises(Exception, match="leave one out"):
        read(spark, folder, schema="id int", columns="name").collect()


@pytest.mark.parametrize(
    "options", [None, pr.TFRecordOptions("GZIP", block_size=1000)], ids=["plain", "gzip"]
)
def test_large_files_are_read_in_parts(spark, tmp_path, options):
    folder = shards(tmp_path / "d", options=options)
    frame = read(spark, folder, splitSize="5000")
    assert frame.rdd.getNumPartitions() > 6
    assert ids(frame) == list(range(1500))


def test_no_files_and_files_without_records(spark, tmp_path):
    (tmp_path / "none").mkdir()
    assert read(spark, tmp_path / "none", schema="id bigint").collect() == []
    with pytest.raises(AnalysisException, match="no record to infer a schema from"):
        read(spark, tmp_path / "none")
    (tmp_path / "none" / "empty").write_bytes(b"")
    assert read(spark, tmp_path / "none", schema="id bigint").collect() == []


def test_sql_tables(spark, tmp_path):
    shards(tmp_path / "d")
    spark.sql(f"create temporary view shards using tfrecord options (path '{tmp_path / 'd'}', columns 'id')")
    assert spark.sql("select count(*), sum(id) from shards").first() == (1500, sum(range(1500)))


# --- Errors and damage ------------------------------------------------------------------------------


def damaged(folder: Path) -> int:
    """Flip a bit in the middle of the second file; where the damaged record begins."""
    path = folder / "1.tfrecord"
    frames = [frame for frame in pr.scan(str(path)) if isinstance(frame, pr.Frame)]
    data = bytearray(path.read_bytes())
    data[frames[100].offset + 15] ^= 1
    path.write_bytes(data)
    return int(frames[100].offset)


def test_damage_is_an_error_that_names_file_and_byte(spark, tmp_path):
    folder = shards(tmp_path / "d")
    place = damaged(folder)
    with pytest.raises(Exception, match=rf"1\.tfrecord: record 100 at byte {place}: "):
        read(spark, folder).collect()
    with pytest.raises(Exception, match=rf"1\.tfrecord: at byte {place}: "):
        read(spark, folder, splitSize="5000").collect()


@pytest.mark.parametrize("options", [{"on_error": "skip"}, {"mode": "DROPMALFORMED", "splitSize": "5000"}])
def test_damage_is_skipped_on_request(spark, tmp_path, options):
    folder = shards(tmp_path / "d")
    damaged(folder)
    assert ids(read(spark, folder, **options)) == [one for one in range(1500) if one != 600]


def test_workers_log_what_they_skip(tmp_path, caplog):
    folder = shards(tmp_path / "d")
    place = damaged(folder)
    source = DefaultSource({"path": str(folder), "on_error": "skip"})
    reader = source.reader(source.schema())
    rows = sum(batch.num_rows for part in reader.partitions() for batch in reader.read(part))
    assert rows == 1499
    (message,) = caplog.messages
    assert message.startswith(f"{folder / '1.tfrecord'}: skipped 1 damaged places; the last one: ")
    assert f"at byte {place}: " in message


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ("id tinyint", {}, "'id': record 128: holds 128, which its type in the schema, int8, cannot hold"),
        ("id string", {}, "'id': record 0: holds a list of int64"),
        ("when timestamp", {}, "'when'"),
        ("missing bigint not null", {}, "'missing': record 0: is missing"),
        (None, {"columsn": "id"}, "no option 'columsn'"),
        (None, {"columns": "nothing"}, "'nothing': none of the records seen has it"),
    ],
)
def test_mistake_of_a_reader_is_told(spark, tmp_path, schema, options, message):
    with pytest.raises(Exception, match=message):
        read(spark, shards(tmp_path / "d"), schema=schema, **options).collect()


@pytest.mark.parametrize(
    ("select", "options", "message"),
    [
        ("current_date() as day", {}, "'day'"),
        ("named_struct('x', id) as s", {}, "'s'"),
        ("array(id, null) as a", {}, "'a': record 0: .*null in a list|a null in a list cannot be stored"),
        ("array(array(id)) as a", {"recordType": "Example"}, "set recordType to it"),
        ("id / 3 as third", {"floats": "exact"}, "'third'"),
        ("id", {"codec": "snappy"}, "codec must be one of"),
    ],
)
def test_mistake_of_a_writer_is_told_and_leaves_nothing(spark, tmp_path, select, options, message):
    with pytest.raises(Exception, match=message):
        save(spark.range(1, 10).selectExpr(select), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


# --- Lost workers -----------------------------------------------------------------------------------


def test_reader_whose_process_is_killed_gives_each_row_once(spark, tmp_path):
    folder = shards(tmp_path / "d", size=20_000)
    frame = read(spark, folder, source="tfrecord_killed", schema="id bigint", splitSize="300000")
    assert ids(frame) == list(range(60_000))


def test_writer_whose_process_is_killed_leaves_each_row_once(spark, tmp_path):
    frame = spark.range(0, 60_000, 1, 3)
    save(frame, tmp_path / "out", source="tfrecord_killed", maxRecordsPerFile="1000")
    names = os.listdir(tmp_path / "out")
    assert [name for name in names if not name.startswith("part-")] == ["_SUCCESS"]
    assert len(names) == 61
    assert ids(read(spark, tmp_path / "out")) == list(range(60_000))


def test_job_that_fails_leaves_the_old_files_and_no_others(spark, tmp_path):
    save(spark.range(10), tmp_path / "out")
    before = sorted(os.listdir(tmp_path / "out"))
    failing = spark.range(0, 100, 1, 4).selectExpr("if(id = 99, raise_error('lost'), id) as id")
    for mode in ("overwrite", "append"):
        with pytest.raises(Exception, match="lost"):
            save(failing, tmp_path / "out", mode)
        assert sorted(os.listdir(tmp_path / "out")) == before
        assert ids(read(spark, tmp_path / "out")) == list(range(10))


# --- Save modes -------------------------------------------------------------------------------------


def test_append_and_overwrite(spark, tmp_path):
    out = tmp_path / "out"
    save(spark.range(5), out)
    save(spark.range(5, 10), out)
    assert ids(read(spark, out)) == list(range(10))
    save(read(spark, out).where("id < 3"), out, "overwrite")  # what is overwritten is read meanwhile
    assert ids(read(spark, out)) == [0, 1, 2]
    save(spark.range(0), out, "overwrite")
    assert os.listdir(out) == ["_SUCCESS"]


def test_error_and_ignore_are_options_as_spark_offers_them_to_no_source_in_python(spark, tmp_path):
    out = tmp_path / "out"
    for mode in ("errorifexists", "ignore"):
        with pytest.raises(AnalysisException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
            save(spark.range(1), out, mode)
    save(spark.range(1), out, saveMode="errorifexists")
    with pytest.raises(Exception, match="it exists already"):
        save(spark.range(2), out, saveMode="errorifexists")
    save(spark.range(3), out, saveMode="ignore")
    assert ids(read(spark, out)) == [0]


def test_partition_columns_are_refused(spark, tmp_path):
    frame = spark.range(3).write.format("tfrecord").mode("append").partitionBy("id")
    with pytest.raises(Exception, match="partitioning"):
        frame.save(str(tmp_path / "out"))


# --- Without Spark's session ------------------------------------------------------------------------

CHEAP = """
import json, sys, pyspark.sql.datasource
before = set(sys.modules)
import pyspark_tfrecord
new = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(json.dumps([pyspark_tfrecord.DefaultSource.name(), sorted(new)]))
"""


def test_import_by_spark_brings_in_no_more_than_importing_purerecord():
    done = subprocess.run([sys.executable, "-c", CHEAP], cwd="/", capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["tfrecord", ["crc32c", "numpy", "purerecord", "pyspark_tfrecord"]]


def test_source_is_the_public_class():
    import pyspark_tfrecord  # noqa: PLC0415 - an editable install has it too

    import purerecord.spark  # noqa: PLC0415

    assert pyspark_tfrecord.DefaultSource is purerecord.spark.DefaultSource
    assert purerecord.spark.DefaultSource.__module__ == "purerecord.spark"


def test_page_about_clusters(spark):
    assert run_page("clusters.md", "spark") >= 4
