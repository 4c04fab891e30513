"""``Dataset.rejection_resample``: classes in other proportions, by leaving elements out.

The proportions are TensorFlow's, the random numbers are not. This module knows only methods of datasets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.seeds import generator
from .._values.tensor import of_array, to_numpy
from ..errors import invalid

if TYPE_CHECKING:
    from .dataset import Dataset

# TensorFlow's constants: elements between two estimates, and elements of each class that count as seen.
_ESTIMATED_TOGETHER = 32
_SEEN_BEFORE = 10


def resampled(
    dataset: Dataset, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: Any
) -> Dataset:
    """Pairs of a class and an element; the classes come as often as ``target_dist`` says."""
    target = to_numpy(target_dist).astype(np.float32)

    def with_class(*element: Any) -> tuple[Any, Any]:
        return class_func(*element), element[0] if len(element) == 1 else element

    pairs = dataset.map(with_class)
    if initial_dist is None:
        initial = _estimated(pairs.map(lambda kind, _: kind), len(target))
        always = None
    else:
        given = to_numpy(initial_dist).astype(np.float32)
        initial = dataset.from_tensors(given).repeat()
        always = np.min(target / given)
    if always == 1:
        return pairs

    def accepted(chances: Any, pair: Any) -> bool:
        kind = int(pair[0])
        if not 0 <= kind < len(target):
            raise invalid(f"indices = {kind} is not in [0, {len(target)})")
        return bool(generator(seed).random(dtype=np.float32) < to_numpy(chances)[kind])

    chances = initial.map(lambda found: of_array(_acceptance(to_numpy(found), target)[0]))
    filtered = (
        dataset.zip((chances, pairs))
        .filter(lambda *both: of_array(accepted(*both)))
        .map(lambda _, pair: pair)
    )
    if always == 0:
        return filtered

    def weights(found: Any) -> Any:
        original = _acceptance(to_numpy(found), target)[1]
        return of_array(np.array([original, 1 - original], np.float32))

    return dataset.sample_from_datasets(
        [pairs, filtered], initial.map(weights), seed=seed, stop_on_empty_dataset=True
    )


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """How often elements of each class are kept, and how often one is taken unseen."""
    ratio = target / (initial + np.finfo(np.float32).tiny)
    with np.errstate(invalid="ignore", divide="ignore"):
        return ((ratio - ratio.min()) / (ratio.max() - ratio.min())).astype(np.float32), ratio.min()


def _estimated(classes: Dataset, count: int) -> Dataset:
    """For each element, the proportions of the classes up to it and the rest of its batch."""

    def update(seen: Any, batch: Any) -> tuple[Any, Any]:
        found = to_numpy(seen) + np.bincount(to_numpy(batch), minlength=count)[:count]
        proportions = (found / found.sum()).astype(np.float32)
        return of_array(found), of_array(np.tile(proportions, (_ESTIMATED_TOGETHER, 1)))

    before = np.full(count, _SEEN_BEFORE, np.int64)
    return classes.batch(_ESTIMATED_TOGETHER).scan(before, update).unbatch()
