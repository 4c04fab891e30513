"""``tf.distribute``: one process on one machine, so that scripts which ask for a strategy run.

``get_strategy()`` has one replica. There are no TPUs, and a TPU resolver says so with the ``ValueError`` that
scripts catch. Strategies of several devices are missing: ``purerecord.torch`` and ``purerecord.jax`` share
records among processes. This module does not know tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ._missing import missing

__all__ = [
    "InputContext",
    "Strategy",
    "cluster_resolver",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


class InputContext:
    """Which part of the data a process reads: with one process, all."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The size of the batches of each replica."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync!r} "
            )
        return global_batch_size // self.num_replicas_in_sync


class _ReplicaContext:
    """The only replica."""

    num_replicas_in_sync = 1
    replica_id_in_sync_group = 0

    @property
    def strategy(self) -> Strategy:
        """The strategy of one replica."""
        return get_strategy()


class Strategy:
    """The strategy of one replica: functions simply run, and datasets stay what they are."""

    num_replicas_in_sync = 1
    cluster_resolver = None

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A context manager that changes nothing."""
        yield self

    def run(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """The result of ``fn(*args, **kwargs)``."""
        return fn(*args, **(kwargs or {}))

    experimental_run_v2 = run

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """The dataset that the function makes for the only process."""
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the only replica, in a tuple."""
        return (value,)

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The value of the only replica; with ``axis``, which needs a sum or mean over it, an error."""
        if axis is not None:
            raise NotImplementedError("Strategy.reduce is in purerecord.tf without axis")
        return value

    @property
    def extended(self) -> Any:
        """Further properties."""
        return SimpleNamespace(
            worker_devices=("/device:CPU:0",), _in_multi_worker_mode=lambda: False, should_checkpoint=True
        )


_strategy = Strategy()


def get_strategy() -> Strategy:
    """The strategy of one replica."""
    return _strategy


def has_strategy() -> bool:
    """False: there is only the default strategy."""
    return False


def in_cross_replica_context() -> bool:
    """False: all code runs in the only replica."""
    return False


def get_replica_context() -> Any:
    """The context of the only replica."""
    return _ReplicaContext()


def experimental_set_strategy(strategy: Any) -> None:
    """Accepts None and the only strategy; any other is an error."""
    if strategy not in (None, _strategy):
        raise NotImplementedError("purerecord.tf has one strategy only, that of get_strategy()")


class _TPUClusterResolver:
    """Always a ``ValueError``, as in TensorFlow where there is no TPU."""

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        raise ValueError("Please provide a TPU Name to connect to. purerecord.tf knows no TPUs.")

    connect = __new__


cluster_resolver = SimpleNamespace(TPUClusterResolver=_TPUClusterResolver)

__getattr__ = missing("distribute")
