"""webdataset reads the archives that ``convert`` writes, and writes those that it reads."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop

webdataset = interop("webdataset")

SAMPLES = [
    {
        "__key__": f"folder/{number:03d}",
        "jpg": b"\xff\xd8" + bytes([number]) * 1000,
        "cls": number - 1,
        "txt": "héllo",
        "json": {"number": number},
        "emb.npy": np.arange(6, dtype=np.float32).reshape(2, 3) + number,
    }
    for number in range(5)
]


# webdataset leaves its file to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_webdataset_writes_is_read_and_comes_back(tmp_path):
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as writer:
        for sample in SAMPLES:
            writer.write(sample)
    report = convert(tmp_path / "a.tar", tmp_path / "a.tfrecord")
    assert report.records == len(SAMPLES)
    assert not report.lost
    first = pr.decode_example(next(iter(pr.read_records(tmp_path / "a.tfrecord"))))
    assert {name: values.tolist() for name, values in first.items()} == {
        "__key__": [b"folder/000"],
        "cls": [-1],
        "emb.npy": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "emb.npy/shape": [2, 3],
        "jpg": [b"\xff\xd8" + bytes(1000)],
        "json": [b'{"number": 0}'],
        "txt": ["héllo".encode()],
    }
    convert(tmp_path / "a.tfrecord", tmp_path / "b.tar")
    dataset = webdataset.WebDataset(str(tmp_path / "b.tar"), shardshuffle=False).decode()
    found = list(dataset)
    assert len(found) == len(SAMPLES)
    for sample, again in zip(SAMPLES, found, strict=True):
        assert (again["emb.npy"] == sample["emb.npy"]).all()
        for name in ("__key__", "jpg", "cls", "txt", "json"):
            assert again[name] == sample[name]
