"""Train a small CNN in JAX on pictures from TFRecord shards, and resume exactly after a kill.

    python train_jax.py work                    # draws the pictures, trains, prints losses and accuracy
    python train_jax.py work2 --kill-after 70   # is killed in the middle of an epoch
    python train_jax.py work2                   # resumes, and ends with the same weights, bit for bit

A checkpoint holds the weights, their momentum and the state of the batches. The state counts the batches that
were used, not the prefetched ones. Needs jax and pillow. The same in PyTorch: train_torch.py.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from shapes import FEATURES, SHAPES, decode_png, prepare

from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.jax import batches

BATCH = 32
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows, SIGTERM kills
Weights = dict[str, Any]


def decode(batch: dict[str, Any]) -> dict[str, Any]:
    """Decode the pictures into one array: a device cannot hold PNG bytes."""
    return {**batch, "image": np.stack([decode_png(data) for data in batch["image"]])}


def read(pattern: str) -> Dataset:
    """Batches of pictures and labels, shuffled in each epoch; all of one size, so JAX compiles once."""
    dataset = TFRecordDataset(pattern).shuffle(1000, seed=7).batch(BATCH, drop_remainder=True)
    return dataset.parse(FEATURES).map(decode)


def make_weights() -> Weights:
    """Two convolutions and a linear layer."""
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = {"conv1": (8, 1, 3, 3), "conv2": (16, 8, 3, 3), "linear": (16 * 5 * 5, len(SHAPES))}
    scales = {"conv1": 9, "conv2": 72, "linear": 400}
    return {
        name: jax.random.normal(key, shape) / jnp.sqrt(scales[name])
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def logits(weights: Weights, images: jax.Array) -> jax.Array:
    """The model's scores for each picture of a batch."""
    layer = images[:, None].astype(jnp.float32) / 64 - 1
    for name in ("conv1", "conv2"):
        layer = jax.nn.relu(jax.lax.conv(layer, weights[name], (2, 2), "VALID"))
    return layer.reshape(len(layer), -1) @ weights["linear"]


def loss_of(weights: Weights, batch: dict[str, jax.Array]) -> jax.Array:
    """The cross-entropy loss of a batch."""
    log_probabilities = jax.nn.log_softmax(logits(weights, batch["image"]))
    return -log_probabilities[jnp.arange(BATCH), batch["label"]].mean()


@jax.jit
def step(
    weights: Weights, momentum: Weights, batch: dict[str, jax.Array]
) -> tuple[Weights, Weights, jax.Array]:
    """One step of gradient descent with momentum."""
    loss, gradient = jax.value_and_grad(loss_of)(weights, batch)
    momentum = jax.tree.map(lambda old, new: 0.9 * old + new, momentum, gradient)
    weights = jax.tree.map(lambda old, change: old - 0.05 * change, weights, momentum)
    return weights, momentum, loss


def save(path: Path, weights: Weights, momentum: Weights, state: dict[str, Any]) -> None:
    """Replace the checkpoint atomically: a kill leaves the previous one."""
    part = path.with_suffix(".part")
    arrays = {**weights, **{f"momentum/{name}": array for name, array in momentum.items()}}
    with open(part, "wb") as file:
        np.savez(file, state=json.dumps(state), **arrays)
    os.replace(part, path)


def load(path: Path) -> tuple[Weights, Weights, dict[str, Any]]:
    """Read what ``save`` wrote."""
    with np.load(path) as saved:
        names = [name for name in saved if name != "state" and not name.startswith("momentum/")]
        weights = {name: jnp.asarray(saved[name]) for name in names}
        momentum = {name: jnp.asarray(saved[f"momentum/{name}"]) for name in names}
        return weights, momentum, json.loads(str(saved["state"]))


def train(pattern: str, options: argparse.Namespace) -> Weights:
    """Train all epochs, or those that are left after a resume."""
    dataset = read(pattern)
    stream = batches(dataset, prefetch=2)
    path = options.folder / "checkpoint.npz"
    if path.exists():
        weights, momentum, state = load(path)
        stream.load_state_dict(state)
        print(f"resuming in epoch {stream.epoch} after step {state['position']}", flush=True)
    else:
        weights = make_weights()
        momentum = jax.tree.map(jnp.zeros_like, weights)
    steps = 0
    while stream.epoch < options.epochs:
        for batch in stream:
            weights, momentum, loss = step(weights, momentum, batch)
            steps += 1
            state = stream.state_dict()
            print(f"epoch {stream.epoch} step {state['position']} loss {loss:.4f}", flush=True)
            if steps == options.kill_after:
                os.kill(os.getpid(), KILL)
            if state["position"] % options.save_every == 0:
                save(path, weights, momentum, state)
        stream = batches(dataset, prefetch=2)  # the next epoch
    return weights


def accuracy(weights: Weights, pattern: str) -> float:
    """The share of pictures that the model classifies correctly."""
    right = [
        jnp.mean(logits(weights, batch["image"]).argmax(1) == batch["label"])
        for batch in batches(read(pattern))
    ]
    return float(np.mean(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the pictures, the checkpoint and the weights")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--save-every", type=int, default=10, metavar="STEPS")
    parser.add_argument(
        "--kill-after", type=int, metavar="STEPS", help="kill this process, as a power cut would"
    )
    options = parser.parse_args()
    train_pattern, test_pattern = prepare(options.folder)
    weights = train(train_pattern, options)
    print(f"accuracy {accuracy(weights, test_pattern):.3f}")
    np.savez(options.folder / "weights.npz", **weights)


if __name__ == "__main__":
    main()
