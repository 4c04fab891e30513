"""Data for both training examples: small pictures of four shapes, as PNG in TFRecord shards."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import purerecord as pr

SHAPES = ("circle", "square", "triangle", "cross")
SIZE = 24
FEATURES = {"image": pr.FixedLenFeature([], bytes), "label": pr.FixedLenFeature([], np.int64)}


def draw(shape: str, rng: np.random.Generator) -> Image.Image:
    """One shape with random position, size, brightness and noise."""
    radius = int(rng.integers(5, 9))
    x, y = rng.integers(radius + 1, SIZE - radius - 1, 2).tolist()
    left, top, right, bottom = x - radius, y - radius, x + radius, y + radius
    image = Image.new("L", (SIZE, SIZE), 40)
    pen, ink = ImageDraw.Draw(image), int(rng.integers(120, 220))
    if shape == "circle":
        pen.ellipse((left, top, right, bottom), fill=ink)
    elif shape == "square":
        pen.rectangle((left, top, right, bottom), fill=ink)
    elif shape == "triangle":
        pen.polygon([(x, top), (right, bottom), (left, bottom)], fill=ink)
    else:
        pen.line((left, y, right, y), fill=ink, width=3)
        pen.line((x, top, x, bottom), fill=ink, width=3)
    noise = rng.normal(0, 12, (SIZE, SIZE))
    return Image.fromarray(np.clip(np.array(image) + noise, 0, 255).astype(np.uint8))


def encode_png(image: Image.Image) -> bytes:
    """The bytes of a PNG file of the picture."""
    data = io.BytesIO()
    image.save(data, "png")
    return data.getvalue()


def decode_png(data: bytes) -> np.ndarray:
    """The pixels of a PNG file, as a two-dimensional array of uint8."""
    return np.array(Image.open(io.BytesIO(data)))


def write_shards(pattern: str, count: int, seed: int) -> None:
    """Write ``count`` pictures, a quarter of each shape, into shards."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % len(SHAPES)
    images = np.array([encode_png(draw(SHAPES[label], rng)) for label in labels], object)
    with pr.ShardedWriter(pattern) as writer:
        writer.write_many(pr.encode_examples({"image": images, "label": labels}))


def prepare(folder: Path) -> tuple[str, str]:
    """The patterns of the training and the test shards, which are written on the first run."""
    patterns = str(folder / "train@4.tfrecord"), str(folder / "test@1.tfrecord")
    done = folder / "drawn"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for pattern, count, seed in zip(patterns, (1600, 400), (1, 2), strict=True):
            write_shards(pattern, count, seed)
        done.touch()
    return patterns
