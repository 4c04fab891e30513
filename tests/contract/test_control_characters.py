"""What a terminal or a log shows never carries control characters of the data.

Files and features have hostile names, text is hostile too, and some files are damaged. Every command prints
its output and its errors; the library raises its own. A newline ends a line of ours, and nothing else.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.printable import printable
from tests.support.command_line import run
from tests.support.damage import flip_byte, frames
from tests.support.settings import tries

HOSTILE = ["\x1b", "\x1bc", "\n", "\r", "\x07", "\x7f", "\x85", "\x9b", "\u202e", "\u2066", "\u2028", "\t"]
pieces = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
texts = st.lists(pieces, min_size=1, max_size=5).map("".join)
file_names = (
    (texts | st.binary(min_size=1, max_size=5).map(os.fsdecode))
    .map(lambda name: "n" + name.replace("/", "").replace("\0", "").replace("@", ""))
    .filter(lambda name: not set("*?[") & set(name) and len(os.fsencode(name)) < 200)
)

COMMANDS = [
    ["validate", "{sound}", "{damaged}", "{missing}", "{page}"],
    ["validate", "--json", "--decode", "{sound}", "{damaged}", "{missing}"],
    ["validate", "--schema", "{page}", "{sound}"],
    ["validate", "--min-records", "9", "--workers", "2", "{shard}", "{shards}", "{packed}"],
    ["validate", "{sound}", "--workers", "{missing}"],
    ["info", "{sound}"],
    ["info", "--each", "{sound}", "{damaged}"],
    ["info", "{sound}", "{packed}", "{page}", "{missing}"],
    ["info", "--json", "{sound}"],
    ["info", "--schema", "{sound}"],
    ["info", "--schema", "{page}"],
    ["cat", "{sound}", "{damaged}", "{page}", "{missing}"],
    ["cat", "--format", "text", "{sound}"],
    ["cat", "--features", "{missing}", "{sound}"],
    ["index", "{sound}", "{damaged}", "{packed}", "{missing}"],
    ["salvage", "{damaged}", "{sound}", "{page}", "{out}", "--quarantine", "{bad}"],
    ["salvage", "{damaged}", "{out}-one", "--quarantine", "{bad}-one"],
    ["salvage", "--json", "{damaged}", "{out}-two"],
    ["salvage", "{damaged}", "{damaged}"],
    ["{sound}", "{missing}"],
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(folder: Path, name: str, feature: str, text: str) -> dict[str, str]:
    """Files with hostile names, features and text in an empty ``folder``; their names by what they are."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    payloads = [
        pr.encode_example({feature: text, "x": [1, 2]}),
        pr.encode_sequence_example({feature: 1}, {feature + "s": [[text], []]}),
        text.encode(),
    ]
    kinds = ("sound", "damaged", "missing", "page", "packed", "out", "bad")
    names = {kind: f"{name}-{kind}" for kind in kinds}
    Path(names["sound"]).write_bytes(frames(payloads[:1]))
    Path(names["damaged"]).write_bytes(flip_byte(frames(payloads), 20))
    Path(names["page"]).write_bytes(b"<html>" + text.encode())
    with pr.TFRecordWriter(names["packed"], "GZIP") as writer:
        writer.write_many(payloads)
    for number in (0, 2):
        shard = f"{name}-{number:05d}-of-00004"
        with pr.TFRecordWriter(shard, "GZIP" if number else "") as writer:
            writer.write_many(payloads)
        names["shards" if number else "shard"] = shard
    return names


@settings(max_examples=tries(24))
@given(name=file_names, feature=texts, text=texts)
def test_no_command_prints_them(folder, capfd, name, feature, text):
    names = write_files(folder, name, feature, text)
    for command in COMMANDS:
        arguments = [argument.format_map(names) for argument in command]
        _, out, err = run(capfd, *arguments)
        assert out or err
        for line in (out + err).split("\n"):
            assert printable(line) == line, arguments


def calls(names: dict[str, str], feature: str) -> list[Any]:
    """Calls that fail, or warn, and say why."""
    record = pr.encode_example({feature: "text"})
    return [
        lambda: list(pr.read_records(names["damaged"])),
        lambda: list(pr.read_records(names["page"])),
        lambda: list(pr.read_records(names["missing"])),
        lambda: pr.RecordFile(names["packed"])[0],
        lambda: pr.build_index(names["packed"]),
        lambda: pr.build_index(names["page"]),
        lambda: pr.salvage(names["page"], names["out"]),
        lambda: pr.salvage(names["sound"], names["sound"]),
        lambda: pr.salvage(f"{names['shard'].removesuffix('-00000-of-00004')}-*", "out"),
        lambda: pr.TFRecordWriter(f"memory://{names['out']}", mode="a"),
        lambda: list(pr.read_records(f"{names['out']}@0")),
        lambda: pr.parse_example([record], {feature: pr.FixedLenFeature([], np.int64)}),
        lambda: pr.parse_example([record], {feature + "x": pr.FixedLenFeature([], np.int64)}),
        lambda: pr.parse_example([record], {"x": pr.FixedLenFeature([], int)}, example_names=[feature]),
        lambda: pr.encode_example({feature: object()}),
        lambda: pr.encode_examples({feature: [1], "other": [1, 2]}),
        lambda: pr.schema_from_json(feature),
        lambda: pr.TFRecordOptions(feature + "?"),
        lambda: list(pr.TFRecordDataset(names["damaged"]).batch(2)),
    ]


@settings(max_examples=tries(24))
@given(name=file_names, feature=texts, text=texts)
def test_no_error_message_or_repr_holds_them(folder, name, feature, text):
    names = write_files(folder, name, feature, text)
    for number, call in enumerate(calls(names, feature)):
        with pytest.raises((ValueError, OSError, TypeError, ImportError)) as caught:
            call()
        assert printable(str(caught.value)) == str(caught.value), number
    with pr.ShardedWriter(names["out"], shards=2) as writer:
        shown = [
            repr(writer),
            repr(pr.RecordFile(names["sound"])),
            repr(pr.TFRecordDataset(names["sound"])),
            repr(pr.validate(names["damaged"])),
            repr(next(pr.read_batches(names["sound"]))),
            repr(next(pr.scan(names["damaged"]))),
        ]
    assert [text for text in shown if printable(text) != text] == []
