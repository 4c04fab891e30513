"""Every legal batch of Examples and SequenceExamples, made with protobuf, and messages that can be compared.

In each record a feature is missing, untyped, empty or filled. It has one kind in a batch, rarely two.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import purerecord as pr
from tests.support.strategies import float32s, int64s

_LISTS: dict[str, st.SearchStrategy[list[Any]]] = {
    "int64_list": st.lists(int64s, max_size=3),
    "float_list": st.lists(float32s, max_size=3),
    "bytes_list": st.lists(st.binary(max_size=3), max_size=3),
}


def _feature(kind: str, values: list[Any]) -> Any:
    message = pr.Feature()
    getattr(message, kind).SetInParent()
    getattr(message, kind).value.extend(values)
    return message


# By kind, each feature without a type, empty or filled.
_FEATURES = {
    kind: st.just(pr.Feature()) | values.map(lambda values, kind=kind: _feature(kind, values))
    for kind, values in _LISTS.items()
}
_KINDS = list(_LISTS)


@st.composite
def example_batches(draw: st.DrawFn) -> list[bytes]:
    """Serialized Examples. Without repetition few batches would be decoded together."""
    kinds = draw(_kinds(min_size=1))
    payloads = [_example(draw, kinds).SerializeToString() for _ in range(draw(st.integers(1, 6)))]
    return payloads * draw(st.sampled_from([1, 3, 20]))


@st.composite
def sequence_batches(draw: st.DrawFn) -> list[bytes]:
    """Serialized SequenceExamples; some batches have no feature list, some no context."""
    context, lists = draw(_kinds()), draw(_kinds())
    payloads = []
    for _ in range(draw(st.integers(1, 4))):
        message = pr.SequenceExample.FromString(_example(draw, context).SerializeToString())
        for name, kind in lists.items():
            if draw(st.booleans()):
                steps = draw(st.lists(_FEATURES[_perhaps_other(draw, kind)], max_size=3))
                message.feature_lists.feature_list[name].feature.extend(steps)
        payloads.append(message.SerializeToString())
    return payloads * draw(st.sampled_from([1, 3]))


def _kinds(min_size: int = 0) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.text(max_size=3), st.sampled_from(_KINDS), min_size=min_size, max_size=4)


def _example(draw: st.DrawFn, kinds: dict[str, str]) -> Any:
    message = pr.Example()
    for name, kind in kinds.items():
        made = draw(st.none() | _FEATURES[_perhaps_other(draw, kind)])
        if made is not None:
            message.features.feature[name].CopyFrom(made)
    return message


def _perhaps_other(draw: st.DrawFn, kind: str) -> str:
    odd = draw(st.integers(0, 40)) == 1
    return _KINDS[(_KINDS.index(kind) + odd) % len(_KINDS)]


def features_of(payload: bytes, *, untyped: bool = True) -> bytes:
    """The features of an Example, or the context of a SequenceExample, in the one form that can be compared:
    messages with a NaN are never equal. Those without a type are left out if not ``untyped``."""
    features = pr.Example.FromString(payload).features
    for name in list(features.feature):
        if not untyped and features.feature[name].WhichOneof("kind") is None:
            del features.feature[name]
    encoded: bytes = features.SerializeToString(deterministic=True)
    return encoded


def lists_of(payload: bytes) -> bytes:
    """The feature lists of a SequenceExample in the one form that can be compared."""
    encoded: bytes = pr.SequenceExample.FromString(payload).feature_lists.SerializeToString(
        deterministic=True
    )
    return encoded


def kinds_of(payloads: list[bytes]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The names of all features and of all feature lists, each with the kinds that it has."""
    found: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
    for payload in payloads:
        message = pr.SequenceExample.FromString(payload)
        for name, feature in message.context.feature.items():
            found[0].setdefault(name, set()).update(_kind(feature))
        for name, steps in message.feature_lists.feature_list.items():
            found[1].setdefault(name, set()).update(*map(_kind, steps.feature))
    return found


def _kind(feature: Any) -> set[str]:
    return {feature.WhichOneof("kind")} - {None}
