"""A folder of JPEGs as TFRecord and as tar files, and one epoch over each.

    python image_folder.py --out work                  # 600 pictures of about 60 kB; a minute
    python image_folder.py --out work --pictures 5000

The folder has a subfolder for each class, as torchvision's ImageFolder expects it. Every loader shuffles
and decodes the pictures, resizes them to 160 x 160 and makes batches of 64, in one process. The table
compares their speed. The sums show that all have gone through the same pictures. Loaders whose library is
not installed are left out.
"""

import argparse
import io
import os
import tarfile
import time
from pathlib import Path

import numpy as np
from drawings import pet
from PIL import Image

import purerecord as pr

CLASSES = ("cat", "dog")
SIZE = (160, 160)  # height, width
BATCH = 64
SHARDS = 4


def draw(folder, count):
    """A folder of ``count`` photos, half of each class."""
    rng = np.random.default_rng(0)
    for number in range(count):
        kind = CLASSES[number % 2]
        width, height = rng.integers(400, 600, 2).tolist()
        photo = np.asarray(pet(kind, rng).resize((width, height)), np.float32)
        photo = np.clip(photo + rng.normal(0, 8, photo.shape), 0, 255).astype(np.uint8)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        Image.fromarray(photo).save(folder / kind / f"{number:05}.jpg", quality=88)


def listed(folder):
    """The paths of all pictures, and their labels."""
    paths = sorted(folder.glob("*/*.jpg"))
    return paths, np.array([CLASSES.index(path.parent.name) for path in paths])


def write_records(folder, pattern):
    """The pictures of a folder, as they are, in shards. Shuffled once, so that each shard has all classes."""
    paths, labels = listed(folder)
    order = np.random.default_rng(1).permutation(len(paths))
    with pr.ShardedWriter(pattern) as writer:
        for some in np.array_split(order, -(-len(order) // 256)):
            images = [paths[number].read_bytes() for number in some]
            writer.write_many(pr.encode_examples({"image": images, "label": labels[some]}))


def write_tars(folder, name):
    """The same as tar files, as webdataset reads them."""
    paths, labels = listed(folder)
    order = np.random.default_rng(1).permutation(len(paths))
    for shard, some in enumerate(np.array_split(order, SHARDS)):
        with tarfile.open(name.format(shard), "w") as tar:
            for number in some:
                tar.add(paths[number], f"{number:05}.jpg")
                label = tarfile.TarInfo(f"{number:05}.cls")
                text = str(labels[number]).encode()
                label.size = len(text)
                tar.addfile(label, io.BytesIO(text))


def decoded(picture):
    """The pixels of an opened picture, as most programs make them."""
    return np.asarray(picture.convert("RGB").resize(SIZE[::-1], Image.Resampling.BILINEAR))


def batches(samples):
    """Batches of pixels and labels from pairs of single ones."""
    images, labels = [], []
    for image, label in samples:
        images.append(image)
        labels.append(label)
        if len(images) == BATCH:
            yield np.stack(images), np.array(labels)
            images, labels = [], []
    if images:
        yield np.stack(images), np.array(labels)


# --- The loaders: each gives batches of pixels and labels ---------------------------------------------


def by_hand(work):
    """A loop over the files with Pillow."""
    paths, labels = listed(work / "folder")
    for_epoch = np.random.default_rng(2).permutation(len(paths))
    return batches((decoded(Image.open(paths[number])), labels[number]) for number in for_epoch)


def image_folder(work):
    """torchvision's ImageFolder in a DataLoader."""
    from torch.utils.data import DataLoader  # noqa: PLC0415 - optional
    from torchvision.datasets import ImageFolder  # noqa: PLC0415 - optional

    dataset = ImageFolder(str(work / "folder"), transform=decoded)
    for images, labels in DataLoader(dataset, batch_size=BATCH, shuffle=True):
        yield images.numpy(), labels.numpy()


def webdataset(work):
    """webdataset over the tar files."""
    import webdataset as wds  # noqa: PLC0415 - optional

    shards = [str(work / f"pictures-{shard}.tar") for shard in range(SHARDS)]
    samples = wds.WebDataset(shards, shardshuffle=False).shuffle(500).decode("pil").to_tuple("jpg", "cls")
    return batches((decoded(picture), label) for picture, label in samples)


def records(work):
    """Ours: the pictures of a batch are decoded in threads, large ones scaled while they are decoded."""
    dataset = pr.TFRecordDataset(str(work / f"pictures@{SHARDS}.tfrecord")).shuffle(500, seed=1).batch(BATCH)
    parsed = dataset.parse({"image": "string", "label": "int64"}, decode={"image": ("rgb", SIZE)})
    return ((batch["image"], batch["label"]) for batch in parsed)


LOADERS = {
    "folder, Pillow": by_hand,
    "folder, ImageFolder": image_folder,
    "tar, webdataset": webdataset,
    "TFRecord, purerecord": records,
}


def prepare(work, count):
    """Make the folder, the tar files and the records, once."""
    if not (work / "folder").exists():
        draw(work / "folder", count)
        write_tars(work / "folder", str(work / "pictures-{}.tar"))
        write_records(work / "folder", str(work / f"pictures@{SHARDS}.tfrecord"))


def epoch(loader, work):
    """The table's line of a loader: pictures, sum of the labels, mean of the pixels, seconds."""
    begin = time.perf_counter()
    count = labels = light = 0
    for images, classes in loader(work):
        count += len(images)
        labels += int(classes.sum())
        light += float(images.mean()) * len(images)
    return count, labels, light / count, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder for the pictures")
    parser.add_argument("--pictures", type=int, default=600)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    prepare(options.out, options.pictures)
    print(f"{'loader':22}{'pictures':>9}{'dogs':>7}{'light':>8}{'pictures/s':>12}")
    for name, loader in LOADERS.items():
        try:
            count, labels, light, seconds = epoch(loader, options.out)
        except ImportError as error:
            print(f"{name:22}not installed: {error.name}")
            continue
        print(f"{name:22}{count:9}{labels:7}{light:8.1f}{count / seconds:12.0f}")


if __name__ == "__main__":
    main()
