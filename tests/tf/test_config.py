"""``tf.config``: scripts that configure devices."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_scripts_that_set_up_devices_first_go_on():
    assert tf.config.list_physical_devices("GPU") == []
    (cpu,) = tf.config.experimental.list_physical_devices()
    assert (cpu.name, cpu.device_type) == ("/physical_device:CPU:0", "CPU")
    for gpu in tf.config.get_visible_devices("GPU"):
        raise AssertionError(gpu)
    assert tf.config.set_visible_devices([], "GPU") is None
    assert tf.config.experimental.set_memory_growth(cpu, True) is None
    assert tf.config.run_functions_eagerly(True) is None
    with pytest.raises(AttributeError, match="config"):
        tf.config.LogicalDeviceConfiguration  # noqa: B018 - asking is the test
