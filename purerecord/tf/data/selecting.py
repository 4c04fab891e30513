"""The transformations of ``tf.data.Dataset`` that select, order and repeat elements without changing them.

This module knows neither what elements are nor where they come from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from .._values.seeds import shuffle_seed
from .._values.tensor import EagerTensor
from ..errors import invalid
from . import iterators
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Elements
from .functions import predicate_of
from .options import Options
from .structure import common_spec

if TYPE_CHECKING:
    from .dataset import Dataset


# Elements that ``prefetch(AUTOTUNE)`` keeps.
_AUTOTUNED_PREFETCH = 2


class SelectingMethods(Elements):
    """The part of ``Dataset`` that selects, orders and repeats elements."""

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which ``predicate`` is true."""
        test = predicate_of(predicate, "FilterDataset")
        return self._derive(
            "Filter", lambda run: filter(test(run), self._iterate_to_parse(run)), cardinality=UNKNOWN
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which ``predicate`` is false."""
        test = predicate_of(predicate)
        return self._derive(
            "TakeWhile", lambda run: takewhile(test(run), self._iterate(run)), cardinality=UNKNOWN
        )

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """A random one of the next ``buffer_size`` elements, again and again."""
        size = int(buffer_size)
        if size < 1 and size != UNKNOWN:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        reshuffle = reshuffle_each_iteration is not False
        limit = None if size == UNKNOWN else size
        return self._derive("Shuffle", iterators.Shuffle(self._iterate, limit, shuffle_seed(seed), reshuffle))

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements ``count`` times; without end if ``count`` is None or negative."""
        times = None if count is None or int(count) < 0 else int(count)
        cardinality = self._cardinality
        if times == 0 or cardinality == 0:
            cardinality = 0
        elif times is None:
            cardinality = INFINITE
        elif cardinality > 0:
            cardinality *= times
        return self._derive(
            "Repeat",
            lambda run: iterators.repeated(self._iterate, times, run),
            cardinality=cardinality,
        )

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; all if ``count`` is negative."""
        number = int(count)
        if number < 0:
            return self._derive("Take", self._iterate)
        cardinality = self._cardinality
        if cardinality != UNKNOWN:
            cardinality = number if cardinality == INFINITE else min(cardinality, number)
        return self._derive(
            "Take", lambda run: iterators.first(self._iterate(run), number), cardinality=cardinality
        )

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; none if ``count`` is negative."""
        skipped = int(count)
        if skipped < 0:
            cardinality = min(self._cardinality, 0)
            return self._derive("Skip", lambda _: iter(()), cardinality=cardinality)
        cardinality = self._cardinality if self._cardinality < 0 else max(0, self._cardinality - skipped)
        return self._derive(
            "Skip",
            lambda run: iterators.rest(self._iterate(run), skipped),
            cardinality=cardinality,
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every ``num_shards``-th element, from number ``index`` on."""
        shards, start = int(num_shards), int(index)
        if shards < 1:
            raise invalid(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
        if not 0 <= start < shards:
            raise invalid(f"Index must be between 0 and {shards - 1} (currently index = {start}).")
        cardinality = self._cardinality
        if cardinality >= 0:
            cardinality = len(range(start, cardinality, shards))
        return self._derive(
            "Shard",
            lambda run: iterators.every_nth(self._iterate(run), start, shards),
            cardinality=cardinality,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of the other."""
        numbers = (self._cardinality, dataset._cardinality)
        cardinality = INFINITE if INFINITE in numbers else UNKNOWN if UNKNOWN in numbers else sum(numbers)
        made = self._dataset_class._of_inputs(
            "Concatenate",
            (self, dataset),
            lambda run: chain.from_iterable(
                part._iterate(run, number) for number, part in enumerate((self, dataset))
            ),
            lambda: common_spec(self.element_spec, dataset.element_spec),
            cardinality,
        )
        if self._known_spec is not None and dataset._known_spec is not None:
            made.element_spec  # noqa: B018 - raises an error at once if the specs do not agree
        return made

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The elements of the first complete iteration, kept in memory or in a file for later ones."""
        path = filename.numpy() if isinstance(filename, EagerTensor) else filename
        return self._derive("Cache", iterators.Cache(self._iterate, os.fsdecode(path), self._cardinality))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The elements, of which a thread fetches up to ``buffer_size`` ahead."""
        ahead = AUTOTUNE if buffer_size is None else int(buffer_size)
        if ahead < AUTOTUNE:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        if ahead == 0:
            return self._derive("Prefetch", self._iterate)
        limit = _AUTOTUNED_PREFETCH if ahead == AUTOTUNE else ahead
        return self._derive("Prefetch", lambda run: iterators.Prefetch(self._iterate(run), limit))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements, without those that raise an error."""
        return self._derive(
            "IgnoreErrors", lambda run: iterators.ignore_errors(self._iterate(run)), cardinality=UNKNOWN
        )

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same dataset with options, which have no effect."""
        same = self._derive("Options", self._iterate)
        same._options = self._options.merge(options)
        same._options._freeze()
        return same

    def apply(self, transformation_func: Callable[[Any], Dataset]) -> Dataset:
        """``transformation_func(self)``."""
        made = transformation_func(self)
        if not isinstance(made, Elements):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}."
            )
        return made
