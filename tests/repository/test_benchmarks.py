"""The benchmark's own machinery: no clock is looked at, no peer is needed."""

from __future__ import annotations

import ast
import json
import struct
import sys
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from benchmarks import __main__ as command
from benchmarks import chart, clusters, fresh, loaders, race, report, tools, versions
from benchmarks.cases import CASES, PARTS, Case
from benchmarks.digest import Rows, Written, dense, fingerprint, padded
from benchmarks.fleet import Job, Machines, predict
from benchmarks.fleet import Store as FarStore
from benchmarks.handmade import Jagged, canonical, examples, frame, masked_crc, payloads, varint
from benchmarks.loaders import chart as loaders_chart
from benchmarks.loaders import client
from benchmarks.loaders import race as loaders_race
from benchmarks.loaders import report as loaders_report
from benchmarks.loaders.content import Content
from benchmarks.loaders.jobs import JOBS
from benchmarks.loaders.proof import expected, prove
from benchmarks.loaders.sides import SIDES
from benchmarks.race import Result
from benchmarks.sides import Task
from benchmarks.worker import ROOT, SideError
from benchmarks.workloads import WORKLOADS, Store
from purerecord.payload.proto import Example, SequenceExample
from purerecord.storage.remote_file import RemoteFile
from tests.support.faulty_store import URL, FaultyObject, stored_as
from tests.support.interop import interop

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


# --- the race of the loaders ----------------------------------------------------------------------------

NO_PYTHON = "/nonexistent/python"


@pytest.fixture
def content(tmp_path: Path) -> Content:
    made = Content(tmp_path / "content", "tab", 100)
    made.make()
    return made


def test_a_content_of_fewer_rows_holds_the_first_rows(tmp_path: Path) -> None:
    for kind in ("img", "tab", "ctr", "emb"):
        fewer, more = Content(tmp_path, kind, 3), Content(tmp_path, kind, 5)
        fewer.make()
        more.make()
        for name, column in fewer.columns().items():
            longer: Any = more.columns()[name]
            assert np.array_equal(np.asarray(column, object), np.asarray(longer[:3], object)), (kind, name)


def test_the_proof_does_not_depend_on_order_batches_or_containers(content: Content) -> None:
    columns = content.columns()
    order = np.random.default_rng(0).permutation(100)
    batches = []
    for part in np.array_split(order, 7):
        batch: dict[str, Any] = {}
        for name, column in columns.items():
            batch[name] = [bytearray(column[i]) for i in part] if isinstance(column, list) else column[part]
        batches.append(batch)
    found = prove(content, batches)
    assert found.fault(expected(content, False)) == ""
    assert found.spread > 0.25
    assert prove(content, [columns]).spread == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda c: {**c, "age": c["age"] + 1}, "other values than were written"),
        (lambda c: {**c, "age": np.roll(c["age"], 1)}, "other values than were written"),
        (lambda c: {**c, "name": [c["name"][0] + b"\0", *c["name"][1:]]}, "other values than were written"),
        (lambda c: {**c, "age": c["user_id"], "user_id": c["age"]}, "other values than were written"),
        (lambda c: {name: column[1:] for name, column in c.items()}, "1 of 100 records lost"),
        (lambda c: {name: [*column, column[0]] for name, column in c.items()}, "1 records came again"),
        (
            lambda c: {name: [*column[1:], column[1]] for name, column in c.items()},
            "1 of 100 records lost, 1 records came again",
        ),
    ],
)
def test_the_proof_sees_what_was_lost_repeated_or_changed(change: Any, fault: str, content: Content) -> None:
    changed = change(content.columns())
    changed["score"] = np.asarray(changed["score"], np.float32)
    assert prove(content, [changed]).fault(expected(content, False)) == fault


def test_the_proof_refuses_numbers_of_another_type(content: Content) -> None:
    columns = content.columns()
    with pytest.raises(TypeError, match="age came as float64, not int64"):
        prove(content, [{**columns, "age": np.asarray(columns["age"], float)}])
    with pytest.raises(ValueError, match="score lost digits"):
        prove(content, [{**columns, "score": np.asarray(columns["score"], float) + 1e-12}])


def test_every_side_of_the_race_has_what_a_side_must_have() -> None:
    for module, _ in SIDES.values():
        tree = ast.parse((Path(loaders.__file__).parent / "sides" / f"{module}.py").read_text())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {"FORMAT", "VERSION", "JOBS", "WORKERS", "write", "loader"} <= names, module


def test_the_race_runs_end_to_end_with_our_sides_and_names_the_missing_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few records through real processes: proved, timed, damaged, stopped and resumed."""
    words = ["loaders", "images", "promises", "start", "single", "--divide", "1000000", "--rounds", "1"]
    words += [
        "--python",
        f"webdataset={NO_PYTHON}",
        "--cache",
        str(tmp_path / "cache"),
        "--out",
        str(tmp_path / "out"),
    ]
    for side in ("purerecord parallel", "purerecord tf", "webdataset"):
        words += ["--side", side]
    command.main(words)
    results = loaders_report.from_json((tmp_path / "out" / "loaders.json").read_text())
    for figure in results.figures:
        if figure.side == "webdataset":
            assert figure.rate is None
            assert "its Python cannot be started" in figure.status
        else:
            assert (figure.status, figure.rows) == ("", JOBS[figure.job].sizes(1_000_000)[0])
            assert figure.rate
    ran = {(figure.job, figure.side, figure.workers) for figure in results.figures if figure.rate}
    assert ran == {
        ("images", "purerecord parallel", 0),
        ("images", "purerecord parallel", 1),
        ("images", "purerecord tf", 0),
    }
    parallel, tf, missing = results.promises
    assert (parallel.damage, parallel.once, parallel.resume) == ("noticed: ChecksumError", "yes", "exact")
    assert (tf.damage, tf.once, tf.status) == ("noticed: DataLossError", "yes", "")
    assert "its Python cannot be started" in missing.status
    assert results.starts[0].first
    assert [name for _, name, _ in results.singles] == ["tf.io.parse_single_example"]
    printed = capsys.readouterr().out
    assert "| webdataset | – | – | – |" in printed
    assert not list((tmp_path / "cache").rglob("damaged-*"))
    ET.fromstring((tmp_path / "out" / "loaders.svg").read_text())


class _FakeClient:
    """A side that delivers what it is told to, and must not be timed if that is wrong."""

    def __init__(self, side: str, python: str) -> None:
        self.about = {"format": "tfrecord", "jobs": ["images"], "workers": [0], "version": "1", "checks": ""}
        self.alive = True

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        if do == "write":
            Path(request["target"]).mkdir(parents=True)
            return {}
        assert do == "prove", "a side that delivers something else was timed"
        return {"proof": {"records": 1024, "distinct": 1023, "digest": "0"}, "seconds": 1.0, "first": 0.1}

    def stop(self) -> None:
        pass


def test_a_side_that_delivers_something_else_has_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders_race, "Client", _FakeClient)
    race_of_one = loaders_race.Race(tmp_path, ["litdata"], {"litdata": "python"}, 1_000_000, 1)
    (figure,) = race_of_one.figures("images")
    assert (figure.rate, figure.status) == (None, "1 of 1024 records lost, 1 records came again")


def test_a_side_that_does_not_answer_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT", 0.0)
    with pytest.raises(SideError, match="no answer within 0 seconds"):
        client.Client("purerecord parallel", sys.executable)


def _race_results() -> loaders_report.Results:
    def figure(job: str, side: str, workers: int, rate: float | None, **more: Any) -> loaders_race.Figure:
        return loaders_race.Figure(job, side, workers, 100, rate, **more)

    results = loaders_report.Results({"sides": ["purerecord", "litdata"]}, versions={"purerecord": "1"})
    results.figures = [
        figure("columns", "purerecord", 0, 2000.0),
        figure("columns", "purerecord", 2, 1000.0),
        figure("columns", "litdata", 0, 4000.0),
        figure("columns", "litdata", 2, None, status="3 of 100 records lost"),
        figure("shuffled", "purerecord MapDataset", 0, 30.0),
        figure("shuffled", "webdataset", 0, 60.0, window=10),
        figure("shuffled", "litdata", 0, 10.0),
    ]
    results.promises = [loaders_race.Promise("litdata", "no error: x | y", "yes", "exact")]
    results.starts = [loaders_race.Start("litdata", 1.0, 2.0, 3.0, 2, 10_000_000, 20_000_000)]
    results.singles = [("purerecord", "parse_single_example", 1e-4)]
    return results


def test_the_tables_of_the_race_show_losses_and_wins_alike() -> None:
    text = loaders_report.markdown(_race_results())
    assert "| **purerecord** | 2,000 | – | 1,000 | 0.50 × |  |" in text
    assert "| litdata | 4,000 | – | – |  | 2 workers: 3 of 100 records lost |" in text
    assert text.index("| litdata | 4,000") < text.index("| **purerecord** | 2,000")
    assert "shuffles in a window of 10" in text
    # A side that shuffles in a window is no peer of one that shuffles all records.
    assert "| `MapDataset`, shuffled | 30 | the best peer: 10 | 3.00 × | ≥ 10 |" in text
    assert "| `IterableDataset`, 40 columns, 2 workers | 1,000 | no worker: 2,000 | 0.50 × | ≥ 1.0 |" in text
    assert "no error: x \\| y" in text
    assert "| litdata | 1.00 | 2.00 | 3.00 (2) | 10 | 20 |" in text
    assert "| litdata | not installed |" in text


def test_the_short_table_goes_into_the_docs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier, page = tmp_path / "loaders.json", tmp_path / "page.md"
    earlier.write_text(loaders_report.as_json(_race_results()), encoding="utf-8")
    page.write_text("before\n<!-- race -->\nold\n<!-- end of race -->\nafter\n")
    command.main(["loaders", "--from", str(earlier), "--docs", str(page)])
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[:2] + lines[-2:] == ["before", "<!-- race -->", "<!-- end of race -->", "after"]
    assert "| **purerecord** | 2,000 | – | – | – | – |" in lines
    assert "| litdata | 4,000 | 10 | no error: x \\| y | yes | exact |" in lines
    assert "### 40 numeric columns" in capsys.readouterr().out


def test_the_results_of_the_race_survive_json_and_the_chart_is_well_formed() -> None:
    results = _race_results()
    assert loaders_report.from_json(loaders_report.as_json(results)) == results
    tree = ET.fromstring(loaders_chart.bar_chart(results))
    bars = [node.get("class") for node in tree.iter("{http://www.w3.org/2000/svg}rect")]
    assert bars == ["info", "reached", "info", "reached", "info"]
    assert ET.fromstring(loaders_chart.bar_chart(loaders_report.Results({"sides": []}))).tag.endswith("svg")


def test_the_command_line_of_the_race_refuses_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in [
        (["loaders", "imags"], "no such part: imags"),
        (["loaders", "--side", "lit"], "no such side: lit"),
        (["loaders", "--python", "lit=python"], "no such side: lit"),
    ]:
        with pytest.raises(SystemExit):
            command.main(words)
        assert message in capsys.readouterr().err


NEAR = FarStore(latency=0, connection_rate=1e15, machine_rate=1e15)
FAR = FarStore(latency=0.05, connection_rate=50e6, machine_rate=1e9, failures=0.01)


def test_the_model_of_the_fleet_is_exact_where_one_limit_counts() -> None:
    job, machines = Job("read", cpu=1e-9), Machines(2, 4)
    found = predict(1e12, 1e9, job, NEAR, machines)  # 1,000 shards of a second for 8 workers
    assert (round(found.seconds), found.bound, found.idle) == (125, "CPU", 0)
    slow = predict(1e12, 1e9, job, FarStore(0, 1e15, 400e6), machines)  # 100 MB/s for each worker
    assert (round(slow.seconds), slow.bound) == (1250, "network")
    late = predict(1e6, 1e3, job, FarStore(1.0, 1e15, 1e15), Machines(1, 1))
    assert (round(late.seconds, -2), late.bound) == (4000, "latency")
    assert predict(9e9, 1e9, job, NEAR, Machines(1, 8)).idle == 7 / 16


@pytest.mark.parametrize(
    "better",
    [
        {"machines": Machines(64, 16)},
        {"machines": Machines(128, 8)},
        {"job": Job("read", 0.5e-8)},
        {"store": FarStore(0.01, 50e6, 1e9, 0.01)},
        {"store": FarStore(0.05, 90e6, 1e9, 0.01)},
        {"store": FarStore(0.05, 50e6, 1e9, 0.0)},
    ],
)
def test_more_of_anything_is_never_slower(better: dict[str, Any]) -> None:
    plain = {"size": 1e15, "shard": 1e9, "job": Job("read", 1e-8), "store": FAR, "machines": Machines(64, 8)}
    assert predict(**{**plain, **better}).seconds <= predict(**plain).seconds


@pytest.mark.parametrize("size", [10, 900, 5000])
def test_the_model_counts_the_requests_that_a_reader_makes(size: int) -> None:
    with stored_as(FaultyObject(bytes(size))) as store:
        file = RemoteFile(URL, ahead=True)
        assert len(b"".join(file.read_at(at, 50) for at in range(0, size, 50))) == size
        found = predict(size, size, Job("read", 0), NEAR, Machines(1, 1))
        assert found.reads == len(store.requests) + 2  # and the status before and after


def test_failures_cost_requests_and_lose_almost_no_shard() -> None:
    found = predict(1e15, 1e9, Job("copy", 1e-9, passes=2, copies=1), FAR, Machines(64, 8))
    none = predict(1e15, 1e9, Job("copy", 1e-9, passes=2, copies=1), NEAR, Machines(64, 8))
    assert found.reads == pytest.approx(none.reads / 0.99)
    assert found.writes == none.writes
    assert 0 < found.lost_shards < 1e-6


def test_money_is_machines_and_requests_and_bytes_that_leave() -> None:
    store = FarStore(0, 1e15, 1e15, read_price=0.25, write_price=2.0, egress_price=1e-6)
    found = predict(36e6, 1e6, Job("copy", 0.001, copies=1), store, Machines(10, 1, hour_price=3.0))
    assert found.seconds == pytest.approx(4000)
    hours = 10 * 4000 / 3600 * 3.0
    assert found.price == pytest.approx(hours + found.reads * 0.25 + found.writes * 2 + 36)


# --- Clusters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", clusters.CONTENTS)
def test_engines_read_the_same_rows_in_both_formats(tmp_path, name):
    pq = interop("pyarrow.parquet")
    arrow = interop("purerecord.arrow")
    columns = clusters.CONTENTS[name](1000, np.random.default_rng(0))
    clusters.make(tmp_path, columns)
    ours, theirs = arrow.read_table(str(tmp_path / "tfrecord" / "*")), pq.read_table(tmp_path / "parquet")
    assert sorted(ours.column_names) == sorted(theirs.column_names) == sorted(columns)
    for column in columns:
        assert ours[column].to_pylist() == theirs[column].to_pylist()


def test_sides_of_an_engine_that_differ_have_no_figures(tmp_path):
    class Wrong:
        sides = {"one": "a", "other": "b"}  # noqa: RUF012

        def total(self, side: str, folder: str) -> float:
            return float(len(side))

        def close(self) -> None:
            pass

    with pytest.raises(ValueError, match=r"other has summed up 5\.0, and another side 3\.0"):
        clusters.measure(Wrong(), str(tmp_path))


# --- Tools ------------------------------------------------------------------------------------------


def test_statistics_and_parsing_of_the_same_records_are_timed(store: Store) -> None:
    head, *lines = tools.beside_parsing(store, ["tab", "seq"], rounds=1)
    assert head.split() == ["records", "parse/s", "stats/s", "ratio"]
    assert [line.split()[:2] for line in lines] == [["tab", "16"], ["seq", "16"]]


def test_sides_that_see_other_records_are_not_timed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "parse", lambda work, path: 17)
    with pytest.raises(SystemExit, match=r"tab: the sides saw different numbers of records: \[16, 17\]"):
        list(tools.beside_parsing(store, ["tab"], rounds=1))


@pytest.mark.parametrize("verb", ["shuffle", "sort"])
def test_a_sort_prints_what_its_memory_grew_by(
    verb: str, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = store.repeated(store.file(WORKLOADS["tab"]), 200_000)
    tools.run_sort(verb, str(source), str(tmp_path), "60_000")
    assert int(capsys.readouterr().out) >= 0
    written = pr.read_records(str(tmp_path / "out@4.tfrecord"))
    assert sorted(written) == sorted(pr.read_records(str(source)))
