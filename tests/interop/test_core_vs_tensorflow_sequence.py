"""parse_sequence_example and parse_single_sequence_example against live TensorFlow, on random data.

As in test_core_vs_tensorflow_parse: everything is compared, and where we differ on purpose, a test of its
own says so.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

from purerecord.errors import PureRecordError
from purerecord.payload.columns import gather_sequences as lists_module
from purerecord.payload.columns.sequence_maps import open_maps
from purerecord.payload.parse.sequences import parse_sequence_example, parse_single_sequence_example
from purerecord.payload.specs import FixedLenSequenceFeature, RaggedFeature
from tests.support.core_vs_tensorflow import difference, outcome, tensorflow_specs
from tests.support.handmade_messages import UNSET_FEATURE, ints, sequence_example, strings
from tests.support.interop import interop
from tests.support.spec_cases import Case

tf = interop("tensorflow")

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))
TF_ERRORS = (tf.errors.OpError, ValueError, TypeError, UnicodeDecodeError)


class ListCase(Case):
    """A spec of a feature list, and its lists."""

    def __init__(self, rng: random.Random, name: str, faults: float) -> None:
        super().__init__(rng, name, faults, ("items", "var", "ragged"))

    def _items(self) -> Any:
        shape = self.rng.choice(((), (1,), (2,), (2, 2)))
        spec = FixedLenSequenceFeature(shape, self.dtype, allow_missing=self.rng.random() < 0.5)
        self.counts = lambda: spec.count
        return spec

    def lists(self) -> list[tuple[str, list[bytes]]]:
        """The feature lists of one example; a list of which any step is missing is shorter."""
        steps = self.rng.choice((0, 1, 2, 5))
        if isinstance(self.spec, RaggedFeature):
            keys = [
                self.spec.value_key or self.name,
                *(p.key for p in self.spec.partitions if hasattr(p, "key")),
            ]
            found = [dict(self.features()) for _ in range(steps)]
            return [(key, [step.get(key, UNSET_FEATURE) for step in found]) for key in keys]
        if self.rng.random() < self.faults / 2:
            return []
        return [(self.name, [message for _ in range(steps) for _, message in self.features()])]


def random_sequence_example(rng: random.Random, context: list[Case], lists: list[ListCase]) -> bytes:
    entries = [pair for case in context for pair in case.features()]
    found = [pair for case in lists for pair in case.lists()]
    rng.shuffle(entries)
    rng.shuffle(found)
    if rng.random() < 0.2:  # duplicates: the last one counts
        entries = [(name, ints(7)) for name, message in entries if message] + entries
        found = [(name, [strings(b"x"), ints(7)]) for name, _ in found] + found
    if rng.random() < 0.3:
        entries.append(("unasked", strings(b"?")))
        found.append(("unasked", [strings(b"?")]))
    return sequence_example(entries, found)


def random_specs(rng: random.Random, faults: float) -> tuple[list[Case], list[ListCase]]:
    """Some specs of a context and of feature lists, at least one."""
    context = [
        Case(rng, name, faults, ("fixed", "var", "ragged")) for name in rng.sample("abc", rng.randrange(3))
    ]
    lists = [ListCase(rng, name, faults) for name in rng.sample("abc", rng.randrange(0 if context else 1, 3))]
    return context, lists


def compare(parse: Any, theirs: Any, serialized: Any, specs: list[dict[str, Any]]) -> str:
    """Parse on both sides; whether both gave the same, or both an error."""
    our_outcome = outcome(parse, PureRecordError, serialized, *specs)
    their_outcome = outcome(theirs, TF_ERRORS, serialized, *(tensorflow_specs(tf, part) for part in specs))
    assert not difference(our_outcome, their_outcome), (specs, serialized)
    return "error" if isinstance(our_outcome, Exception) else "equal"


@pytest.mark.parametrize("seed", range(6 * CAMPAIGN))
def test_random_sequence_examples_give_what_tensorflow_gives(seed: int) -> None:
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(100):
        context, lists = random_specs(rng, rng.choice((0.0, 0.0, 0.02, 0.1, 0.4)))
        specs = [{case.name: case.spec for case in cases} for cases in (context, lists)]
        payloads = [random_sequence_example(rng, context, lists) for _ in range(rng.choice((1, 2, 7)))]
        outcomes[compare(parse_sequence_example, tf.io.parse_sequence_example, payloads, specs)] += 1
        for payload in payloads[:3]:
            single = parse_single_sequence_example, tf.io.parse_single_sequence_example
            outcomes[compare(*single, payload, specs)] += 1
    assert len(outcomes) == 2, outcomes


@pytest.mark.parametrize("seed", range(6 * CAMPAIGN))
def test_random_batches_decoded_in_lock_step_give_what_tensorflow_gives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(1000 + seed)
    opened = []
    monkeypatch.setattr(
        lists_module, "open_maps", lambda block: opened.append(open_maps(block)) or opened[-1]
    )
    outcomes: Counter[str] = Counter()
    together = 0
    for _ in range(60):
        context, lists = random_specs(rng, rng.choice((0.0, 0.0, 0.0, 0.001, 0.02)))
        specs = [{case.name: case.spec for case in cases} for cases in (context, lists)]
        payloads = [random_sequence_example(rng, context, lists) for _ in range(rng.randrange(16, 65))]
        outcomes[compare(parse_sequence_example, tf.io.parse_sequence_example, payloads, specs)] += 1
        together += int((~opened.pop().odd).sum())
        assert not opened
    assert len(outcomes) == 2, outcomes
    assert together > 500, "hardly any record was decoded in lock-step"
