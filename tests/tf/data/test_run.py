"""``tf.data``: what one iteration of a chain of datasets shares."""

from __future__ import annotations

from purerecord.tf.data.run import Run


def test_input_is_the_same_in_every_epoch_of_an_iteration_and_another_in_the_next() -> None:
    run = Run()
    first, again, other = (run.input(number, "Map").operations(0, None) for number in (0, 0, 1))
    assert first is again
    assert first is not other
    assert first is not run.operations(0, None)
    assert first is not Run().input(0, "Map").operations(0, None)


def test_inputs_of_a_probe_are_probes() -> None:
    assert Run(probe=True).input(0, "Map").input(1, "Zip").probe
    assert not Run().input(0, "Map").probe
