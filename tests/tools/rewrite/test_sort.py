"""``sort``: the order of a feature, against the same in memory."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import encode_example
from purerecord.tools import sort
from tests.support.rewriting import records, write_inputs
from tests.support.settings import tries

values = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=60),
    st.lists(st.one_of(st.none(), st.sampled_from([0.0, -0.0, 0.5, -1e30, float("inf")])), max_size=60),
    st.lists(st.one_of(st.none(), st.sampled_from([b"", b"a", b"ab", b"b", b"\xff"])), max_size=60),
)


@settings(max_examples=tries(60))
@given(
    values.filter(lambda some: not some or any(value is not None for value in some)),
    st.booleans(),
    st.integers(1, 4),
    st.integers(1, 20_000),
)
def test_sort_is_that_of_a_list_whatever_the_memory(tmp_path_factory, values, descending, files, memory):
    folder = tmp_path_factory.mktemp("sort")
    payloads = [
        encode_example({"id": n} if value is None else {"id": n, "x/y": value})
        for n, value in enumerate(values)
    ]
    done = sort(
        write_inputs(folder / "in", payloads, files),
        folder / "out@3",
        "x/y",
        descending=descending,
        memory=memory,
    )
    having = [n for n, value in enumerate(values) if value is not None]
    having.sort(key=values.__getitem__, reverse=descending)
    missing = [n for n, value in enumerate(values) if value is None]
    assert records(done.paths) == [payloads[n] for n in having + missing]
