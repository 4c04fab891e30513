"""Train a small CNN in PyTorch on pictures from TFRecord shards, and resume exactly after a kill.

    python train_torch.py work                    # draws the pictures, trains, prints losses and accuracy
    python train_torch.py work2 --kill-after 70   # is killed in the middle of an epoch
    python train_torch.py work2                   # resumes, and ends with the same weights, bit for bit

A checkpoint holds the model, the optimizer and two numbers: the epoch and the position in it. So a run may
resume with another number of workers. Needs torch and pillow. The same in JAX: train_jax.py.
"""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path
from typing import Any

import torch
from shapes import FEATURES, SHAPES, decode_png, prepare
from torch import nn
from torch.utils.data import DataLoader

from purerecord.dataset import TFRecordDataset
from purerecord.torch import IterableDataset

BATCH = 32
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows, SIGTERM kills


def read(pattern: str) -> IterableDataset:
    """Batches of pictures and labels, shuffled in each epoch."""
    dataset = TFRecordDataset(pattern).shuffle(1000, seed=7).batch(BATCH).parse(FEATURES)
    return IterableDataset(dataset, decode={"image": decode_png})


def make_model() -> nn.Module:
    """Two convolutions and a linear layer."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 5 * 5, len(SHAPES)),
    )


def logits(model: nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The model's scores for each picture of a batch."""
    return model(batch["image"][:, None].float() / 64 - 1)


def save(path: Path, checkpoint: dict[str, Any]) -> None:
    """Replace the checkpoint atomically: a kill leaves the previous one."""
    part = path.with_suffix(".part")
    torch.save(checkpoint, part)
    os.replace(part, path)


def train(pattern: str, options: argparse.Namespace) -> nn.Module:
    """Train all epochs, or those that are left after a resume."""
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    state = {"epoch": 0, "position": 0}  # the epoch, and the number of its batches that are done
    path = options.folder / "checkpoint.pt"
    if path.exists():
        checkpoint = torch.load(path, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        state = checkpoint["data"]
        print(f"resuming in epoch {state['epoch']} after step {state['position']}", flush=True)
    dataset = read(pattern)
    steps = 0
    while state["epoch"] < options.epochs:
        dataset.resume(state)
        for batch in DataLoader(dataset, batch_size=None, num_workers=options.workers):
            loss = nn.functional.cross_entropy(logits(model, batch), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = {**state, "position": state["position"] + 1}
            steps += 1
            print(f"epoch {state['epoch']} step {state['position']} loss {loss.item():.4f}", flush=True)
            if steps == options.kill_after:
                os.kill(os.getpid(), KILL)
            if state["position"] % options.save_every == 0:
                parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "data": state}
                save(path, parts)
        state = {"epoch": state["epoch"] + 1, "position": 0}
    return model


def accuracy(model: nn.Module, pattern: str) -> float:
    """The share of pictures that the model classifies correctly."""
    right = total = 0
    with torch.no_grad():
        for batch in DataLoader(read(pattern), batch_size=None):
            right += int((logits(model, batch).argmax(1) == batch["label"]).sum())
            total += len(batch["label"])
    return right / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the pictures, the checkpoint and the weights")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=10, metavar="STEPS")
    parser.add_argument(
        "--kill-after", type=int, metavar="STEPS", help="kill this process, as a power cut would"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)  # so that sums are computed in the same order each time
    train_pattern, test_pattern = prepare(options.folder)
    model = train(train_pattern, options)
    print(f"accuracy {accuracy(model, test_pattern):.3f}")
    torch.save(model.state_dict(), options.folder / "weights.pt")


if __name__ == "__main__":
    main()
