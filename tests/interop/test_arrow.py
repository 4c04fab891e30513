"""Tables from files in pandas, polars, DuckDB and Hugging Face datasets; and the page about Arrow."""

from __future__ import annotations

import pytest

import purerecord as pr
from tests.support.doc_pages import run_blocks
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow


@pytest.fixture
def animals(tmp_path):
    table = pa.table(
        {
            "legs": pa.array([4, 6, None]),
            "name": pa.array([b"cat", b"ant", b"snake"], pa.large_binary()),
            "spots": pa.array([[1, 2], [], [3]], pa.large_list(pa.int64())),
            "weight": pa.array([4.5, 0.25, 1.5], pa.float32()),
        }
    )
    arrow.write_table(table, tmp_path / "animals")
    assert arrow.read_table(tmp_path / "animals").equals(table)
    return tmp_path / "animals"


def test_pandas(animals, tmp_path):
    pd = interop("pandas")
    frame = arrow.read_table(animals).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["name"].tolist() == [b"cat", b"ant", b"snake"]
    assert frame["legs"].isna().tolist() == [False, False, True]
    assert [list(row) for row in frame["spots"]] == [[1, 2], [], [3]]
    typed = arrow.read_table(animals).to_pandas(types_mapper=pd.ArrowDtype)
    assert typed["legs"].dtype == pd.ArrowDtype(pa.int64())
    arrow.write_table(pa.Table.from_pandas(typed, preserve_index=False), tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(arrow.read_table(animals))
    arrow.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "again")
    # Integers with a NaN among them are floats in pandas.
    assert (
        arrow.read_table(tmp_path / "again")
        .cast(arrow.read_table(animals).schema)
        .equals(arrow.read_table(animals))
    )


def test_ordinary_floats_of_a_frame_are_rounded_as_by_every_encoder(tmp_path):
    pd = interop("pandas")
    frame = pd.DataFrame({"price": [0.1, 4.2, None], "name": ["a", "b", None]})
    arrow.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "file")
    rows = [{"price": 0.1, "name": "a"}, {"price": 4.2, "name": "b"}, {}]
    assert list(pr.read_records(tmp_path / "file")) == [pr.encode_example(row) for row in rows]
    if hasattr(frame, "__arrow_c_stream__"):
        with pytest.raises(pr.EncodeError, match=r"'price': record 0: .*exactly"):
            arrow.write_table(frame, tmp_path / "file", floats="exact")


def test_polars(animals, tmp_path):
    pl = interop("polars")
    frame = pl.from_arrow(arrow.read_table(animals))
    assert frame.schema == {
        "legs": pl.Int64,
        "name": pl.Binary,
        "spots": pl.List(pl.Int64),
        "weight": pl.Float32,
    }
    assert frame["legs"].to_list() == [4, 6, None]
    arrow.write_table(frame, tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(arrow.read_table(animals))
    assert arrow.from_arrow(frame)["spots"] == pr.Ragged([1, 2, 3], [0, 2, 2, 3])


def test_categories_of_polars_are_stored_as_what_they_name(tmp_path):
    pl = interop("polars")
    words = ["a", None, "b", "a"]
    frame = pl.DataFrame(
        {
            "category": pl.Series(words, dtype=pl.Categorical),
            "enum": pl.Series(words, dtype=pl.Enum(["b", "a"])),
            "list": pl.Series([["a"], [], ["b", "a"], None], dtype=pl.List(pl.Categorical)),
        }
    )
    arrow.write_table(frame, tmp_path / "file")
    assert arrow.read_table(tmp_path / "file").to_pydict() == {
        "category": [b"a", None, b"b", b"a"],
        "enum": [b"a", None, b"b", b"a"],
        "list": [[b"a"], [], [b"b", b"a"], None],
    }


def test_duckdb(animals, tmp_path):
    duckdb = interop("duckdb")
    table = arrow.read_table(animals)
    with duckdb.connect() as connection:
        connection.register("animals", table)
        assert connection.sql("select name from animals where legs > 4").fetchall() == [(b"ant",)]
        arrow.write_table(connection.sql("select * from animals"), tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(table)


def test_hugging_face_datasets(animals):
    datasets = interop("datasets")
    dataset = datasets.Dataset(arrow.read_table(animals))
    assert dataset[1] == {"legs": 6, "name": b"ant", "spots": [], "weight": 0.25}


@pytest.mark.parametrize("page", ["README.md", "docs/arrow.md", "docs/recipes.md"])
def test_code_for_arrow_in_the_docs_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(page, r"(?: arrow)?") > 8
