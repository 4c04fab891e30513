"""Writes the golden folders beside this script with tensorflow-datasets: ``python tests/tfds/generate.py``.

``expected.json`` says what tensorflow-datasets itself reads from them: the splits, and every feature of every
example as it is stored (images undecoded), by its flat name.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import tensorflow_datasets as tfds

HERE = Path(__file__).parent
F = tfds.features


def features() -> F.FeaturesDict:
    return F.FeaturesDict(
        {
            "image": F.Image(shape=(4, 5, 3), encoding_format="png"),
            "any_image": F.Image(shape=(None, None, 1), dtype=np.uint8, encoding_format="png"),
            "label": F.ClassLabel(names=["ant", "bee", "cat dog"]),
            "counted": F.ClassLabel(num_classes=7),
            "mask": F.LabeledImage(labels=["no", "yes"], shape=(None, None, 1)),
            "text": F.Text(),
            "truth": np.bool_,
            "number": np.int32,
            "half": np.float16,
            "double": np.float64,
            "large": np.uint64,
            "scalar": F.Scalar(np.uint8),
            "perhaps": F.Scalar(np.int32, optional=True),
            "matrix": F.Tensor(shape=(2, 3), dtype=np.float32),
            "strings": F.Tensor(shape=(2,), dtype=np.str_),
            "any": F.Tensor(shape=(None, 2), dtype=np.int64),
            "last": F.Tensor(shape=(2, None), dtype=np.float32),
            "raw": F.Tensor(shape=(2, 2), dtype=np.float64, encoding="bytes"),
            "packed": F.Tensor(shape=(3,), dtype=np.int16, encoding="zlib"),
            "dynamic": F.Tensor(shape=(None, None), dtype=np.int32, encoding="zlib"),
            "box": F.BBoxFeature(),
            "audio": F.Audio(shape=(None,), dtype=np.int16, sample_rate=8000),
            "video": F.Video(shape=(None, 2, 2, 3), encoding_format="png"),
            "tokens": F.Sequence(np.int64),
            "pair": F.Sequence(np.float32, length=2),
            "vectors": F.Sequence(F.Tensor(shape=(2,), dtype=np.float32)),
            "nested": F.Sequence(F.Sequence(np.int32)),
            "deep": F.Sequence(F.Sequence(F.Sequence(F.Tensor(shape=(2,), dtype=np.int64)))),
            "objects": F.Sequence({"box": F.BBoxFeature(), "kind": F.ClassLabel(names=["car", "tree"])}),
            "place": {"name": F.Text(), "at": {"x": np.float32, "y": np.float32}},
            "speech": F.Translation(["de", "en"]),
            "variants": F.TranslationVariableLanguages(["de", "en", "fr"]),
            "steps": F.Dataset({"reward": np.float32, "image": F.Image(shape=(1, 1, 1))}),
        }
    )


def example(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    image = rng.integers(0, 256, (4, 5, 3), np.uint8)
    return {
        "image": image,
        "any_image": image[: 1 + number % 4, :, :1],
        "label": number % 3,
        "counted": number % 7,
        "mask": (image[:, :, :1] > 99).astype(np.uint8),
        "text": f"example {number} \u00e9",
        "truth": number % 2 == 0,
        "number": -number,
        "half": number / 2,
        "double": number / 4,
        "large": 2**64 - 1 - number,
        "scalar": number,
        "perhaps": None if number % 2 else number,
        "matrix": np.arange(6, dtype=np.float32).reshape(2, 3) + number,
        "strings": [f"a{number}", "b"],
        "any": np.arange(2 * (number % 3)).reshape(-1, 2),
        "last": np.arange(2 * (number % 3), dtype=np.float32).reshape(2, -1),
        "raw": np.arange(4.0).reshape(2, 2) / 3 + number,
        "packed": np.array([number, -1, 300], np.int16),
        "dynamic": np.arange((number % 3) * 2, dtype=np.int32).reshape(number % 3, 2),
        "box": F.BBox(ymin=0.0, xmin=0.25, ymax=0.5, xmax=1.0),
        "audio": np.arange(number % 4, dtype=np.int16),
        "video": [image[:2, :2]] * (1 + number % 2),
        "tokens": list(range(number % 4)),
        "pair": [number, 0.5],
        "vectors": [np.array([k, number], np.float32) for k in range(number % 3)],
        "nested": [list(range(k)) for k in range(number % 4)],
        "deep": [[[[k, number]] * k for k in range(2)]] * (number % 3),
        "objects": [
            {"box": F.BBox(ymin=0.0, xmin=0.0, ymax=0.5, xmax=k / 4), "kind": k % 2}
            for k in range(number % 3)
        ],
        "place": {"name": f"p{number}", "at": {"x": number / 8, "y": -1.0}},
        "speech": {"de": "ja", "en": f"yes {number}"},
        "variants": {"en": "hi", "de": ["tag", "moin"]},
        "steps": [{"reward": k / 2, "image": image[:1, :1, :1]} for k in range(number % 3)],
    }


class Everything(tfds.core.GeneratorBasedBuilder):
    """A feature of every kind."""

    VERSION = tfds.core.Version("1.2.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(builder=self, features=features(), supervised_keys=("image", "label"))

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        return {"train": self._generate(0, 11), "test": self._generate(11, 14)}

    def _generate_examples(self) -> Any:
        raise NotImplementedError

    def _generate(self, begin: int, end: int) -> Any:
        for number in range(begin, end):
            yield number, example(number)


class Small(tfds.core.GeneratorBasedBuilder):
    """Two features, two configs, two versions."""

    BUILDER_CONFIGS: ClassVar[list[Any]] = [
        tfds.core.BuilderConfig(name="few"),
        tfds.core.BuilderConfig(name="more"),
    ]

    def _info(self) -> tfds.core.DatasetInfo:
        inner = F.FeaturesDict({"id": np.int64, "name": F.Text()})
        return tfds.core.DatasetInfo(builder=self, features=inner, disable_shuffling=True)

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Any:
        for number in range(3 if self.builder_config.name == "few" else 10):
            yield number, {"id": number, "name": f"{self.version} {number}"}


def small(folder: str, config: str, version: str) -> Small:
    Small.VERSION = tfds.core.Version(version)
    return Small(data_dir=folder, config=config)


def plain(value: Any) -> Any:
    """Anything in an example as JSON has it; bytes as hexadecimal text."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def flat(value: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {name: value}
    parts = [flat(part, f"{name}/{key}" if name else key) for key, part in value.items()]
    return {key: part for inner in parts for key, part in inner.items()}


def describe(builder: Any) -> dict[str, Any]:
    """What tensorflow-datasets says about a folder that it has written."""
    info = builder.info
    stored = info.features.get_serialized_info()
    decoders = {
        name: tfds.decode.SkipDecoding() for name in ("image", "any_image", "mask", "video", "raw", "packed")
    }
    decoders["dynamic"] = tfds.decode.SkipDecoding()
    decoders["steps"] = {"image": tfds.decode.SkipDecoding()}
    decoders = {name: decoder for name, decoder in decoders.items() if name in info.features}
    splits = {}
    for name, split in info.splits.items():
        read = tfds.ReadConfig(interleave_cycle_length=1)
        dataset = builder.as_dataset(split=name, decoders=decoders, read_config=read, shuffle_files=False)
        rows = []
        for row in tfds.as_numpy(dataset):
            if "steps" in row:
                steps = list(row["steps"])
                row["steps"] = {key: [step[key] for step in steps] for key in ("reward", "image")}
            rows.append(flat(plain(row)))
        splits[name] = {
            "examples": split.num_examples,
            "bytes": split.num_bytes,
            "shards": list(split.shard_lengths),
            "files": list(split.filenames),
            "rows": rows,
        }
    return {"features": sorted(flat(stored)), "splits": splits}


def main() -> None:
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        for make, shards in [
            (lambda: Everything(data_dir=folder), 2),
            (lambda: small(folder, "few", "1.10.0"), 1),
            (lambda: small(folder, "more", "1.9.0"), 1),
            (lambda: small(folder, "more", "1.10.0"), 3),
        ]:
            builder = make()
            config = tfds.download.DownloadConfig(num_shards=shards)
            builder.download_and_prepare(download_config=config)
            where = Path(builder.data_dir).relative_to(folder)
            expected[where.as_posix()] = describe(builder)
        for name in ("everything", "small"):
            shutil.rmtree(HERE / name, ignore_errors=True)
            shutil.copytree(Path(folder) / name, HERE / name)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
