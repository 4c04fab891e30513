"""parse_example and parse_single_example against live TensorFlow, on random Examples and specs.

What is compared is everything: dtypes, shapes, values bit by bit, row splits, indices; and whether there
is an error. Where we differ on purpose, a test of its own says so, and the random data avoids it.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from typing import Any

import pytest

from purerecord.errors import PureRecordError
from purerecord.payload.parse.examples import parse_example, parse_single_example
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tests.support.core_vs_tensorflow import difference, outcome, plain, tensorflow_specs
from tests.support.handmade_messages import example, ints, strings
from tests.support.interop import interop
from tests.support.spec_cases import Case

tf = interop("tensorflow")

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))
TF_ERRORS = (tf.errors.OpError, ValueError, TypeError, UnicodeDecodeError)


def random_example(rng: random.Random, cases: list[Case], shuffled: bool = True) -> bytes:
    entries = [pair for case in cases for pair in case.features()]
    if shuffled:
        rng.shuffle(entries)
    if rng.random() < 0.2:  # duplicates: the last one counts
        entries = [
            (name, ints(7, 8, 9)) for name, message in entries if message and rng.random() < 0.5
        ] + entries
    if rng.random() < 0.3:
        entries.insert(rng.randrange(len(entries) + 1), ("unasked", strings(b"?")))
    return example(entries)


@pytest.mark.parametrize("seed", range(8 * CAMPAIGN))
def test_random_examples_give_what_tensorflow_gives(seed: int) -> None:
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(150):
        faults = rng.choice((0.0, 0.0, 0.02, 0.1, 0.4))
        cases = [Case(rng, name, faults) for name in rng.sample("abcdef", rng.randrange(1, 6))]
        specs = {case.name: case.spec for case in cases}
        theirs_specs = tensorflow_specs(tf, specs)
        payloads = [random_example(rng, cases) for _ in range(rng.choice((1, 2, 9)))]
        ours = outcome(parse_example, PureRecordError, payloads, specs)
        theirs = outcome(tf.io.parse_example, TF_ERRORS, payloads, theirs_specs)
        assert not difference(ours, theirs), (specs, payloads)
        outcomes["error" if isinstance(ours, Exception) else "equal"] += 1
        if isinstance(ours, Exception):
            check_facts(ours, theirs)
        for payload in payloads[:3]:
            ours = outcome(parse_single_example, PureRecordError, payload, specs)
            theirs = outcome(tf.io.parse_single_example, TF_ERRORS, payload, theirs_specs)
            assert not difference(ours, theirs), (specs, payload)
            outcomes["error" if isinstance(ours, Exception) else "equal"] += 1
    assert len(outcomes) == 2, outcomes


@pytest.mark.parametrize("seed", range(6 * CAMPAIGN))
def test_random_batches_decoded_in_lock_step_give_what_tensorflow_gives(seed: int) -> None:
    """Records of one layout, of the same features in any order, and an odd one here and there."""
    rng = random.Random(1000 + seed)
    outcomes: Counter[str] = Counter()
    for _ in range(60):
        faults = rng.choice((0.0, 0.0, 0.0, 0.001, 0.02))
        cases = [Case(rng, name, faults) for name in rng.sample("abcdef", rng.randrange(1, 6))]
        specs = {case.name: case.spec for case in cases}
        often = rng.choice((0.0, 0.0, 0.05, 1.0))
        payloads = [random_example(rng, cases, rng.random() < often) for _ in range(rng.randrange(16, 65))]
        ours = outcome(parse_example, PureRecordError, payloads, specs)
        theirs = outcome(tf.io.parse_example, TF_ERRORS, payloads, tensorflow_specs(tf, specs))
        assert not difference(ours, theirs), (specs, payloads)
        outcomes["error" if isinstance(ours, Exception) else "equal"] += 1
        if isinstance(ours, Exception):
            check_facts(ours, theirs)
    assert len(outcomes) == 2, outcomes


def check_facts(ours: Any, theirs: Exception) -> None:
    """The record at fault is the one that TensorFlow names, where it names one."""
    place = re.search(r"Key: (\S+), Index: (\d+)\.", str(theirs))
    if place:
        assert ours.record == int(place[2])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_all_missing_gives_tensorflows_empty_shapes(size: int) -> None:
    specs = {
        "a": VarLenFeature("int64"),
        "b": FixedLenSequenceFeature((2,), "float32", allow_missing=True),
        "c": RaggedFeature("string"),
        "d": RaggedFeature(
            "int64", partitions=[RaggedFeature.RowLengths("l"), RaggedFeature.UniformRowLength(2)]
        ),
        "e": SparseFeature("i", "v", "float32", 4),
        "f": FixedLenFeature((2,), "string", ["x", "y"]),
    }
    payloads = tf.constant([b""] * size, tf.string, shape=(size,))
    ours = outcome(parse_example, PureRecordError, [b""] * size, specs)
    assert ours == outcome(tf.io.parse_example, (), payloads, tensorflow_specs(tf, specs))


def test_tensorflows_own_specs_and_tensors_are_accepted() -> None:
    payload = example([("a", ints(1, 2)), ("s", strings(b"x")), ("l", ints(2, 0))])
    specs = {
        "a": tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowLengths("l")]),
        "s": tf.io.FixedLenFeature(tf.TensorShape([]), tf.string),
        "m": tf.io.FixedLenFeature([2], tf.float32, tf.constant([1.0, 2.0])),
    }
    theirs = tf.io.parse_example(tf.constant([payload]), specs)
    ours = parse_example(tf.constant([payload]), specs)
    assert {name: plain(value) for name, value in ours.items()} == {
        name: plain(value) for name, value in theirs.items()
    }
    assert parse_single_example(tf.constant(payload), specs)["s"] == b"x"
