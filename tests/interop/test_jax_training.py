"""The JAX example trains, is killed in the middle of epochs, and ends as if it had not been."""

from __future__ import annotations

import numpy as np

from tests.support.interop import interop
from tests.support.run_training import Example, check_learning, check_went_on

interop("jax")
interop("PIL")


def weights(folder) -> dict[str, bytes]:
    with np.load(folder / "weights.npz") as saved:
        return {name: saved[name].tobytes() for name in saved}


def test_training_goes_on_after_kills_to_the_same_weights_bit_for_bit(tmp_path):
    example = Example("train_jax.py", tmp_path)
    whole = example.finish("whole")
    check_learning(whole, epochs=3, steps=50)
    example.use_data_of("whole", "killed")
    example.check_killed_by_itself("killed", "--kill-after", "37")
    example.check_killed_from_outside("killed", "epoch 1 step 28 ")
    rest = example.finish("killed")
    check_went_on(rest, whole, killed=(1, 20))
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
