"""The options of reads and writes, as text by name."""

from __future__ import annotations

import json
import os

import pytest

from purerecord.spark.options import read_options, write_options
from purerecord.storage.url import Url


def test_defaults_of_a_read():
    options = read_options({"path": "a"})
    assert options.paths == [os.path.abspath("a")]
    assert options.record_type == ""
    assert (options.compression, options.on_error, options.split_size) == ("auto", "raise", None)
    assert (options.columns, options.infer_all, options.recursive, options.name_pattern) == (
        None,
        False,
        False,
        None,
    )


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"recordType": "SequenceExample"}, "record_type", "SequenceExample"),
        ({"RECORDTYPE": "bytearray"}, "record_type", "ByteArray"),
        ({"codec": "org.apache.hadoop.io.compress.GzipCodec"}, "compression", "GZIP"),
        ({"compression": "deflate"}, "compression", "ZLIB"),
        ({"compression": "zstd"}, "compression", "ZSTD"),
        ({"mode": "FAILFAST"}, "on_error", "raise"),
        ({"mode": "DROPMALFORMED"}, "on_error", "skip"),
        ({"on_error": "stop"}, "on_error", "stop"),
        ({"onError": "tail", "mode": "FAILFAST"}, "on_error", "tail"),
        ({"splitSize": "64MiB"}, "split_size", 64 << 20),
        ({"splitSize": "1000"}, "split_size", 1000),
        ({"columns": "b, a ,b"}, "columns", ["b", "a"]),
        ({"columns": '["a,b", " c"]'}, "columns", ["a,b", " c"]),
        ({"inferAll": "TRUE"}, "infer_all", True),
        ({"recursiveFileLookup": "true"}, "recursive", True),
        ({"pathGlobFilter": "*.gz"}, "name_pattern", "*.gz"),
        ({"__iscreatetable": "1", "serialization.format": "1"}, "paths", [os.path.abspath("a")]),
    ],
)
def test_option_of_a_read(given, name, value):
    assert getattr(read_options({"path": "a", **given}), name) == value


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({}, "if_exists", "append"),
        ({"saveMode": "ErrorIfExists"}, "if_exists", "error"),
        ({"saveMode": "ignore"}, "if_exists", "ignore"),
        ({"maxRecordsPerFile": "10"}, "most_records", 10),
        ({"maxRecordsPerFile": "0"}, "most_records", None),
        ({"floats": "exact"}, "floats", "exact"),
        ({}, "suffix", ".tfrecord"),
        ({"codec": "gzip"}, "suffix", ".tfrecord.gz"),
        ({"codec": "org.apache.hadoop.io.compress.DefaultCodec"}, "suffix", ".tfrecord.deflate"),
        ({"codec": "none"}, "suffix", ".tfrecord"),
    ],
)
def test_option_of_a_write(given, name, value):
    assert getattr(write_options({"path": "a", **given}), name) == value


def test_gzip_is_written_in_blocks_on_request():
    options = write_options({"path": "a", "codec": "gzip", "blockSize": "1MiB"}).options
    assert (options.compression, options.block_size) == ("GZIP", 1 << 20)


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (read_options, {"columsn": "a"}, "no option 'columsn'"),
        (read_options, {"mode": "PERMISSIVE"}, "mode must be one of dropmalformed, failfast"),
        (read_options, {"on_error": "ignore"}, "on_error must be one of"),
        (read_options, {"recordType": "Exmaple"}, "recordType must be one of"),
        (read_options, {"compression": "lzo"}, "compression must be one of"),
        (read_options, {"codec": "gzip", "compression": "gzip"}, "two names of one option"),
        (read_options, {"splitSize": "many"}, "a size like"),
        (read_options, {"inferAll": "yes"}, "inferAll must be one of false, true"),
        (read_options, {"columns": "[1]"}, "columns must be names"),
        (read_options, {"columns": "a,,b"}, "columns must be names"),
        (read_options, {"columns": "[broken"}, "columns is no valid JSON"),
        (read_options, {"path": ""}, "there is no path"),
        (read_options, {"storageOptions": '{"key": "SECRET"'}, "storageOptions is no valid JSON"),
        (read_options, {"storageOptions": "[1]"}, "must be a JSON object"),
        (read_options, {"storageOptions": "{}"}, "are for URLs"),
        (write_options, {"columns": "a"}, "no option 'columns'"),
        (write_options, {"codec": "zstd"}, "codec must be one of"),
        (write_options, {"maxRecordsPerFile": "few"}, "maxRecordsPerFile must be a number"),
        (write_options, {"saveMode": "replace"}, "saveMode must be one of"),
        (write_options, {"floats": "half"}, "floats must be"),
        (write_options, {"blockSize": "1MB"}, 'block_size needs compression_type "GZIP"'),
        (write_options, {"paths": '["a", "b"]'}, "a write has one path, not 2"),
    ],
)
def test_mistake_is_an_error_that_says_what_is_allowed(make, given, message):
    with pytest.raises(ValueError, match=message) as caught:
        make({"path": "a", **given})
    assert "SECRET" not in str(caught.value)


def test_several_paths_come_as_json_and_local_urls_are_paths():
    paths = read_options({"paths": json.dumps(["file:/a/b", "file:///c"])}).paths
    assert paths == [os.path.abspath("/a/b"), os.path.abspath("/c")]


def test_table_of_the_catalog_is_refused_since_spark_tells_nothing_about_it():
    for given in ({}, {"provider": "tfrecord", "location": "file:/a", "path": "/a"}):
        with pytest.raises(ValueError, match="make a temporary view"):
            read_options(given)
    with pytest.raises(ValueError, match="there is no path"):
        read_options({"codec": "gzip"})


def test_options_of_a_store_go_with_the_url_and_do_not_show():
    options = json.dumps({"key": "SECRET", "Mixed": 1})
    (url,) = read_options({"path": "s3://bucket/a", "storageOptions": options}).paths
    assert isinstance(url, Url)
    assert url.storage_options == {"key": "SECRET", "Mixed": 1}
    assert "SECRET" not in repr(read_options({"path": "s3://bucket/a", "storageOptions": options}))
