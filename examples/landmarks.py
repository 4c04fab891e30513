"""Landmarks: a tree of folders, city/place/picture, becomes a tree of TFRecords, one per picture.

    python landmarks.py --out work                 # with purerecord
    python landmarks.py --out work2 --tensorflow   # the same with TensorFlow

It uses names in any language in folders, a CSV of labels, features and file patterns, and reads many small
files as one dataset. The script draws the pictures.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from drawings import landmark, save

if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import purerecord.tf as tf  # noqa: PLR0402 - one name changes, no more

PLACES = {
    "København": {"Rundetårn": "tower", "Øresundsbroen": "bridge"},
    "İstanbul": {"Ayasofya": "dome", "Boğaziçi Köprüsü": "bridge"},
    "Αθήνα": {"Παρθενώνας": "temple", "Πύργος των Ανέμων": "tower"},
    "東京": {"東京タワー": "tower", "レインボーブリッジ": "bridge"},
}
PICTURES = 3
FEATURES = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/filename": tf.io.FixedLenFeature([], tf.string),
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/width": tf.io.FixedLenFeature([], tf.int64),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    "image/class/text": tf.io.FixedLenFeature([], tf.string),
    "image/tags": tf.io.VarLenFeature(tf.string),
}


def draw_tree(folder):
    """Draw pictures/city/place/1.jpg and so on."""
    rng = np.random.default_rng(0)
    for city, places in PLACES.items():
        for place, kind in places.items():
            for number in range(1, PICTURES + 1):
                save(landmark(kind, rng), folder / city / place / f"{number}.jpg")


def write_labels(folder, path):
    """Write a CSV with a row per picture: its path, and the number and name of its place."""
    places = sorted(f"{place.parent.name}/{place.name}" for place in folder.glob("*/*"))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "label", "place", "tags"])
        for label, place in enumerate(places):
            city, name = place.split("/")
            for picture in sorted((folder / place).iterdir()):
                writer.writerow([f"{place}/{picture.name}", label, place, f"{city}|{PLACES[city][name]}"])


def read_labels(path):
    """The rows of the CSV, read through gfile: the file may also be in a bucket."""
    with tf.io.gfile.GFile(str(path), "r") as file:
        return list(csv.DictReader(file.read().splitlines()))


def feature(*values):
    """A feature of text and bytes, or of integers. Features hold bytes, so text is encoded."""
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    encoded = [tf.compat.as_bytes(value) for value in values]
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=encoded))


def write_record(row, source, target):
    """Write the Example of one picture into its own file."""
    data = tf.io.read_file(str(source)).numpy()
    height, width, _ = tf.image.extract_jpeg_shape(data).numpy().tolist()
    features = {
        "image/encoded": feature(data),
        "image/filename": feature(row["file"]),
        "image/height": feature(height),
        "image/width": feature(width),
        "image/class/label": feature(int(row["label"])),
        "image/class/text": feature(row["place"]),
        "image/tags": feature(*row["tags"].split("|")),
    }
    example = tf.train.Example(features=tf.train.Features(feature=features))
    tf.io.gfile.makedirs(str(target.parent))
    with tf.io.TFRecordWriter(str(target)) as writer:
        writer.write(example.SerializeToString(deterministic=True))  # fixes the order of the features


def read(pattern):
    """All matching files, sorted by name, as one dataset of parsed Examples."""
    files = tf.data.Dataset.list_files(str(pattern), shuffle=False)
    records = files.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=4, deterministic=True
    )
    return records.map(lambda record: tf.io.parse_single_example(record, FEATURES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("landmarks"), help="for all files")
    parser.add_argument("--tensorflow", action="store_true", help="use TensorFlow instead of purerecord")
    out = parser.parse_args().out
    draw_tree(out / "pictures")
    write_labels(out / "pictures", out / "labels.csv")
    rows = read_labels(out / "labels.csv")
    for row in rows:
        target = (out / "records" / row["file"]).with_suffix(".tfrecord")
        write_record(row, out / "pictures" / row["file"], target)

    examples = list(read(out / "records" / "*" / "*" / "*.tfrecord"))
    print(f"{len(examples)} files of one record")
    equal = 0
    for example in examples:
        path = out / "pictures" / example["image/filename"].numpy().decode()
        equal += path.read_bytes() == example["image/encoded"].numpy()
    print(f"{equal} pictures as in the folder")
    for city in sorted(PLACES):
        print(city)
        for example in read(out / "records" / city / "*" / "1.tfrecord"):
            label, name = example["image/class/label"].numpy(), example["image/class/text"].numpy().decode()
            tags = [tag.decode() for tag in example["image/tags"].values.numpy()]
            size = f"{example['image/width'].numpy()} x {example['image/height'].numpy()}"
            print(f"  {label} {name} {tags} {size}")


if __name__ == "__main__":
    main()
