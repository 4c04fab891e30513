"""Cats and dogs: from a folder of JPEGs to batches for training.

    python cats_and_dogs.py --out work                 # with purerecord
    python cats_and_dogs.py --out work2 --tensorflow   # the same with TensorFlow

It splits a folder into pictures for training and for validation, stores each part as a GZIP TFRecord with a
progress bar, and reads it with map, cache, shuffle, resize, batch and prefetch. The script draws the pictures
itself. The first validation batch becomes work/grid.png.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np
from drawings import pet, save
from PIL import Image, ImageDraw, ImageFont

if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import purerecord.tf as tf  # noqa: PLR0402 - one name changes, no more

LABELS, COLOURS = ("cat", "dog"), ((176, 84, 30), (40, 90, 150))
COUNT, VALIDATION = 120, 0.2
SIZE, BATCH = 96, 24
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
}


def draw_folder(folder):
    """Draw cat.0.jpg, dog.1.jpg, cat.2.jpg, ... in many sizes."""
    rng = np.random.default_rng(0)
    for number in range(COUNT):
        kind = LABELS[number % 2]
        save(pet(kind, rng), folder / f"{kind}.{number}.jpg")


def split(paths):
    """Paths for training and for validation, the same in every run."""
    paths = sorted(paths)
    random.Random(1).shuffle(paths)
    count = int(len(paths) * VALIDATION)
    return paths[count:], paths[:count]


def progress(items, title):
    """Yield the items and draw a progress bar on standard error."""
    for done, item in enumerate(items, 1):
        yield item
        bar = "#" * (30 * done // len(items))
        print(f"\r{title:<10} [{bar:<30}] {done}/{len(items)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def write(paths, target):
    """Write one Example per picture: the JPEG bytes, 0 for a cat or 1 for a dog, and the file name."""
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    with tf.io.TFRecordWriter(str(target), options) as writer:
        for path in progress(paths, target.name.split(".")[0]):
            name = Path(path).name
            image, label = tf.io.read_file(path).numpy(), LABELS.index(name.split(".")[0])
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode()])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            # Without ``deterministic``, the order of the features differs from run to run.
            writer.write(example.SerializeToString(deterministic=True))


def parse(record):
    """Picture, label and name of a record. INTEGER_ACCURATE makes TensorFlow decode as exactly as Pillow."""
    example = tf.io.parse_single_example(record, FEATURES)
    image = tf.io.decode_jpeg(example["image"], channels=3, dct_method="INTEGER_ACCURATE")
    return image, example["label"], example["name"]


def resize(image, label, name):
    return tf.image.resize(image, [SIZE, SIZE]) / 255.0, label, name


def read(path, shuffled):
    """Batches of pictures of one size, with values from 0 to 1. Each picture is decoded only once."""
    dataset = tf.data.TFRecordDataset(str(path), compression_type="GZIP")
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if shuffled:
        dataset = dataset.shuffle(1000, seed=7)
    return dataset.map(resize, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE)


def describe(dataset, title):
    """Print a summary of one epoch; return the names in order."""
    batches = [[part.numpy() for part in batch] for batch in dataset]
    images, labels, names = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    cats, dogs = np.bincount(labels)
    in_one_order = images[np.argsort(names)]  # otherwise the last digits of the mean depend on the shuffle
    mean = " ".join(f"{colour:.4f}" for colour in in_one_order.mean((0, 1, 2), np.float64))
    print(f"{title}: batches of {batches[0][0].shape}, {cats} cats, {dogs} dogs, mean colour {mean}")
    return names.tolist()


def save_grid(batch, path, columns=6):
    """Save the pictures of a batch side by side, with their labels."""
    images, labels, _ = (part.numpy() for part in batch)
    rows = -(-len(images) // columns)
    grid = Image.new("RGB", (columns * (SIZE + 12) + 12, rows * (SIZE + 34) + 12), (250, 248, 244))
    pen, font = ImageDraw.Draw(grid), ImageFont.load_default(13)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        x, y = 12 + number % columns * (SIZE + 12), 12 + number // columns * (SIZE + 34)
        grid.paste(Image.fromarray(np.round(image * 255).astype(np.uint8)), (x, y))
        middle, colour = (x + SIZE / 2, y + SIZE + 11), COLOURS[label]
        pen.text(middle, LABELS[label], colour, font, anchor="mm")
    grid.save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("cats_and_dogs"), help="for all files")
    parser.add_argument("--tensorflow", action="store_true", help="use TensorFlow instead of purerecord")
    out = parser.parse_args().out
    draw_folder(out / "pictures")
    parts = split(tf.io.gfile.glob(str(out / "pictures" / "*.jpg")))
    targets = out / "train.tfrecord.gz", out / "validation.tfrecord.gz"
    for paths, target in zip(parts, targets, strict=True):
        write(paths, target)
    train, validation = (read(target, shuffled=target is targets[0]) for target in targets)
    first, second = describe(train, "epoch 1"), describe(train, "epoch 2")
    print("the same pictures in both epochs:", sorted(first) == sorted(second))
    print("in the same order:", first == second)
    names = describe(validation, "validation")
    print("in both parts:", len(set(names) & set(first)))
    save_grid(next(iter(validation)), out / "grid.png")


if __name__ == "__main__":
    main()
