"""Which elements come, in which order and how often: transformations that leave the elements as they are.

They are methods of ``tf.data.Dataset``, which adds those that make new elements. This module knows neither
what elements are nor where they come from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from .._values.operators import invalid
from .._values.tensor import EagerTensor
from ..random import order_seed
from . import iterators
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Elements, Options
from .functions import predicate_of
from .structure import common_spec

if TYPE_CHECKING:
    from .dataset import Dataset


class Ordered(Elements):
    """Elements, chosen and put in order."""

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which ``predicate`` is true."""
        test = predicate_of(predicate)
        return self._then("Filter", lambda real: filter(test, self._begin(real)), size=UNKNOWN)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements up to the first of which ``predicate`` is false."""
        test = predicate_of(predicate)
        return self._then("TakeWhile", lambda real: takewhile(test, self._begin(real)), size=UNKNOWN)

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """A random one of the next ``buffer_size`` elements, again and again."""
        most = int(buffer_size)
        if most < 1 and most != UNKNOWN:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        reshuffle = reshuffle_each_iteration is not False
        drawn = order_seed(seed)
        begin = iterators.Shuffle(self._begin, None if most == UNKNOWN else most, drawn, reshuffle)
        return self._then("Shuffle", begin)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements ``count`` times; without end if it is None or negative."""
        times = None if count is None or int(count) < 0 else int(count)
        size = self._size
        if times == 0 or size == 0:
            size = 0
        elif times is None:
            size = INFINITE
        elif size > 0:
            size *= times
        return self._then(
            "Repeat", lambda real: iterators.Steps(iterators.repeated(self._begin, times, real)), size=size
        )

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; all if it is negative."""
        most = int(count)
        if most < 0:
            return self._then("Take", self._begin)
        size = self._size
        if size != UNKNOWN:
            size = most if size == INFINITE else min(size, most)
        return self._then(
            "Take", lambda real: iterators.Steps(iterators.taken(self._begin(real), most)), size=size
        )

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; none if it is negative."""
        passed = int(count)
        if passed < 0:
            return self._then("Skip", lambda _: iter(()), size=0)
        size = self._size if self._size < 0 else max(0, self._size - passed)
        return self._then(
            "Skip", lambda real: iterators.Steps(iterators.dealt(self._begin(real), passed, 1)), size=size
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every ``num_shards``-th element, beginning with number ``index``."""
        shards, first = int(num_shards), int(index)
        if shards < 1:
            raise invalid(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
        if not 0 <= first < shards:
            raise invalid(f"Index must be between 0 and {shards - 1} (currently index = {first}).")
        size = self._size if self._size < 0 else len(range(first, self._size, shards))
        return self._then(
            "Shard",
            lambda real: iterators.Steps(iterators.dealt(self._begin(real), first, shards)),
            size=size,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of the other."""
        sizes = (self._size, dataset._size)
        size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
        made = self._then(
            "Concatenate",
            lambda real: chain.from_iterable(part._begin(real) for part in (self, dataset)),
            lambda: common_spec(self.element_spec, dataset.element_spec),
            size,
        )
        if self._known_spec is not None and dataset._known_spec is not None:
            made.element_spec  # noqa: B018 - an error at once, where it can be known at once
        return made

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """What the first whole iteration gives, kept in memory or in a file for those that follow."""
        path = filename.numpy() if isinstance(filename, EagerTensor) else filename
        return self._then("Cache", iterators.Kept(self._begin, os.fsdecode(path)))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The elements, fetched by a thread while those before are in use."""
        ahead = int(buffer_size)
        if ahead < AUTOTUNE:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        if ahead == 0:
            return self._then("Prefetch", self._begin)
        return self._then("Prefetch", lambda real: iterators.Prefetched(self._begin(real), ahead))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements that can be had without an error."""
        return self._then(
            "IgnoreErrors", lambda real: iterators.without_errors(self._begin(real)), size=UNKNOWN
        )

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same with options, on which nothing here depends."""
        same = self._then("Options", self._begin)
        same._options = options
        return same

    def apply(self, transformation_func: Callable[[Any], Dataset]) -> Dataset:
        """``transformation_func(self)``."""
        made = transformation_func(self)
        if not isinstance(made, Elements):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}."
            )
        return made
