"""Writes the golden files beside this script with TensorFlow: ``python tests/corpus/generate.py``.

Each file has a JSON twin that says with which options and flushes it was written and what is in it. The
payloads come from fixed seeds; with the same zlib inside TensorFlow the files come out the same again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

HERE = Path(__file__).parent
WORDS = [random.Random(i).randbytes(1 + i % 9) for i in range(400)]


def text(rng: random.Random, size: int) -> bytes:
    """Compressible bytes."""
    return b" ".join(rng.choices(WORDS, k=size // 6 + 1))[:size]


def few(rng: random.Random) -> Iterator[bytes]:
    yield from (b"hello", b"", b"\x00", bytes(range(256)), b"a" * 1000)
    yield from (text(rng, rng.randrange(200)) for _ in range(20))


def many(rng: random.Random) -> Iterator[bytes]:
    yield from (rng.randbytes(rng.randrange(120)) for _ in range(1500))


def equal(rng: random.Random) -> Iterator[bytes]:
    yield from (rng.randbytes(64) for _ in range(600))


def every_length(rng: random.Random) -> Iterator[bytes]:
    yield from (rng.randbytes(length) for length in range(260))


def mixed(rng: random.Random) -> Iterator[bytes]:
    """Several MB, nearly all of it compressible: enough for many deflate blocks at every level."""
    for number in range(1800):
        kind = number % 9
        if kind == 0:
            yield rng.randbytes(rng.randrange(60))
        elif kind == 1:
            yield b"\x00" * rng.randrange(6000)
        elif kind == 2:
            yield bytes(rng.choices(b"01", k=rng.randrange(600)))
        elif kind == 3:
            yield b""
        else:
            yield WORDS[number % 7] * rng.randrange(900) + text(rng, rng.randrange(500))
    yield b"end " * 70_000


def examples(rng: random.Random) -> Iterator[bytes]:
    for number in range(30):
        feature = {
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number - 10])),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % number])),
            "weights": tf.train.Feature(float_list=tf.train.FloatList(value=[rng.random()] * (number % 4))),
        }
        message = tf.train.Example(features=tf.train.Features(feature=feature))
        yield message.SerializeToString(deterministic=True)


def optional_feature(rng: random.Random, kind: str) -> tf.train.Feature | None:
    """A feature in one of the four states that it can have in a record: missing, untyped, empty or filled."""
    lists = {
        "int64": lambda count: {"int64_list": tf.train.Int64List(value=[-5, 300, 2**40][:count])},
        "float": lambda count: {"float_list": tf.train.FloatList(value=[0.5, -1.25, 3.0][:count])},
        "bytes": lambda count: {"bytes_list": tf.train.BytesList(value=[b"", b"two", b"\x00"][:count])},
        "untyped": lambda count: {},
    }
    state = rng.choice(["missing", "untyped", "empty", "filled", "filled"])
    if state == "missing":
        return None
    if state == "untyped":
        return tf.train.Feature()
    return tf.train.Feature(**lists[kind](0 if state == "empty" else rng.randrange(1, 4)))


def optional_features(rng: random.Random) -> tf.train.Features:
    found = {kind: optional_feature(rng, kind) for kind in ("int64", "float", "bytes", "untyped")}
    return tf.train.Features(feature={kind: made for kind, made in found.items() if made is not None})


def missing(rng: random.Random) -> Iterator[bytes]:
    """Examples whose features are missing, untyped, empty or filled; each feature has one kind."""
    for _ in range(60):
        yield tf.train.Example(features=optional_features(rng)).SerializeToString(deterministic=True)


def missing_steps(rng: random.Random) -> Iterator[bytes]:
    """SequenceExamples of the same: without a context, without lists, with lists without steps."""
    for number in range(60):
        lists = {}
        for kind in ("int64", "float", "bytes"):
            steps = [optional_feature(rng, kind) or tf.train.Feature() for _ in range(rng.randrange(4))]
            if rng.random() < 0.7:
                lists[f"{kind} steps"] = tf.train.FeatureList(feature=steps)
        message = tf.train.SequenceExample()
        if number % 3:
            message.context.CopyFrom(optional_features(rng))
        if lists:
            message.feature_lists.CopyFrom(tf.train.FeatureLists(feature_list=lists))
        yield message.SerializeToString(deterministic=True)


def nothing(rng: random.Random) -> Iterator[bytes]:
    yield from ()


def one(rng: random.Random) -> Iterator[bytes]:
    yield b"hello"


def zero_length(rng: random.Random) -> Iterator[bytes]:
    yield from [b""] * 5


Content = Callable[[random.Random], Iterator[bytes]]

# name: content, compression, other options, flush after every so many records (0: never)
FILES: dict[str, tuple[Content, str, dict[str, int], int]] = {
    "empty": (nothing, "", {}, 0),
    "empty.gzip": (nothing, "GZIP", {}, 0),
    "empty.zlib": (nothing, "ZLIB", {}, 0),
    "one": (one, "", {}, 0),
    "zero-length": (zero_length, "", {}, 0),
    "zero-length.gzip": (zero_length, "GZIP", {}, 0),
    "zero-length.zlib": (zero_length, "ZLIB", {}, 0),
    "few": (few, "", {}, 0),
    "few.flushed": (few, "", {}, 1),
    "few.gzip": (few, "GZIP", {}, 0),
    "few.zlib": (few, "ZLIB", {}, 0),
    "few.gzip.level0": (few, "GZIP", {"compression_level": 0}, 0),
    "few.gzip.level1": (few, "GZIP", {"compression_level": 1}, 0),
    "few.gzip.level9": (few, "GZIP", {"compression_level": 9}, 0),
    "few.zlib.level0": (few, "ZLIB", {"compression_level": 0}, 0),
    "few.zlib.level1": (few, "ZLIB", {"compression_level": 1}, 0),
    "few.zlib.level9": (few, "ZLIB", {"compression_level": 9}, 0),
    "few.gzip.flushed": (few, "GZIP", {}, 1),
    "few.zlib.flushed": (few, "ZLIB", {}, 3),
    "few.gzip.sync": (few, "GZIP", {"flush_mode": 2, "input_buffer_size": 100}, 0),
    "few.zlib.full": (few, "ZLIB", {"flush_mode": 3, "input_buffer_size": 64}, 4),
    "few.gzip.partial": (few, "GZIP", {"flush_mode": 1, "input_buffer_size": 300}, 7),
    "few.zlib.window9": (few, "ZLIB", {"window_bits": 9}, 0),
    "few.gzip.window25": (few, "GZIP", {"window_bits": 25}, 0),
    "few.zlib.is-gzip": (few, "ZLIB", {"window_bits": 31}, 0),
    "few.gzip.huffman": (few, "GZIP", {"compression_strategy": 2}, 0),
    "few.zlib.mem1": (few, "ZLIB", {"mem_level": 1}, 0),
    "many": (many, "", {}, 0),
    "many.gzip.level1": (many, "GZIP", {"compression_level": 1}, 0),
    "equal": (equal, "", {}, 0),
    "every-length": (every_length, "", {}, 0),
    "examples": (examples, "", {}, 0),
    "missing": (missing, "", {}, 0),
    "missing-steps": (missing_steps, "", {}, 0),
    "mixed.gzip": (mixed, "GZIP", {}, 0),
    "mixed.zlib.flushed": (mixed, "ZLIB", {"compression_level": 4}, 500),
}

# name: files that are simply put one after the other
JOINED = {
    "joined": ("few", "one"),
    "joined.gzip": ("few.gzip", "empty.gzip", "zero-length.gzip", "few.gzip.level1"),
    "joined.zlib": ("few.zlib", "few.zlib.level9"),
}


def digest(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()[:16]


def write(name: str, content: Content, compression: str, options: dict[str, int], every: int) -> None:
    payloads = list(content(random.Random(name.partition(".")[0])))
    target = HERE / f"{name}.tfrecord"
    tf_options = tf.io.TFRecordOptions(compression, **options)
    with tf.io.TFRecordWriter(str(target), tf_options) as writer:
        for number, payload in enumerate(payloads, 1):
            writer.write(payload)
            if every and number % every == 0:
                writer.flush()
    gzipped = target.read_bytes().startswith(b"\x1f\x8b")
    write_twin(
        target,
        {
            "compression": "GZIP" if gzipped else compression,
            "options": {"compression_type": compression, **options},
            "flush_every": every,
            "records": [[len(payload), digest(payload)] for payload in payloads],
        },
    )


def write_twin(target: Path, facts: dict[str, Any]) -> None:
    data = target.read_bytes()
    facts = {
        "written_by": f"TensorFlow {tf.__version__}",
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        **facts,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items()]
    target.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def join(name: str, parts: tuple[str, ...]) -> None:
    target = HERE / f"{name}.tfrecord"
    target.write_bytes(b"".join((HERE / f"{part}.tfrecord").read_bytes() for part in parts))
    twins = [json.loads((HERE / f"{part}.json").read_text()) for part in parts]
    write_twin(
        target,
        {
            "compression": twins[0]["compression"],
            "joined": parts,
            "records": [record for twin in twins for record in twin["records"]],
        },
    )


def main() -> None:
    for name, how in FILES.items():
        write(name, *how)
    for name, parts in JOINED.items():
        join(name, parts)
    size = sum(path.stat().st_size for path in HERE.iterdir() if path.is_file())
    print(f"{len(FILES) + len(JOINED)} files and their twins, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
