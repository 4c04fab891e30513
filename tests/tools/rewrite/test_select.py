"""``select``: records and features against the same in memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import DecodeError, SchemaError, TFRecordWriter, decode_example, encode_example
from purerecord.tools import Expression, select
from tests.support.rewriting import PAYLOADS, files_of, records, write_inputs
from tests.support.settings import tries
from tests.support.strategies import plain


@settings(max_examples=tries(30))
@given(
    rows=st.lists(
        st.fixed_dictionaries({}, optional={name: st.integers(0, 3) for name in "abc"}), max_size=30
    ),
    keep=st.one_of(st.none(), st.sets(st.sampled_from("abc"), min_size=1)),
    renames=st.booleans(),
    least=st.integers(0, 3),
)
def test_select_is_what_a_loop_over_the_records_gives(tmp_path_factory, rows, keep, renames, least):
    folder = tmp_path_factory.mktemp("select")
    rows = [{"a": 0, "b": 0, "c": 0}, *rows]  # no name is wrong
    source = write_inputs(folder / "in", [encode_example(row) for row in rows])
    rename = {"a": "x/y"} if renames and (keep is None or "a" in keep) else {}
    done = select(
        source, folder / "out@*", where=f"a >= {least}", features=keep and sorted(keep), rename=rename
    )
    expected = [
        {rename.get(name, name): [value] for name, value in row.items() if keep is None or name in keep}
        for row in rows
        if row.get("a", -1) >= least
    ]
    found = [
        {name: value.tolist() for name, value in decode_example(one).items()} for one in records(done.paths)
    ]
    assert found == expected


def test_payloads_keep_their_bytes_if_only_records_are_selected(tmp_path):
    source = write_inputs(tmp_path / "in")
    done = select(source, tmp_path / "out@2", where=Expression("label == 1 and score > 5"))
    assert records(done.paths) == [one for n, one in enumerate(PAYLOADS) if n % 3 == 1 and n > 50]
    assert (done.read, done.lengths) == (200, (25, 25))


def test_one_output_for_each_input_may_be_empty(tmp_path):
    done = select(write_inputs(tmp_path / "in"), f"{tmp_path}/out/", where="id < 10")
    assert done.lengths == (10, 0, 0)


def test_features_that_remain_keep_their_bytes_and_their_order(tmp_path):
    source = write_inputs(tmp_path / "in")
    select(source, f"{tmp_path}/a/", drop=["score", "name"])
    select(source, f"{tmp_path}/b/", features=["label", "id"])
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    first = decode_example(records([tmp_path / "a" / "in-1.tfrecord"])[0])
    assert plain(first) == plain({name: decode_example(PAYLOADS[22])[name] for name in ("id", "label")})


@pytest.mark.parametrize(
    "wrong",
    [{"features": ["lable"]}, {"drop": ["lable"]}, {"rename": {"lable": "x"}}, {"where": "lable == 1"}],
)
def test_a_name_that_no_record_has_is_an_error(tmp_path, wrong):
    source = write_inputs(tmp_path / "in")
    with pytest.raises(SchemaError, match="feature 'lable': no record has this feature; is the name right"):
        select(source, tmp_path / "out@2", **wrong)
    assert not list(tmp_path.glob("*out*"))


def test_a_name_is_right_if_only_a_record_that_is_left_out_has_it(tmp_path):
    with TFRecordWriter(tmp_path / "in") as writer:
        writer.write_many([encode_example({"a": 1, "b": 1}), encode_example({"a": 2})])
    done = select(tmp_path / "in", tmp_path / "out", where="a == 2 and not has(c)", drop=["b"])
    assert records(done.paths) == [encode_example({"a": 2})]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "say what to select"),
        ({"where": "label ="}, "the expression is wrong at character 7"),
        ({"drop": ["a"], "rename": {"a": "b"}}, "'a' is renamed, but not kept"),
        ({"features": ["b"], "rename": {"a": "b"}}, "'a' is renamed, but not kept"),
        ({"rename": {"a": "x", "b": "x"}}, "two features are renamed to the same name"),
        ({"features": ["a"], "drop": ["a"]}, "'a' is kept and dropped"),
    ],
)
def test_arguments_that_cannot_be_are_an_error(tmp_path, arguments, reason):
    with pytest.raises(ValueError, match=reason):
        select(write_inputs(tmp_path / "in"), tmp_path / "out@2", **arguments)


def test_features_must_be_a_list(tmp_path):
    with pytest.raises(TypeError, match=r"such as \['label'\]"):
        select(write_inputs(tmp_path / "in"), tmp_path / "out@2", features="label")


def test_errors_name_the_file_and_the_record(tmp_path):
    source = write_inputs(tmp_path / "in")
    with pytest.raises(
        SchemaError, match=r"in-0\.tfrecord: feature 'label': record 0: the record has it already"
    ):
        select(source, tmp_path / "out@2", rename={"id": "label"})
    with TFRecordWriter(tmp_path / "other") as writer:
        writer.write(b"\x18\x07")
    with pytest.raises(DecodeError, match="other: record 0 at byte 0: no Example, but another message"):
        select(tmp_path / "other", tmp_path / "out@2", drop=["a"])
