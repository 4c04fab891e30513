"""Files to look at: drawn shapes with boxes, a robot's episodes, tones, a long table, damage, hostile values.

The tests of the browser and the screenshots of the docs use the same files. Pillow draws them.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import purerecord as pr
from tests.support.damage import flip_byte, starts, zero

CLASSES = ("circle", "hexagon", "ring", "square", "star", "triangle")
BACKGROUNDS = (
    ((226, 232, 240), (176, 190, 210)),
    ((240, 232, 218), (206, 186, 158)),
    ((222, 236, 226), (160, 192, 170)),
    ((58, 66, 84), (30, 34, 46)),
    ((238, 224, 230), (200, 168, 182)),
)
INKS = ((214, 84, 72), (52, 120, 190), (238, 174, 62), (70, 150, 110), (128, 92, 168), (48, 160, 168))
SIZE = (320, 240)
SCALE = 2  # drawn larger, then reduced: smooth edges


def jpeg(image: Any, quality: int = 88) -> bytes:
    return _saved(image, "JPEG", quality=quality)


def png(image: Any) -> bytes:
    return _saved(image, "PNG")


def _saved(image: Any, kind: str, **options: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, kind, **options)
    return output.getvalue()


def _corners(shape: str, x: float, y: float, radius: float, turn: float) -> list[tuple[float, float]]:
    count = {"triangle": 3, "square": 4, "hexagon": 6, "star": 10}[shape]
    return [
        (
            x
            + radius * (0.45 if shape == "star" and k % 2 else 1) * math.cos(turn + 2 * math.pi * k / count),
            y
            + radius * (0.45 if shape == "star" and k % 2 else 1) * math.sin(turn + 2 * math.pi * k / count),
        )
        for k in range(count)
    ]


def _silhouette(shape: str, x: float, y: float, radius: float, turn: float) -> Any:
    """Where the shape is, as a mask of the size of the drawing."""
    mask = Image.new("L", (SIZE[0] * SCALE, SIZE[1] * SCALE))
    draw = ImageDraw.Draw(mask)
    if shape in ("circle", "ring"):
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
        if shape == "ring":
            hole = radius * 0.55
            draw.ellipse((x - hole, y - hole, x + hole, y + hole), fill=0)
    else:
        draw.polygon(_corners(shape, x, y, radius, turn), fill=255)
    return mask


def _gradient(first: tuple[int, ...], last: tuple[int, ...], size: tuple[int, int]) -> Any:
    rows = np.linspace(0, 1, size[1])[:, None, None]
    columns = np.linspace(0, 0.4, size[0])[None, :, None]
    mix = np.clip(rows * 0.8 + columns, 0, 1)
    return Image.fromarray((np.array(first) * (1 - mix) + np.array(last) * mix).astype(np.uint8))


def scene(seed: int, *, masks: bool = False) -> dict[str, Any]:
    """A picture of shapes, with the feature names of TensorFlow's Object Detection API."""
    random = np.random.default_rng(seed)
    large = (SIZE[0] * SCALE, SIZE[1] * SCALE)
    image = _gradient(*BACKGROUNDS[int(random.integers(len(BACKGROUNDS)))], large)
    boxes: list[tuple[float, ...]] = []
    names: list[bytes] = []
    silhouettes: list[bytes] = []
    wanted = int(random.integers(1, 5))
    for _ in range(40):
        radius = float(random.uniform(20, 52)) * SCALE
        x = float(random.uniform(radius + 6, large[0] - radius - 6))
        y = float(random.uniform(radius + 6, large[1] - radius - 6))
        if any(math.hypot(x - a, y - b) < radius + c + 12 for a, b, c, *_ in boxes):
            continue
        shape = CLASSES[int(random.integers(len(CLASSES)))]
        mask = _silhouette(shape, x, y, radius, float(random.uniform(0, math.pi)))
        ink = INKS[int(random.integers(len(INKS)))]
        shadow = Image.new("L", large)
        shadow.paste(mask, (3 * SCALE, 4 * SCALE))
        shadow = shadow.filter(ImageFilter.GaussianBlur(4 * SCALE)).point(lambda value: value * 0.35)
        image.paste((10, 12, 20), (0, 0), shadow)
        lighter = tuple(min(255, part + 34) for part in ink)
        image.paste(_gradient(lighter, ink, large), (0, 0), mask)
        left, top, right, bottom = mask.getbbox()
        boxes.append((x, y, radius, left / large[0], top / large[1], right / large[0], bottom / large[1]))
        names.append(shape.encode())
        silhouettes.append(png(mask.resize(SIZE).point(lambda value: value > 127, "1")))
        if len(boxes) == wanted:
            break
    corners = np.array([box[3:] for box in boxes], np.float32)
    example: dict[str, Any] = {
        "image/encoded": jpeg(image.resize(SIZE, Image.Resampling.LANCZOS)),
        "image/format": b"jpeg",
        "image/filename": f"shapes-{seed:05d}.jpg".encode(),
        "image/source_id": str(seed).encode(),
        "image/height": SIZE[1],
        "image/width": SIZE[0],
        "image/object/bbox/xmin": corners[:, 0],
        "image/object/bbox/ymin": corners[:, 1],
        "image/object/bbox/xmax": corners[:, 2],
        "image/object/bbox/ymax": corners[:, 3],
        "image/object/class/text": names,
        "image/object/class/label": [CLASSES.index(name.decode()) + 1 for name in names],
    }
    return {**example, "image/object/mask": silhouettes} if masks else example


def scenes(count: int, *, masks: bool = False, begin: int = 0) -> list[bytes]:
    """Pictures of shapes, as records."""
    return [pr.encode_example(scene(seed, masks=masks)) for seed in range(begin, begin + count)]


def write(path: str | Path, payloads: Iterable[bytes]) -> str:
    """Records as one file, or as shards where the name says how many."""
    with pr.ShardedWriter(str(path)) if "@" in str(path) else pr.TFRecordWriter(str(path)) as writer:
        writer.write_many(list(payloads))
    return str(path)


# The robot: an arm of two links that takes a cube from one side of a table to the other.

_ARM, _TABLE, _BASE = (58, 62), 100, (30, 98)


def _joints(x: float, y: float) -> tuple[float, float]:
    """The angles of shoulder and elbow with which the hand is at a place."""
    upper, fore = _ARM
    dx, dy = x - _BASE[0], _BASE[1] - y
    distance = min(math.hypot(dx, dy), upper + fore - 0.5)
    elbow = math.acos((distance**2 - upper**2 - fore**2) / (2 * upper * fore))
    shoulder = math.atan2(dy, dx) + math.atan2(fore * math.sin(elbow), upper + fore * math.cos(elbow))
    return shoulder, -elbow


def _frame(shoulder: float, elbow: float, grip: float, cube: tuple[float, float], goal: float) -> Any:
    scale = SCALE
    width, height = 160 * scale, 120 * scale
    image = _gradient((232, 236, 242), (204, 212, 224), (width, height))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, _TABLE * scale, width, height), fill=(168, 142, 112))
    draw.rectangle((0, _TABLE * scale, width, (_TABLE + 3) * scale), fill=(190, 164, 132))
    box = [(goal - 11) * scale, (_TABLE - 1) * scale, (goal + 11) * scale, (_TABLE + 2) * scale]
    draw.rectangle(box, fill=(86, 160, 112))
    x, y = cube
    draw.rounded_rectangle(
        ((x - 7) * scale, (y - 14) * scale, (x + 7) * scale, y * scale), 2 * scale, fill=(214, 84, 72)
    )
    mid = (
        _BASE[0] + _ARM[0] * math.cos(shoulder),
        _BASE[1] - _ARM[0] * math.sin(shoulder),
    )
    hand = (
        mid[0] + _ARM[1] * math.cos(shoulder + elbow),
        mid[1] - _ARM[1] * math.sin(shoulder + elbow),
    )
    for begin, end, thick in ((_BASE, mid, 9), (mid, hand, 7)):
        draw.line(
            [begin[0] * scale, begin[1] * scale, end[0] * scale, end[1] * scale],
            fill=(74, 86, 110),
            width=thick * scale,
        )
    for joint, radius in ((_BASE, 9), (mid, 6), (hand, 5)):
        draw.ellipse(
            [
                (joint[0] - radius) * scale,
                (joint[1] - radius) * scale,
                (joint[0] + radius) * scale,
                (joint[1] + radius) * scale,
            ],
            fill=(238, 174, 62),
        )
    reach = 4 + 6 * (1 - grip)
    for side in (-1, 1):
        draw.line(
            [
                (hand[0] + side * reach) * scale,
                (hand[1] + 2) * scale,
                (hand[0] + side * reach) * scale,
                (hand[1] + 12) * scale,
            ],
            fill=(40, 46, 60),
            width=3 * scale,
        )
    return image.resize((160, 120), Image.Resampling.LANCZOS)


def episode(seed: int, steps: int = 64) -> dict[str, Any]:
    """An episode as RLDS has it: the values of all steps one after the other."""
    random = np.random.default_rng(seed)
    begin, goal = float(random.uniform(118, 132)), float(random.uniform(70, 86))
    # Places of the hand, and how far the gripper is closed, with the share of the time spent until there.
    path = [
        (0.0, 84, 30, 0.0),
        (0.22, begin, 70, 0.0),
        (0.34, begin, 86, 0.0),
        (0.42, begin, 86, 1.0),
        (0.55, begin - 12, 52, 1.0),
        (0.72, goal + 6, 52, 1.0),
        (0.84, goal, 86, 1.0),
        (0.9, goal, 86, 0.0),
        (1.0, goal + 14, 40, 0.0),
    ]
    times = [place[0] for place in path]
    clock = np.linspace(0, 1, steps)
    smooth = [np.interp(clock, times, [place[part] for place in path]) for part in (1, 2, 3)]
    kernel = np.ones(5) / 5
    xs, ys, grips = (np.convolve(np.pad(values, 2, mode="edge"), kernel, "valid") for values in smooth)
    pictures, angles = [], []
    held = False
    cube = (begin, float(_TABLE))
    for x, y, grip in zip(xs, ys, grips, strict=True):
        held = grip > 0.5 and (held or abs(x - cube[0]) < 6)
        cube = (float(x), float(y) + 14) if held else (cube[0], float(_TABLE))
        shoulder, elbow = _joints(float(x), float(y))
        angles.append((shoulder, elbow, float(grip)))
        pictures.append(jpeg(_frame(shoulder, elbow, float(grip), cube, goal), 80))
    state = np.array(angles, np.float32)
    action = np.vstack([np.diff(state, axis=0), np.zeros((1, 3), np.float32)])
    action += random.normal(0, 0.004, action.shape).astype(np.float32)
    done = np.arange(steps) == steps - 1
    return {
        "steps/observation/image": pictures,
        "steps/observation/state": state.ravel(),
        "steps/action": action.astype(np.float32).ravel(),
        "steps/reward": done.astype(np.float32),
        "steps/discount": np.ones(steps, np.float32),
        "steps/is_first": (np.arange(steps) == 0).astype(np.int64),
        "steps/is_last": done.astype(np.int64),
        "steps/is_terminal": done.astype(np.int64),
        "steps/language_instruction": [b"put the red cube on the green mat"] * steps,
        "episode_metadata/episode_id": seed,
    }


def sequence(seed: int, steps: int = 48) -> bytes:
    """The same as a SequenceExample."""
    rlds = episode(seed, steps)
    state = rlds["steps/observation/state"].reshape(steps, 3)
    return pr.encode_sequence_example(
        {"episode_id": seed, "task": b"put the red cube on the green mat"},
        {
            "image": [[picture] for picture in rlds["steps/observation/image"]],
            "joints": [row.tolist() for row in state],
            "reward": [[float(value)] for value in rlds["steps/reward"]],
        },
    )


# Tones like vowels: a voice of pulses through three resonances.

VOWELS = {
    "a": (730, 1090, 2440),
    "e": (530, 1840, 2480),
    "i": (270, 2290, 3010),
    "o": (570, 840, 2410),
    "u": (300, 870, 2240),
}
RATE = 16_000


def tone(seed: int, seconds: float = 1.2) -> dict[str, Any]:
    """Three vowels in a row, as a WAV file, with the pitch and what is heard."""
    random = np.random.default_rng(seed)
    heard = [str(vowel) for vowel in random.choice(list(VOWELS), 3)]
    times = np.arange(int(RATE * seconds)) / RATE
    pitch = 110 * 2 ** random.uniform(0, 1) * (1 + 0.12 * np.sin(2 * np.pi * times / seconds))
    phase = np.cumsum(pitch) / RATE
    sound = np.zeros(len(times))
    for number, vowel in enumerate(heard):
        part = np.clip(1 - np.abs(times / seconds * 3 - number - 0.5) * 1.9, 0, 1) ** 0.6
        for harmonic in range(1, 24):
            frequency = float(pitch.mean()) * harmonic
            loud = sum(1 / (1 + ((frequency - centre) / 90) ** 2) for centre in VOWELS[vowel])
            sound += part * loud / harmonic**0.5 * np.sin(2 * np.pi * harmonic * phase)
    samples = (sound / np.abs(sound).max() * 26_000).astype("<i2")
    return {
        "audio": wav(samples),
        "heard": " ".join(heard).encode(),
        "pitch": pitch[:: RATE // 100].astype(np.float32),
        "sample_rate": RATE,
        "speaker": int(random.integers(8)),
    }


def wav(samples: Any) -> bytes:
    body = samples.tobytes()
    form = struct.pack("<HHIIHH", 1, 1, RATE, RATE * 2, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(body))
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + b"data"
        + struct.pack("<I", len(body))
        + body
    )


def write_long(path: str | Path, count: int = 1_000_000) -> None:
    """A long table of small records; ``id`` is the number of the record."""
    random = np.random.default_rng(7)
    with pr.TFRecordWriter(str(path)) as writer:
        for begin in range(0, count, 100_000):
            ids = np.arange(begin, min(begin + 100_000, count))
            writer.write_many(pr.encode_examples(_table(ids, random)))


def _table(ids: Any, random: Any) -> dict[str, Any]:
    words = [b"amber", b"birch", b"cedar", b"delta", b"ember", b"fjord", b"grove"]
    picked = random.choice(len(words), len(ids), p=[0.34, 0.22, 0.16, 0.12, 0.08, 0.05, 0.03])
    return {
        "id": ids.astype(np.int64),
        "label": (ids * 7 // 3 % 10).astype(np.int64),
        "score": random.beta(2, 5, len(ids)).astype(np.float32),
        "word": [words[place] for place in picked.tolist()],
    }


def write_damaged(path: str | Path, payloads: list[bytes]) -> None:
    """A file with two damaged places: one byte of a payload changed, and zeros over several frames."""
    places = starts(payloads)
    data = Path(write(path, payloads))
    octets = data.read_bytes()
    first, hole = len(payloads) // 5, len(payloads) * 3 // 5
    octets = flip_byte(octets, places[first] + 12 + len(payloads[first]) // 2)
    octets = zero(octets, places[hole] + 5, places[hole + max(2, len(payloads) // 12)] + 9)
    data.write_bytes(octets)


# What nobody should have to open.

SCRIPT = "<script>window.hacked=1</script>"
ONERROR = '"><img src=x onerror="window.hacked=2">'


def bomb(side: int = 30_000) -> bytes:
    """A PNG of a few kilobytes that would be gigabytes of pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = zlib.compressobj(9)
    row = bytes(1 + side)
    packed = b"".join(rows.compress(row) for _ in range(side)) + rows.flush()
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def hostile_payloads() -> Iterable[bytes]:
    """Records whose names and values try to run code in the page."""
    small = png(Image.new("RGB", (8, 8), (200, 60, 60)))
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=3"><script>hacked=4</script></svg>'
    html = b"<!doctype html><script>window.top.hacked=5</script><img src=x onerror=alert(1)>"
    for number in range(6):
        yield pr.encode_example(
            {
                "id": number,
                f"<b>{SCRIPT}": ONERROR.encode(),
                "__proto__": b"polluted",
                "constructor": 3,
                "text": [
                    SCRIPT.encode(),
                    ONERROR.encode(),
                    b"javascript:alert(1)",
                    "\u202egnp.exe\u200b".encode(),
                ],
                "bytes": bytes(range(256)),
                "html": html,
                "svg": svg,
                "picture": [small, bomb(12_000)] if number == 0 else [small],
                "picture with a page in it": small + html,
                "image/object/class/text": [SCRIPT.encode()],
                "image/object/bbox/xmin": [0.1],
                "image/object/bbox/ymin": [0.1],
                "image/object/bbox/xmax": [0.9],
                "image/object/bbox/ymax": [0.9],
            }
        )


def write_hostile(folder: Path) -> Path:
    """The file of hostile records, whose own name is hostile too."""
    path = folder / "<img src=x onerror=alert(1)>&'.tfrecord"
    write(path, hostile_payloads())
    return path
