"""``tf.data``: shuffle with seeds, and cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from purerecord import tf
from tests.support.facade_datasets import count_calls, values

Dataset = tf.data.Dataset


def test_seeded_shuffle_can_be_repeated_and_another_seed_differs() -> None:
    def order(seed: int) -> list[Any]:
        return values(Dataset.range(50).shuffle(50, seed=seed))

    first = order(7)
    assert order(7) == first
    assert order(8) != first
    try:
        tf.random.set_seed(1)
        assert order(7) == order(7) != first
    finally:
        tf.random.set_seed(None)


def test_global_seed_makes_unseeded_shuffles_repeatable() -> None:
    def orders() -> list[Any]:
        tf.random.set_seed(3)
        return [values(Dataset.range(30).shuffle(30)) for _ in range(2)]

    try:
        first = orders()
        assert orders() == first
        assert first[0] != first[1]
    finally:
        tf.random.set_seed(None)


def test_every_iteration_is_shuffled_anew_unless_told_not_to() -> None:
    dataset = Dataset.range(30).shuffle(30, seed=1)
    assert values(dataset) != values(dataset)
    fixed = Dataset.range(30).shuffle(30, seed=1, reshuffle_each_iteration=False)
    assert values(fixed) == values(fixed)
    twice = values(fixed.repeat(2))
    assert twice[:30] == twice[30:]


def test_cache_is_filled_by_a_whole_iteration_only() -> None:
    dataset, calls = count_calls(Dataset.range(4))
    cached = dataset.cache()
    next(iter(cached))
    assert values(cached) == values(cached) == [0, 1, 2, 3]
    assert calls == [0, 0, 1, 2, 3]


def test_cache_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    dataset, calls = count_calls(Dataset.range(3))
    cached = dataset.map(lambda x: {"x": x, "s": "text"}).cache(str(tmp_path / "cache"))
    iterator = iter(cached)
    next(iterator)
    assert not list(tmp_path.glob("cache*"))
    del iterator
    first = [{key: element[key].numpy() for key in element} for element in cached]
    assert [path.name for path in tmp_path.iterdir()] == ["cache.tfrecord"]
    assert [{key: element[key].numpy() for key in element} for element in cached] == first
    assert calls == [0, 0, 1, 2]


def test_cache_keeps_nothing_that_is_not_whole(tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "cache")):
        failing = [True]

        def function(x: Any, failing: list[bool] = failing) -> Any:
            if failing[0] and x == 1:
                raise tf.errors.InvalidArgumentError(None, None, "once")
            return x

        cached = Dataset.range(3).map(function).cache(path)
        assert values(cached.ignore_errors()) == [0, 2]
        failing[0] = False
        assert values(cached) == [0, 1, 2]
