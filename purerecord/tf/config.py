"""``tf.config``: one CPU and no settings, so that scripts which configure devices run.

This module does not know tensors.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

from ._missing import missing

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "experimental",
    "experimental_connect_to_cluster",
    "functions_run_eagerly",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as operations name it."""

    name: str
    device_type: str


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of a type, or all: the CPU is the only one."""
    return [_CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a type, or all, as operations name them."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The same as ``list_physical_devices``."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Does nothing: the CPU is the only device."""


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Does nothing: functions always run eagerly."""


def functions_run_eagerly() -> bool:
    """True: functions always run eagerly."""
    return True


def set_soft_device_placement(enabled: bool) -> None:
    """Does nothing: the CPU is the only device."""


def get_soft_device_placement() -> bool:
    """True, as in TensorFlow."""
    return True


def experimental_connect_to_cluster(cluster_spec_or_resolver: Any = None, *_: Any, **__: Any) -> None:
    """Always an error: there is no cluster."""
    raise NotImplementedError("purerecord.tf runs in one process and knows no clusters")


def _ignored(*_: Any, **__: Any) -> None:
    """Does nothing: there is no such setting here."""


def _zero() -> int:
    """0: the number is not limited."""
    return 0


optimizer = SimpleNamespace(set_experimental_options=_ignored, set_jit=_ignored)
threading = SimpleNamespace(
    get_inter_op_parallelism_threads=_zero,
    get_intra_op_parallelism_threads=_zero,
    set_inter_op_parallelism_threads=_ignored,
    set_intra_op_parallelism_threads=_ignored,
)


def _set_memory_growth(device: Any, enable: bool) -> None:
    """Does nothing: no device memory is reserved."""


class _Experimental(SimpleNamespace):
    """``tf.config.experimental``: earlier names of the functions."""

    def __getattr__(self, name: str) -> Any:
        return missing("config.experimental")(name)


experimental = _Experimental(
    enable_op_determinism=_ignored,
    list_logical_devices=list_logical_devices,
    get_visible_devices=get_visible_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=_set_memory_growth,
    set_visible_devices=set_visible_devices,
)

__getattr__ = missing("config")
