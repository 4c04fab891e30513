"""A folder as tensorflow-datasets writes it: shards, and beside them ``dataset_info.json``, ``features.json``
and the names of classes.

Each split is converted by itself; a second one is added to the folder of the first, and takes its classes.
This module must not know where pictures come from.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ....container.frames import OVERHEAD
from ....container.record_file import RecordFile
from ....storage.paths import split_pattern
from ....storage.url import is_url, local_path
from ..job import Job
from ..outputs import name_of, new_file
from .label_map import LabelMap
from .styles import Style

_INFO, _FEATURES = "dataset_info.json", "features.json"
_NAME = re.compile(r"(?P<dataset>[A-Za-z_]\w*)-(?P<split>\w+)(\.tfrecord)?", re.ASCII)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_FIRST_VERSION = "1.0.0"
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
_SUPERVISED = {"tuple": {"items": [{"featureKey": "image"}, {"featureKey": "label"}]}}
_CLASSES = "tensorflow_datasets.core.features."


class TFDSOutput:
    """The folder that a job writes into. Its classes are those of the splits that it has already."""

    def __init__(self, job: Job) -> None:
        name = name_of(job.out)
        head, tail, count = split_pattern(name)
        match = _NAME.fullmatch(os.path.basename(head))
        if (
            hasattr(job.out, "write")
            or is_url(local_path(job.out))
            or match is None
            or tail not in ("", ".tfrecord")
        ):
            raise ValueError(
                f"{name}: with the style tfds, OUT names a local folder, a dataset, a split and its shards, "
                "like pets/1.0.0/pets-train.tfrecord@4"
            )
        if job.written.get("options"):
            raise ValueError("tensorflow-datasets reads no compressed files")
        self.folder = os.path.dirname(head)
        self.dataset, self.split = match["dataset"], match["split"]
        self._job = job
        self._document = self._read(_INFO) or {}
        there = self._document.get("name", self.dataset)
        if there != self.dataset:
            raise ValueError(f"{self._path(_INFO)}: the dataset there is called {there}, not {self.dataset}")
        limited = any(job.written.get(limit) is not None for limit in ("max_bytes", "max_records", "shards"))
        number = count if count is not None else "*" if limited or "@*" in name else 1
        job.out = self._path(f"{self.dataset}-{self.split}.tfrecord@{number}")

    def labels(self, found: LabelMap) -> LabelMap:
        """The classes to number pictures with: those of the folder, or else the ones that were found."""
        for name in ("label", "objects-label"):
            if os.path.exists(path := self._path(f"{name}.labels.txt")):
                with open(path, encoding="utf-8") as file:
                    names = [line.strip() for line in file if line.strip()]
                return LabelMap.numbered(dict(enumerate(names, 1)), path)
        return found

    def plan(self, style: Style, labels: LabelMap) -> None:
        """Describe the shards when these are there; ValueError if those of other splits are different."""
        description = _description(style, labels)
        if self._document and self._read(_FEATURES) != description:
            here = ", ".join(sorted(style.types()))
            raise ValueError(f"{self._path(_FEATURES)}: the splits there have other features than {here}")
        labels.check_text()
        for name in labels.names.values():
            if name != name.strip() or "\n" in name:
                raise ValueError(
                    f"class {name!r} cannot stand in a line of its own, as label.labels.txt has it"
                )
        if not self._job.dry_run and self.folder:
            os.makedirs(self.folder, exist_ok=True)
        names = "".join(f"{name}\n" for name in labels.names.values())

        def write(paths: list[str]) -> None:
            for feature in style.types():
                if feature.endswith("label"):
                    self._write(f"{feature.replace('/', '-')}.labels.txt", names)
            self._write(_FEATURES, _as_text(description))
            self._write(_INFO, _as_text(self._info(paths, supervised="label" in style.types())))
            self._job.report.note(f"the folder for tensorflow-datasets is {self.folder or os.curdir}")

        self._job.at_end.append(write)

    def _info(self, paths: list[str], *, supervised: bool) -> dict[str, Any]:
        """The description of the dataset with this split."""
        lengths = [len(RecordFile(path)) for path in paths]
        size = sum(os.path.getsize(path) for path in paths) - OVERHEAD * sum(lengths)
        split = {
            "filepathTemplate": _TEMPLATE,
            "name": self.split,
            "numBytes": str(size),
            "shardLengths": list(map(str, lengths)),
        }
        others = [other for other in self._document.get("splits", []) if other.get("name") != self.split]
        version = os.path.basename(os.path.abspath(self.folder))
        return {
            "fileFormat": "tfrecord",
            "name": self.dataset,
            "version": version if _VERSION.fullmatch(version) else _FIRST_VERSION,
            **({"supervisedKeys": _SUPERVISED} if supervised else {}),
            **self._document,
            "splits": [*others, split],
        }

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _read(self, name: str) -> Any:
        try:
            with open(self._path(name), encoding="utf-8") as file:
                document = json.load(file)
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self._path(name)}: it is no JSON: {error}") from None
        if not isinstance(document, dict):
            raise ValueError(f"{self._path(name)}: it is not as tensorflow-datasets writes it")
        return document

    def _write(self, name: str, text: str) -> None:
        with new_file(self._path(name)) as file:
            file.write(text.encode())


def _as_text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=4, sort_keys=True) + "\n"


def _description(style: Style, labels: LabelMap) -> dict[str, Any]:
    """The features of a convention as ``features.json`` has them; those with a / are in a sequence."""
    features: dict[str, Any] = {}
    objects: dict[str, Any] = {}
    for name in style.types():
        group, _, inner = name.rpartition("/")
        (objects if group else features)[inner] = _feature(inner, len(labels))
    if objects:
        features["objects"] = _sequence(_group(objects))
    return _group(features)


def _feature(name: str, classes: int) -> dict[str, Any]:
    if name == "image":
        shape = {"dimensions": ["-1", "-1", "3"]}
        return {
            "pythonClassName": f"{_CLASSES}image_feature.Image",
            "image": {"dtype": "uint8", "shape": shape},
        }
    if name == "label":
        content = {"numClasses": str(classes)}
        return {"pythonClassName": f"{_CLASSES}class_label_feature.ClassLabel", "classLabel": content}
    if name == "bbox":
        box = {"bboxFormat": "REL_YXYX", "dtype": "float32", "shape": {"dimensions": ["4"]}}
        return {"pythonClassName": f"{_CLASSES}bounding_boxes.BBoxFeature", "boundingBox": box}
    if name.startswith("is_") or name == "area":
        tensor: dict[str, Any] = {
            "dtype": "float32" if name == "area" else "bool",
            "encoding": "none",
            "shape": {},
        }
        return {"pythonClassName": f"{_CLASSES}tensor_feature.Tensor", "tensor": tensor}
    text = {"pythonClassName": f"{_CLASSES}text_feature.Text", "text": {}}
    return _sequence(text) if name == "captions" else text


def _group(features: dict[str, Any]) -> dict[str, Any]:
    return {
        "pythonClassName": f"{_CLASSES}features_dict.FeaturesDict",
        "featuresDict": {"features": features},
    }


def _sequence(feature: dict[str, Any]) -> dict[str, Any]:
    return {
        "pythonClassName": f"{_CLASSES}sequence_feature.Sequence",
        "sequence": {"feature": feature, "length": "-1"},
    }
