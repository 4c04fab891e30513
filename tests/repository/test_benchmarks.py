"""The benchmark's own machinery: no clock is looked at, no peer is needed."""

from __future__ import annotations

import ast
import json
import struct
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import chart, fresh, race, report, versions
from benchmarks.cases import CASES, PARTS, Case
from benchmarks.digest import Rows, Written, dense, fingerprint, padded
from benchmarks.handmade import Jagged, canonical, examples, frame, masked_crc, payloads, varint
from benchmarks.race import Result
from benchmarks.sides import Task
from benchmarks.worker import ROOT, SideError
from benchmarks.workloads import WORKLOADS, Store
from purerecord.payload.proto import Example, SequenceExample

TINY = 100_000  # divides every workload down to the smallest size


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache", TINY)


def value_of(feature: Any) -> list[Any]:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value)


def row(column: Any, index: int) -> list[Any]:
    if isinstance(column, Jagged):
        return column.values[column.splits[index] : column.splits[index + 1]].ravel().tolist()
    value = column[index]
    return [value] if isinstance(value, bytes) else np.atleast_1d(value).tolist()


@pytest.mark.parametrize("name", [name for name, work in WORKLOADS.items() if not work.steps])
def test_protobuf_reads_in_the_file_what_the_workload_says(name: str, store: Store) -> None:
    work = WORKLOADS[name]
    columns = store.columns(work)
    assert set(work.spec) <= set(columns)
    records = [Example.FromString(payload) for payload in payloads(store.file(work))]
    assert len(records) == store.records(work)
    for index, record in enumerate(records):
        found = {key: value_of(feature) for key, feature in record.features.feature.items()}
        assert found == {key: row(column, index) for key, column in columns.items()}


def test_protobuf_reads_the_steps_of_a_sequence(store: Store) -> None:
    work = WORKLOADS["seq"]
    columns = store.columns(work)
    for index, payload in enumerate(payloads(store.file(work))):
        record = SequenceExample.FromString(payload)
        context = {key: value_of(feature) for key, feature in record.context.feature.items()}
        assert context == {key: row(columns[key], index) for key in work.spec}
        for key, steps in record.feature_lists.feature_list.items():
            assert [x for step in steps.feature for x in value_of(step)] == row(columns[key], index)


def test_workloads_are_the_same_whenever_they_are_made(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "a", TINY), Store(tmp_path / "b", TINY)
    for work in WORKLOADS.values():
        assert first.file(work).read_bytes() == second.file(work).read_bytes()


def test_shards_hold_the_file_in_order(store: Store) -> None:
    work = WORKLOADS["tab"]
    assert b"".join(path.read_bytes() for path in store.shards(work)) == store.file(work).read_bytes()


def test_a_file_is_made_only_once(store: Store) -> None:
    path = store.file(WORKLOADS["tab"])
    path.write_bytes(b"kept")
    assert store.file(WORKLOADS["tab"]).read_bytes() == b"kept"


def test_gzip_and_repeated_files_hold_the_same_bytes(store: Store) -> None:
    plain = store.file(WORKLOADS["tab"]).read_bytes()
    assert zlib.decompress(store.gzip(WORKLOADS["tab"]).read_bytes(), 31) == plain
    assert store.repeated(store.file(WORKLOADS["tab"]), len(plain) + 1).read_bytes() == plain * 2


def test_key_order_differs_from_record_to_record_only_where_it_should(store: Store) -> None:
    def orders(name: str) -> set[tuple[bytes, ...]]:
        names = [b"\n%c%b" % (len(key), key.encode()) for key in WORKLOADS[name].spec]
        found = payloads(store.file(WORKLOADS[name]))
        return {tuple(sorted(names, key=payload.index)) for payload in found}

    assert len(orders("tab")) == 1
    assert len(orders("shuf")) > 3


def test_canonical_forgets_the_order_of_keys_and_nothing_else() -> None:
    columns: Any = {"a": np.array([1, 2]), "b": [b"x", b"yy" * 100]}
    sorted_keys = list(examples(columns))
    swapped = list(examples(columns, np.array([[1, 0], [1, 0]])))
    assert sorted_keys != swapped
    assert list(map(canonical, sorted_keys)) == list(map(canonical, swapped))
    assert canonical(sorted_keys[0]) != canonical(sorted_keys[1])
    with pytest.raises(ValueError, match="not an Example"):
        canonical(b"junk")


def test_handmade_bytes_are_the_formats() -> None:
    assert [varint(n).hex() for n in (0, 127, 128, 300, -1)] == ["00", "7f", "8001", "ac02", "ff" * 9 + "01"]
    # CRC-32C of "123456789" is 0xe3069283; rotated right by 15 bits, plus 0xa282ead8
    assert masked_crc(b"123456789") == struct.pack("<I", 0xC78AB0E5)
    assert frame(b"abc")[:8] == b"\x03" + b"\0" * 7
    assert len(frame(b"abc")) == 19


# --- digests -------------------------------------------------------------------------------------------


def test_digest_does_not_see_batches() -> None:
    floats = np.arange(6, dtype=np.float32).reshape(3, 2)
    names = [b"a", b"", b"bcd"]
    whole = fingerprint([{"x": dense(floats), "n": dense(names)}])
    parts = fingerprint([{"x": dense(floats[i : i + 1]), "n": dense(names[i : i + 1])} for i in range(3)])
    assert whole == parts
    assert whole[0] == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (dense(np.array([1, 2])), dense(np.array([1, 3]))),
        (dense(np.array([1, 2])), dense(np.array([1.0, 2.0]))),
        (dense([b"ab", b"c"]), dense([b"a", b"bc"])),
        (Rows(np.arange(3), np.array([1, 2])), Rows(np.arange(3), np.array([2, 1]))),
    ],
)
def test_digest_sees_every_difference(one: Rows, other: Rows) -> None:
    assert fingerprint([{"x": one}]) != fingerprint([{"x": other}])


def test_digest_of_padded_rows_ignores_the_padding() -> None:
    lengths = np.array([1, 2])
    one = padded(np.array([[1, 0], [2, 3]]), lengths)
    other = padded(np.array([[1, 9], [2, 3]]), lengths)
    assert fingerprint([{"x": one}]) == fingerprint([{"x": other}])


def test_digest_of_records_and_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    records = list(examples({"a": np.array([1, 2])}))
    path.write_bytes(b"".join(map(frame, records)))
    assert fingerprint(records) == fingerprint([records])
    assert fingerprint([Written(path, exact=True)])[0] == 2
    changed = tmp_path / "b"
    changed.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert fingerprint([Written(path, exact=True)]) != fingerprint([Written(changed, exact=True)])


# --- the report ----------------------------------------------------------------------------------------


def made_up() -> list[Result]:
    return [
        Result(
            "read", "tab", "tf_record_iterator", "tensorflow", 2.0, value=2.5, ours=400, theirs=1000
        ).judge(),
        Result("parse", "ctr", "a <b> & c", "tensorflow", 1.5, value=0.8, ours=10, theirs=8).judge(),
        Result("decode", "tab", "loader", "tfrecord", None, value=120.0).judge(),
        Result("index", "tab", "build_index", "", 3.0, "M records/s", value=4.0).judge(),
        Result("import", "", "import numpy, crc32c", "", 1.3, at_most=True, value=1.2).judge(),
        Result("gzip", "tab", "x", "tensorflow", 1.0, status="not there yet: purerecord.read_records"),
    ]


def test_results_are_judged_by_their_target() -> None:
    words = [result.status for result in made_up()]
    assert words[:5] == ["reached", "short of", "info", "reached", "reached"]
    assert Result("import", "", "", "", 1.3, at_most=True, value=1.4).judge().status == "short of"


def test_table_shows_every_result_and_counts_the_targets() -> None:
    lines = [report.line(result) for result in made_up()]
    assert "2.50 ×" in lines[0]
    assert lines[0].endswith("reached")
    assert "≤ 1.3" in lines[4]
    assert lines[5].endswith("not there yet: purerecord.read_records")
    assert report.summary(made_up()) == "3 of 4 targets reached; 1 comparisons without a figure"


def test_json_holds_everything_once() -> None:
    results = made_up()
    results[0].detail = {"versions": {"tensorflow": "2.21"}, "seconds": [[1.0], [2.0]]}
    found = json.loads(report.as_json(results, {"rounds": 3}))
    assert found["versions"] == {"tensorflow": "2.21"}
    assert found["settings"] == {"rounds": 3}
    assert [each["status"] for each in found["results"]] == [result.status for result in results]
    assert found["results"][0]["detail"] == {"seconds": [[1.0], [2.0]]}


def test_chart_is_well_formed_and_has_a_bar_per_ratio() -> None:
    tree = ET.fromstring(chart.bar_chart(made_up()))
    bars = [node.get("class") for node in tree.iter("{http://www.w3.org/2000/svg}rect")]
    assert bars == ["reached", "short", "info"]
    assert ET.fromstring(chart.bar_chart([])).tag.endswith("svg")


# --- the whole -----------------------------------------------------------------------------------------


def test_every_case_names_a_part_a_workload_and_a_form() -> None:
    for case in CASES:
        assert case.part in PARTS
        assert case.workload in WORKLOADS
        assert hasattr(Store, case.form)
    assert len(set(CASES)) == len(CASES)


def test_command_line_refuses_an_unknown_part(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.arguments(["reed"])
    assert "no such part: reed" in capsys.readouterr().err
    assert command.arguments(["--quick"]).rounds == 3
    assert command.arguments(["--memory-size", "10G"]).memory_size == 10 << 30


@pytest.mark.parametrize("case", sorted({case.peer for case in CASES if case.peer}))
def test_every_action_that_is_compared_is_listed_by_its_side(case: str) -> None:
    """Read, not imported: the libraries of the others need not be there."""
    side, action = case.replace("alone.", "ours.").split(".")
    tree = ast.parse((Path(race.__file__).parent / "sides" / f"{side}.py").read_text())
    assert action in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_our_side_runs_end_to_end(store: Store) -> None:
    """Every action of ours on a tiny workload gives what the workload says, in a worker process."""
    cases = [
        Case("read", "tab", "", "read", "", None),
        Case("parse", "emb", "", "parse", "", None, batch=7),
        Case("write", "tab", "", "write", "", None),
        Case("none", "tab", "", "nonsense", "", None),
    ]
    results = list(race.run(cases, store, rounds=1))
    for result in results[:3]:
        assert result.detail["records"] == store.records(WORKLOADS[result.workload])
        assert result.status == "info"
    assert results[3].status.startswith("failed: KeyError")
    assert not list(store.folder.glob("output-*"))


def test_results_that_differ_are_never_timed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Liar:
        version = "0"
        alive = True

        def __init__(self, side: str) -> None:
            self.side = side

        def open(self, action: str, task: Task) -> tuple[int, str]:
            return 16, self.side

        def time(self) -> float:
            raise AssertionError("timed")

        def close(self) -> None:
            pass

        stop = close

    monkeypatch.setattr(race, "Worker", Liar)
    result = next(race.run([Case("read", "tab", "", "read", "tensorflow.read", 2.0)], store, 1))
    assert result.status == "the results differ: 16 and 16 records"
    assert result.value is None


def test_a_missing_peer_is_reported(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(side: str) -> None:
        raise SideError("failed: ModuleNotFoundError: No module named 'x'")

    monkeypatch.setattr(race, "Worker", missing)
    result = next(race.run([Case("read", "tab", "", "read", "", 2.0)], store, 1))
    assert result.status == "ours is not installed"


def test_memory_is_judged_by_size_and_flatness() -> None:
    def judged(small: float, large: float) -> str:
        result = Result("memory", "tab", "x", "", fresh.MEMORY_CEILING, "MB", at_most=True)
        return fresh._judged(result, [small * fresh.MEGABYTE, large * fresh.MEGABYTE]).status

    assert judged(50, 55) == "reached"
    assert judged(50, 70) == "short of"
    assert judged(150, 150) == "short of"


def test_root_is_the_project() -> None:
    assert (ROOT / "pyproject.toml").exists()


class _Version:
    """A checkout that does its work in as many seconds as it says."""

    def __init__(self, side: str, root: Path) -> None:
        self.seconds, self.digest = float(root.name), root.parent.name

    def open(self, action: str, task: Any) -> tuple[int, str]:
        return 1000, self.digest

    def time(self) -> float:
        return self.seconds

    def close(self) -> None:
        pass

    stop = close


def _compared(monkeypatch: Any, old: str, new: str) -> list[tuple[float, float]]:
    monkeypatch.setattr(versions, "Worker", _Version)
    monkeypatch.setattr(versions, "ROOT", Path(new))
    rows = versions.compare(versions.distinct(["index"], ["tab"]), Path(old), Store(Path("none"), 1), 1)
    return [(before, after) for _, before, after in rows]


def test_two_versions_are_compared_in_nanoseconds_per_record(monkeypatch):
    monkeypatch.setattr(race, "MIN_SECONDS", 0)
    rows = _compared(monkeypatch, "same/2", "same/1")
    assert rows == [(2e6, 1e6)] * len(rows) != []


def test_versions_that_give_different_results_are_not_compared(monkeypatch):
    with pytest.raises(versions.SideError, match="different results"):
        _compared(monkeypatch, "this/2", "that/1")


def test_every_action_of_ours_is_compared_once_whatever_its_peers():
    cases = versions.distinct(list(PARTS), None)
    done = [(case.workload, case.ours, case.form, case.batch, case.take) for case in cases]
    assert len(done) == len(set(done))
    assert {(case.workload, case.ours) for case in cases} == {(case.workload, case.ours) for case in CASES}
