"""purerecord.payload.parse.decode: columns of images."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import TFRecordDataset
from purerecord.errors import SchemaError
from purerecord.payload.images import ImageForm, decoded_image
from purerecord.payload.parse import decode as decode_module
from purerecord.payload.parse.decode import as_forms, parse_and_decode
from purerecord.payload.specs import FixedLenFeature, RaggedFeature, VarLenFeature, as_features
from tests.support.interop import interop
from tests.support.pictures import drawn, saved

interop("PIL.Image")
SPECS = as_features({"image": "string", "label": "int64"})
RGB, SIZED = ImageForm("rgb"), ImageForm("gray", (6, 5))


def pictures(count: int) -> list[bytes]:
    return [saved(drawn(5 + number, 9, number), ("PNG", "JPEG")[number % 2]) for number in range(count)]


def records(images: list[Any]) -> pr.Records:
    return pr.encode_examples({"image": images, "label": np.arange(len(images))})


@pytest.mark.parametrize("cpus", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_a_column_of_images_is_each_image_decoded(count, cpus, monkeypatch):
    monkeypatch.setattr(decode_module, "_cpus", lambda: cpus)
    images = pictures(count)
    batch = records(images) if images else []
    free = parse_and_decode(batch, SPECS, {"image": RGB})
    assert free["label"].tolist() == list(range(count))
    assert (free["image"].shape, free["image"].dtype) == ((count,), object)
    for found, image in zip(free["image"], images, strict=True):
        assert np.array_equal(found, decoded_image(image, RGB))
    sized = parse_and_decode(batch, SPECS, {"image": SIZED})["image"]
    assert (sized.shape, sized.dtype) == ((count, 6, 5, 1), np.uint8)
    assert all(np.array_equal(a, decoded_image(b, SIZED)) for a, b in zip(sized, images, strict=True))


def test_equal_sizes_do_not_change_the_type_of_the_column():
    batch = records([saved(drawn(4, 4), "PNG")] * 3)
    assert parse_and_decode(batch, SPECS, {"image": RGB})["image"].shape == (3,)


def test_a_single_example_gives_one_image():
    (image,) = pictures(1)
    parsed = parse_and_decode(records([image])[0], SPECS, {"image": RGB})
    assert np.array_equal(parsed["image"], decoded_image(image, RGB))
    assert parsed["label"] == 0
    several = pr.encode_example({"image": pictures(3)})
    parsed = parse_and_decode(several, {"image": RaggedFeature(bytes)}, {"image": SIZED})
    assert parsed["image"].shape == (3, 6, 5, 1)


def test_several_images_of_a_record_are_a_ragged_that_keeps_what_is_missing():
    images = pictures(3)
    batch = pr.encode_examples({"image": [images[:2], None, [], images[2:]]})
    for form in (RGB, SIZED):
        column = parse_and_decode(batch, {"image": RaggedFeature(bytes)}, {"image": form})["image"]
        assert column.row_lengths().tolist() == [2, 0, 0, 1]
        assert column.missing.tolist() == [False, True, True, False]
        assert column.untyped.tolist() == [False, False, True, False]
        assert all(
            np.array_equal(a, decoded_image(b, form)) for a, b in zip(column.values, images, strict=True)
        )


def test_other_bytes_columns_may_be_asked_for_too():
    batch = pr.encode_examples({"image": pictures(2), "name": ["a", "b"], "other": ["c", "d"]})
    specs = as_features({"image": "string", "name": "string", "other": "string"})
    for asked, kinds in ((("name",), [True, False]), (True, [True, True]), (False, [False, False])):
        parsed = parse_and_decode(batch, specs, {"image": SIZED}, asked)
        assert [isinstance(parsed[name], pr.BytesColumn) for name in ("name", "other")] == kinds
        assert parsed["image"].shape == (2, 6, 5, 1)


@pytest.mark.parametrize("cpus", [1, 2])
def test_the_first_image_that_cannot_be_decoded_is_the_error(cpus, monkeypatch):
    monkeypatch.setattr(decode_module, "_cpus", lambda: cpus)
    images = pictures(9)
    images[4] = b"\x1b[31m no image"
    images[7] = b""
    with pytest.raises(SchemaError, match="'image': record 4: holds an image that cannot be") as caught:
        parse_and_decode(records(images), SPECS, {"image": SIZED})
    assert (caught.value.row, caught.value.problem, caught.value.feature) == (4, "image", "image")
    assert "\x1b" not in str(caught.value)
    batch = pr.encode_examples({"image": [images[:3], None, images[3:]]})
    with pytest.raises(SchemaError) as caught:
        parse_and_decode(batch, {"image": RaggedFeature(bytes)}, {"image": RGB})
    assert caught.value.row == 2
    single = pr.encode_example({"image": [images[0], b""]})
    with pytest.raises(SchemaError, match="it is empty") as caught:
        parse_and_decode(single, {"image": RaggedFeature(bytes)}, {"image": RGB})
    assert caught.value.row == 0


def test_other_errors_are_not_taken_for_bad_images(monkeypatch):
    def fails(data, form):
        raise MemoryError

    monkeypatch.setattr(decode_module, "decoded_image", fails)
    with pytest.raises(MemoryError):
        parse_and_decode(records(pictures(9)), SPECS, {"image": RGB})


@pytest.mark.parametrize(
    ("decode", "match"),
    [
        ({"picture": "rgb"}, "'picture', which is no feature"),
        ({"label": "rgb"}, "'label', which is FixedLenFeature"),
        ({"many": "rgb"}, "'many', which is VarLenFeature"),
        ({"pair": "rgb"}, "'pair', which is FixedLenFeature"),
        ({"image": "yuv"}, 'must be "rgb" or "gray"'),
        ({"image": ("rgb", 3)}, "must be .height, width."),
    ],
)
def test_what_cannot_be_decoded_is_refused_when_the_chain_is_built(decode, match):
    features = {**SPECS, "many": VarLenFeature(bytes), "pair": FixedLenFeature((2,), bytes)}
    with pytest.raises(ValueError, match=match):
        as_forms(decode, features)


def test_decode_is_a_mapping():
    with pytest.raises(TypeError, match="decode must be a mapping"):
        as_forms("rgb", SPECS)  # type: ignore[arg-type]


# --- In chains -------------------------------------------------------------------------------------


@pytest.fixture
def images(tmp_path):
    """A file of pictures of which record 5 is none."""
    files = [saved(drawn(6 + number, 8), "PNG") for number in range(9)]
    files[5] = b"no image"
    name = str(tmp_path / "images")
    with pr.TFRecordWriter(name) as writer:
        writer.write_many(pr.encode_examples({"image": files, "id": np.arange(9)}))
    return name


@pytest.mark.parametrize("shuffled", [False, True])
def test_images_are_decoded_and_one_that_is_none_is_named_with_its_file_and_record(shuffled, images):
    chain = TFRecordDataset(images)
    if shuffled:
        chain = chain.shuffle(9, seed=1)
    spec = {"image": "string", "id": "int64"}
    iterator = iter(chain.batch(2).parse(spec, decode={"image": ("rgb", (4, 4))}))
    good = []
    with pytest.raises(pr.SchemaError, match="holds an image that cannot be decoded") as caught:
        good += [*map(good.append, iterator)]
    assert (caught.value.path, caught.value.record) == (images, 5)
    good += list(iterator)  # it goes on after the batch that failed
    assert [batch["image"].shape[1:] for batch in good] == [(4, 4, 3)] * 4
    iterator = iter(chain.parse(spec, decode={"image": "gray"}))
    good = []
    with pytest.raises(pr.SchemaError) as caught:
        good += [*map(good.append, iterator)]
    assert all(element["image"].shape == (6 + element["id"], 8, 1) for element in good)
    assert (caught.value.path, caught.value.record) == (images, 5)


def test_images_pass_through_pickles_states_caches_and_processes(images, tmp_path):
    path = str(tmp_path / "good")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(list(pr.read_records(images))[:4])
    spec = {"image": "string", "id": "int64"}
    dataset = TFRecordDataset([path, path]).batch(2).parse(spec, decode={"image": "rgb"})
    expected = list(dataset)
    iterator = iter(pickle.loads(pickle.dumps(dataset)))
    next(iterator)
    again = iter(dataset)
    again.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert next(again)["image"][1].shape == (9, 8, 3)
    cached = dataset.cache()
    in_turn = [expected[number] for number in (0, 2, 1, 3)]  # a batch of each file
    for found, wanted in ((cached, expected), (cached, expected), (dataset.parallel(2), in_turn)):
        for batch, other in zip(found, wanted, strict=True):
            assert all(map(np.array_equal, batch["image"], other["image"]))
