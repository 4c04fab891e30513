"""``tf.data.Options`` and its parts: checked, merged and compared as in TensorFlow, but without effect.

An option that was not set is None. This module does not know datasets.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from ... import public

_T = TypeVar("_T", bound="_Options")


@public
class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes a pipeline; no effect here."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


@public
class AutoShardPolicy(enum.IntEnum):
    """How TensorFlow divides a dataset among workers; no effect here."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@public
class ExternalStatePolicy(enum.Enum):
    """What TensorFlow does with functions that have state when it stores a dataset; no effect here."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


def _option(name: str, kind: type, default: Callable[[], Any] = lambda: None) -> Any:
    """A property whose values must be of ``kind``."""

    def get(options: _Options) -> Any:
        if name not in options._options:
            options._options[name] = default()
        return options._options[name]

    def set_(options: _Options, value: Any) -> None:
        if not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})')
        options._options[name] = value

    return property(get, set_)


class _Options:
    """A set of options. Those that were never asked for are not stored."""

    _options: dict[str, Any]
    _mutable: bool

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})
        object.__setattr__(self, "_mutable", True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._options | other._options)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if not self._mutable:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                "`tf.data.Dataset.with_options(options)` to set or update dataset options."
            )
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def _freeze(self) -> None:
        """Refuse changes from now on, also of the parts."""
        object.__setattr__(self, "_mutable", False)
        for part in self._options.values():
            if isinstance(part, _Options):
                part._freeze()


@public
class AutotuneOptions(_Options):
    """``Options.autotune``: no effect."""

    enabled = _option("enabled", bool)
    cpu_budget = _option("cpu_budget", int)
    ram_budget = _option("ram_budget", int)
    autotune_algorithm = _option("autotune_algorithm", AutotuneAlgorithm)
    initial_parallelism = _option("initial_parallelism", int)
    min_parallelism = _option("min_parallelism", int)


@public
class DistributeOptions(_Options):
    """``Options.experimental_distribute``: no effect."""

    auto_shard_policy = _option("auto_shard_policy", AutoShardPolicy, lambda: AutoShardPolicy.AUTO)
    num_devices = _option("num_devices", int)


@public
class OptimizationOptions(_Options):
    """``Options.experimental_optimization``: no effect."""

    apply_default_optimizations = _option("apply_default_optimizations", bool)
    filter_fusion = _option("filter_fusion", bool)
    filter_parallelization = _option("filter_parallelization", bool)
    inject_prefetch = _option("inject_prefetch", bool)
    seq_interleave_prefetch = _option("seq_interleave_prefetch", bool)
    map_and_batch_fusion = _option("map_and_batch_fusion", bool)
    map_and_filter_fusion = _option("map_and_filter_fusion", bool)
    map_fusion = _option("map_fusion", bool)
    map_parallelization = _option("map_parallelization", bool)
    noop_elimination = _option("noop_elimination", bool)
    parallel_batch = _option("parallel_batch", bool)
    shuffle_and_repeat_fusion = _option("shuffle_and_repeat_fusion", bool)


@public
class ServiceOptions(_Options):
    """``Options.experimental_service``: no effect."""

    pinned = _option("pinned", bool)


@public
class ThreadingOptions(_Options):
    """``Options.threading``: no effect."""

    max_intra_op_parallelism = _option("max_intra_op_parallelism", int)
    private_threadpool_size = _option("private_threadpool_size", int)


@public
class Options(_Options):
    """``tf.data.Options``: checked, stored and merged, but without effect."""

    autotune = _option("autotune", AutotuneOptions, AutotuneOptions)
    deterministic = _option("deterministic", bool)
    experimental_deterministic = deterministic
    experimental_distribute = _option("experimental_distribute", DistributeOptions, DistributeOptions)
    experimental_external_state_policy = _option("experimental_external_state_policy", ExternalStatePolicy)
    experimental_optimization = _option("experimental_optimization", OptimizationOptions, OptimizationOptions)
    experimental_slack = _option("experimental_slack", bool)
    experimental_symbolic_checkpoint = _option("experimental_symbolic_checkpoint", bool)
    experimental_service = _option("experimental_service", ServiceOptions, ServiceOptions)
    experimental_warm_start = _option("experimental_warm_start", bool)
    dataset_name = _option("dataset_name", str)
    framework_type = _option("framework_type", list)
    threading = _option("threading", ThreadingOptions, ThreadingOptions)
    experimental_threading = threading

    def merge(self, options: Options) -> Options:
        """New options: these, and over them those of ``options`` that are set."""
        return _merged(self, options)


def _merged(one: _T, other: _T) -> _T:
    if not isinstance(other, type(one)):
        raise TypeError(f"Could not merge incompatible options of type {type(other)} and {type(one)}.")
    unset, result = type(one)(), type(one)()
    for options in (one, other):
        for name, new in options._options.items():
            old, default = getattr(result, name), getattr(unset, name)
            if new == default:
                continue
            if old == default:
                setattr(result, name, new)
            elif isinstance(old, _Options):
                setattr(result, name, _merged(old, new))
            elif name == "framework_type":
                setattr(result, name, old + new)
            elif old != new:
                logging.getLogger("tensorflow").warning(
                    "Changing the value of option %s from %r to %r.", name, old, new
                )
                setattr(result, name, new)
    return result
