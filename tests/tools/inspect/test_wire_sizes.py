"""The sizes that are computed from columns are those of the messages that protobuf writes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.records import Records
from purerecord.tools.inspect.example_statistics import ExampleStatistics
from purerecord.tools.inspect.wire_sizes import varint_sizes
from tests.support.legal_examples import example_batches, sequence_batches
from tests.support.strategies import int64s


def sizes(payloads: list[bytes]) -> int:
    found = ExampleStatistics(most=100)
    found.add(Records.of(payloads))
    return sum(feature.size for feature in found.summaries())


@given(example_batches())
def test_features_add_up_to_the_examples(payloads):
    assert sizes(payloads) == sum(
        len(pr.Example.FromString(payload).features.SerializeToString()) for payload in payloads
    )


@given(sequence_batches())
def test_features_and_feature_lists_add_up_to_the_sequence_examples(payloads):
    messages = [pr.SequenceExample.FromString(payload) for payload in payloads]
    assert sizes(payloads) == sum(
        len(message.context.SerializeToString()) + len(message.feature_lists.SerializeToString())
        for message in messages
    )


@given(st.lists(int64s))
def test_varints_have_the_size_that_protobuf_gives_them(numbers):
    expected = [pr.Int64List(value=[number]).ByteSize() - 2 for number in numbers]
    assert varint_sizes(np.array(numbers, np.int64)).tolist() == expected
