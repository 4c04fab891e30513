"""Pictures and boxes that were converted, read by TensorFlow as its own programs read them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from purerecord.tools import convert
from tests.support.interop import interop
from tests.support.picture_folders import save
from tests.support.pictures import drawn, saved

tf = interop("tensorflow")
tfds = interop("tensorflow_datasets")
interop("PIL")

# What the decoder of the TF Object Detection API asks for.
NUMBERS = tf.io.VarLenFeature(tf.float32)
WHOLE = tf.io.VarLenFeature(tf.int64)
STRINGS = tf.io.VarLenFeature(tf.string)
DETECTION = {
    "image/encoded": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/format": tf.io.FixedLenFeature((), tf.string, default_value="jpeg"),
    "image/filename": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/key/sha256": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/source_id": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/height": tf.io.FixedLenFeature((), tf.int64, default_value=1),
    "image/width": tf.io.FixedLenFeature((), tf.int64, default_value=1),
    **{f"image/object/bbox/{edge}": NUMBERS for edge in ("xmin", "xmax", "ymin", "ymax")},
    "image/object/class/label": WHOLE,
    "image/object/class/text": STRINGS,
    "image/object/area": NUMBERS,
    "image/object/is_crowd": WHOLE,
    "image/object/difficult": WHOLE,
    "image/object/mask": STRINGS,
}
IMAGENET = {
    "image/encoded": tf.io.FixedLenFeature((), tf.string, ""),
    "image/format": tf.io.FixedLenFeature((), tf.string, "jpeg"),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64, -1),
    "image/class/synset": tf.io.FixedLenFeature([], tf.string, ""),
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/channels": tf.io.FixedLenFeature([], tf.int64),
}


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for number, kind in enumerate(("JPEG", "PNG")):
        for folder in ("coco/images", f"folder/n0{number}"):
            save(f"{folder}/{number}.{kind.lower()}", saved(drawn(20, 40, number), kind))
    square = [10, 5, 30, 5, 30, 15, 10, 15]
    note = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [10, 5, 20, 10], "area": 200.0, "iscrowd": 0}
    document = {
        "images": [
            {"id": 1, "file_name": "1.png", "height": 20, "width": 40},
            {"id": 2, "file_name": "0.jpeg", "height": 20, "width": 40},
        ],
        "annotations": [{**note, "segmentation": [square]}],
        "categories": [{"id": 3, "name": "dog"}],
    }
    save("coco/annotations/boxes.json", json.dumps(document))


def parsed(pattern, spec):
    dataset = tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern)))
    return list(dataset.map(lambda record: tf.io.parse_single_example(record, spec)))


def test_the_object_detection_api_finds_its_features(sources):
    interop("pycocotools.mask")
    convert("coco", "out/train@2.tfrecord", masks=True)
    first, second = sorted(parsed("out/train-*", DETECTION), key=lambda row: row["image/source_id"].numpy())
    boxes = [
        tf.sparse.to_dense(first[f"image/object/bbox/{edge}"]).numpy()
        for edge in ("ymin", "xmin", "ymax", "xmax")
    ]
    assert np.stack(boxes, 1).tolist() == [[0.25, 0.25, 0.75, 0.75]]
    assert first["image/object/class/text"].values.numpy().tolist() == [b"dog"]
    assert first["image/object/class/label"].values.numpy().tolist() == [3]
    assert first["image/object/area"].values.numpy().tolist() == [200]
    assert second["image/object/class/label"].values.shape == (0,)
    for row, kind in ((first, "PNG"), (second, "JPEG")):
        pixels = tf.io.decode_image(row["image/encoded"], channels=3)
        assert pixels.shape == (int(row["image/height"]), int(row["image/width"]), 3) == (20, 40, 3)
        assert row["image/format"].numpy().decode() == kind.lower()
    assert len(first["image/key/sha256"].numpy()) == 64
    mask = tf.io.decode_png(first["image/object/mask"].values[0], channels=1).numpy()[..., 0]
    assert mask.shape == (20, 40)
    assert mask[5:15, 10:30].all()
    assert mask.sum() == 200


def test_readers_of_imagenet_find_its_features(sources):
    convert("folder", "out/train@2", style="imagenet")
    rows = parsed("out/train-*", IMAGENET)
    assert sorted((int(row["image/class/label"]), row["image/class/synset"].numpy()) for row in rows) == [
        (1, b"n00"),
        (2, b"n01"),
    ]
    for row in rows:
        assert tf.io.decode_image(row["image/encoded"], channels=3).shape == (20, 40, 3)


def test_tensorflow_datasets_opens_a_folder_of_pictures(sources):
    convert("folder", "out/pets/1.0.0/pets-train.tfrecord@2", style="tfds")
    convert("folder", "out/pets/1.0.0/pets-test.tfrecord@1", style="tfds")
    for builder in (tfds.builder_from_directory("out/pets/1.0.0"), tfds.builder("pets", data_dir="out")):
        assert builder.info.features["label"].names == ["n00", "n01"]
        assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
            "train": 2,
            "test": 2,
        }
        for pixels, label in tfds.as_numpy(builder.as_dataset("train+test", as_supervised=True)):
            kind = ("JPEG", "PNG")[label]
            expected = tf.io.decode_image(saved(drawn(20, 40, int(label)), kind), channels=3).numpy()
            assert np.array_equal(pixels, expected)
    assert builder.info.dataset_size > 0


def test_tensorflow_datasets_opens_a_folder_of_boxes(sources):
    convert("coco", "out/boxes/2.0.0/boxes-train.tfrecord@1", style="tfds")
    builder = tfds.builder_from_directory("out/boxes/2.0.0")
    assert str(builder.info.version) == "2.0.0"
    first, second = tfds.as_numpy(builder.as_dataset("train"))
    objects = first["objects"]
    assert objects["bbox"].tolist() == [[0.25, 0.25, 0.75, 0.75]]
    assert (objects["label"].tolist(), objects["is_crowd"].tolist()) == ([0], [False])
    assert builder.info.features["objects"]["label"].names == ["dog"]
    assert second["objects"]["bbox"].shape == (0, 4)
    assert first["image"].shape == (20, 40, 3)
