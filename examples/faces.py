"""Faces: who is it, and how old? Folders and a CSV become TFRecords, and those become augmented batches.

    python faces.py --out work                 # with purerecord
    python faces.py --out work2 --tensorflow   # the same with TensorFlow

It stores small pixels with a class per folder (identification) or a number per row of a CSV (regression), in
random order. It reads them with repeat, shuffle, map, batch, prefetch, and random flips, crops and colours.
It compares the time of an epoch with a generator that reads the folder. The script draws the faces.
"""

import argparse
import csv
import random
import sys
import time
from pathlib import Path

import numpy as np
from drawings import face, save

if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import purerecord.tf as tf  # noqa: PLR0402 - one name changes, no more

PEOPLE = ("anna", "bela", "cora", "dina", "emil", "finn")
PICTURES, EPOCHS, BATCH = 16, 3, 32
HEIGHT, WIDTH, CROP = 96, 80, 72
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "person": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
    "age": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
}


def draw_faces(out):
    """Draw faces/anna/0.jpg and so on, and write ages.csv."""
    rng, rows = np.random.default_rng(0), ["file,age"]
    for person, name in enumerate(PEOPLE):
        for number in range(PICTURES):
            age = int(rng.integers(20, 80))
            save(face(person, age, rng), out / "faces" / name / f"{number}.jpg")
            rows.append(f"{name}/{number}.jpg,{age}")
    (out / "ages.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")


def load(path):
    """A JPEG as small pixels. INTEGER_ACCURATE makes TensorFlow decode as exactly as Pillow."""
    image = tf.io.decode_jpeg(tf.io.read_file(str(path)), channels=3, dct_method="INTEGER_ACCURATE")
    return tf.cast(tf.round(tf.image.resize(image, [HEIGHT, WIDTH])), tf.uint8)


def write(rows, target):
    """Write the Examples of (path, features) in random order, so that each batch has a bit of everything."""
    rows = sorted(rows, key=lambda row: row[0])
    random.Random(1).shuffle(rows)
    with tf.io.TFRecordWriter(str(target)) as writer:
        for path, features in rows:
            image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[load(path).numpy().tobytes()]))
            example = tf.train.Example(features=tf.train.Features(feature={"image": image, **features}))
            writer.write(example.SerializeToString(deterministic=True))  # fixes the order of the features


def by_folder(folder):
    """Identification: the label is the number of the person's folder."""
    for number, place in enumerate(sorted(folder.iterdir())):
        person = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        yield from ((path, {"person": person}) for path in place.iterdir())


def by_table(folder, table):
    """Regression: the model should predict the number in the CSV."""
    with open(table, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            age = tf.train.Feature(float_list=tf.train.FloatList(value=[float(row["age"])]))
            yield folder / row["file"], {"age": age}


def parse(record):
    """The picture with values from 0 to 1, the person as a one-hot vector, the age."""
    example = tf.io.parse_single_example(record, FEATURES)
    image = tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), [HEIGHT, WIDTH, 3])
    person = tf.one_hot(example["person"], len(PEOPLE))
    return tf.image.convert_image_dtype(image, tf.float32), person, example["age"]


def augment(image, person, age):
    """Change the picture as if it were another photo of the same face."""
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_crop(image, [CROP, CROP, 3])
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.random_saturation(image, 0.7, 1.3)
    return tf.clip_by_value(image, 0.0, 1.0), person, age


def train_on(path):
    """Batches of all epochs; every picture is augmented differently each time."""
    dataset = tf.data.TFRecordDataset(str(path)).repeat(EPOCHS).shuffle(64, seed=3).map(parse)
    dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def read_folder(folder):
    """The generator that people write first: it decodes and resizes every file in every epoch."""
    for path in sorted(folder.glob("*/*.jpg")):
        image = tf.image.convert_image_dtype(load(path), tf.float32)
        yield image, tf.one_hot(PEOPLE.index(path.parent.name), len(PEOPLE))


def collect(title, batches):
    """Concatenate all batches; print the time to standard error."""
    begin = time.perf_counter()
    parts = zip(*([part.numpy() for part in batch] for batch in batches), strict=True)
    result = [np.concatenate(part) for part in parts]
    print(f"{title}: {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    return result


def distinct(*parts):
    """The set of rows, in no order."""
    return {tuple(value.tobytes() for value in row) for row in zip(*parts, strict=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("faces"), help="for all files")
    parser.add_argument("--tensorflow", action="store_true", help="use TensorFlow instead of purerecord")
    out = parser.parse_args().out
    identification, regression = out / "identification.tfrecord", out / "regression.tfrecord"
    draw_faces(out)
    write(by_folder(out / "faces"), identification)
    write(by_table(out / "faces", out / "ages.csv"), regression)
    images, people, _ = collect("people, augmented", train_on(identification))
    print(f"identification: {images.shape}, {len(distinct(images))} different pictures")
    print("  of each person:", dict(zip(PEOPLE, people.sum(0).astype(int).tolist(), strict=True)))
    images, _, ages = collect("ages, augmented", train_on(regression))
    print(f"regression: {images.shape}, {len(distinct(images))} different pictures")
    print(f"  ages from {ages.min():.0f} to {ages.max():.0f}, {ages.mean(dtype=np.float64):.2f} on average")

    signature = tf.TensorSpec([HEIGHT, WIDTH, 3], tf.float32), tf.TensorSpec([len(PEOPLE)], tf.float32)
    files = tf.data.Dataset.from_generator(lambda: read_folder(out / "faces"), output_signature=signature)
    records = tf.data.TFRecordDataset(str(identification)).map(parse)
    generated = collect("an epoch from the folder", files.batch(BATCH).prefetch(1))
    stored = collect("an epoch from the TFRecord", records.batch(BATCH).prefetch(1))
    print("the same in the folder and in the TFRecord:", distinct(*generated) == distinct(*stored[:2]))


if __name__ == "__main__":
    main()
