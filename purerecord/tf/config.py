"""``tf.config``: one CPU and no settings, so that scripts which configure devices run.

This module does not know tensors.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

from ._missing import missing

__all__ = [
    "PhysicalDevice",
    "experimental",
    "get_visible_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_visible_devices",
]


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of a type, or all: the CPU is the only one."""
    return [_CPU] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The same as ``list_physical_devices``."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Does nothing: the CPU is the only device."""


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Does nothing: functions always run eagerly."""


def _set_memory_growth(device: Any, enable: bool) -> None:
    """Does nothing: no device memory is reserved."""


class _Experimental(SimpleNamespace):
    """``tf.config.experimental``: earlier names of the functions."""

    def __getattr__(self, name: str) -> Any:
        return missing("config.experimental")(name)


experimental = _Experimental(
    get_visible_devices=get_visible_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=_set_memory_growth,
    set_visible_devices=set_visible_devices,
)

__getattr__ = missing("config")
