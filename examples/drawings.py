"""Draws the pictures of the examples, so that they need no download: cats, dogs, faces and landmarks.

The caller seeds the random generator of every picture. This module does not know TFRecord.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
FUR = ((205, 133, 63), (120, 120, 125), (60, 56, 60), (222, 184, 135), (236, 230, 220), (150, 90, 50))
WALLS = ((176, 196, 160), (158, 188, 214), (226, 196, 160), (206, 178, 206), (232, 222, 178))
SKIN = ((255, 219, 190), (240, 190, 150), (214, 155, 115), (165, 110, 75), (110, 72, 50))
HAIR = ((40, 30, 25), (95, 60, 35), (175, 120, 60), (225, 195, 120), (150, 60, 30))
EYES = ((120, 190, 80), (230, 190, 60), (110, 180, 220))
PINK, INK, STONE = (228, 130, 140), (30, 24, 24), (214, 200, 178)
LANDMARKS = ("tower", "bridge", "dome", "temple")


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Blend two colours: ``share``, from 0 to 1, is the part of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


class Canvas:
    """Coordinates go from 0 to 1. Drawing at four times the final size makes the edges smooth."""

    def __init__(self, width: int, height: int, top: Colour, bottom: Colour) -> None:
        self.size = np.array((width, height))
        shades = np.linspace(top, bottom, height * 4).round().astype(np.uint8)
        self._image = Image.fromarray(np.repeat(shades[:, None], width * 4, axis=1))
        self._pen = ImageDraw.Draw(self._image)

    def _scaled(self, points: list[Point]) -> list[Point]:
        return [(x, y) for x, y in (np.array(points) * self.size * 4).tolist()]

    def oval(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        """An ellipse with the radii ``across`` and ``down`` around (x, y)."""
        self._pen.ellipse(self._scaled([(x - across, y - down), (x + across, y + down)]), fill)

    def area(self, *points: Point, fill: Colour) -> None:
        """A polygon."""
        self._pen.polygon(self._scaled(list(points)), fill)

    def block(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A rectangle."""
        self._pen.rectangle(self._scaled([(left, top), (right, bottom)]), fill)

    def line(self, *points: Point, fill: Colour, width: float = 0.012) -> None:
        """A line through the points."""
        self._pen.line(self._scaled(list(points)), fill, round(width * self.size[0] * 4), joint="curve")

    def arc(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        """The lower half of an ellipse: a smile."""
        box = self._scaled([(x - across, y - down), (x + across, y + down)])
        self._pen.arc(box, 20, 160, fill, round(0.018 * self.size[0] * 4))

    def finish(self) -> Image.Image:
        """The picture in its final size."""
        return self._image.reduce(4)


def pet(kind: str, rng: np.random.Generator) -> Image.Image:
    """A cat or a dog of random colour and position, in a picture of random size."""
    wall = WALLS[rng.integers(len(WALLS))]
    canvas = Canvas(*rng.integers(110, 171, 2).tolist(), wall, mix(wall, (90, 80, 70), 0.45))
    fur, (x, y) = FUR[rng.integers(len(FUR))], rng.uniform((0.44, 0.52), (0.56, 0.58)).tolist()
    dark, light = mix(fur, (20, 15, 10), 0.5), mix(fur, (255, 250, 240), 0.6)
    canvas.oval(x, y + 0.5, 0.33, 0.3, fur)
    if kind == "cat":
        _cat(canvas, (x, y), fur, light, EYES[rng.integers(len(EYES))])
    else:
        _dog(canvas, (x, y), fur, light, dark)
    return canvas.finish()


def _cat(canvas: Canvas, place: Point, fur: Colour, light: Colour, eyes: Colour) -> None:
    x, y = place
    for side in (-1, 1):
        canvas.area((x + side * 0.3, y - 0.42), (x + side * 0.3, y), (x + side * 0.04, y - 0.22), fill=fur)
        canvas.area((x + side * 0.27, y - 0.34), (x + side * 0.26, y), (x + side * 0.1, y - 0.2), fill=PINK)
    canvas.oval(x, y, 0.31, 0.27, fur)
    for side in (-1, 1):
        canvas.oval(x + side * 0.13, y - 0.04, 0.07, 0.06, eyes)
        canvas.oval(x + side * 0.13, y - 0.04, 0.018, 0.055, INK)
        canvas.arc(x + side * 0.045, y + 0.11, 0.05, 0.05, INK)
        for end in (0.08, 0.12, 0.16):
            canvas.line((x + side * 0.1, y + 0.11), (x + side * 0.37, y + end), fill=light, width=0.008)
    canvas.area((x - 0.04, y + 0.06), (x + 0.04, y + 0.06), (x, y + 0.11), fill=PINK)


def _dog(canvas: Canvas, place: Point, fur: Colour, light: Colour, dark: Colour) -> None:
    x, y = place
    canvas.oval(x, y, 0.27, 0.29, fur)
    for side in (-1, 1):
        canvas.oval(x + side * 0.28, y - 0.02, 0.085, 0.24, dark)
        canvas.oval(x + side * 0.11, y - 0.08, 0.04, 0.045, INK)
        canvas.oval(x + side * 0.11 + 0.012, y - 0.095, 0.013, 0.014, (255, 255, 255))
    canvas.oval(x, y + 0.25, 0.05, 0.1, PINK)
    canvas.oval(x, y + 0.13, 0.16, 0.12, light)
    canvas.oval(x, y + 0.06, 0.065, 0.045, INK)
    canvas.line((x, y + 0.08), (x, y + 0.17), fill=INK)
    canvas.arc(x, y + 0.13, 0.09, 0.07, INK)


def face(person: int, age: int, rng: np.random.Generator) -> Image.Image:
    """A person at an age. Skin, hair, shape and glasses show the person; grey hair and lines show the age."""
    traits = np.random.default_rng(1000 + person)
    skin, hair = SKIN[traits.integers(len(SKIN))], HAIR[traits.integers(len(HAIR))]
    across, long_hair, glasses = traits.uniform(0.2, 0.27), traits.random() < 0.5, traits.random() < 0.4
    hair = mix(hair, (225, 225, 225), min(max((age - 30) / 40, 0), 1))
    wall = WALLS[rng.integers(len(WALLS))]
    canvas = Canvas(160, 192, wall, mix(wall, (60, 60, 80), 0.4))
    x, y = rng.uniform((0.45, 0.44), (0.55, 0.5)).tolist()
    shade = mix(skin, (40, 10, 10), 0.35)
    if long_hair:
        canvas.oval(x, y + 0.08, across + 0.09, 0.42, hair)
    canvas.oval(x, 1.05, 0.42, 0.24, HAIR[4 - person % 5])
    canvas.block(x - 0.08, y + 0.2, x + 0.08, y + 0.42, mix(skin, (40, 10, 10), 0.12))
    canvas.oval(x, y - 0.06, across + 0.035, 0.29, hair)
    canvas.oval(x, y + 0.03, across, 0.28, skin)
    for side in (-1, 1):
        eye = x + side * 0.1
        canvas.oval(eye, y, 0.045, 0.03, (250, 250, 250))
        canvas.oval(eye, y, 0.022, 0.02, (40, 60 + person * 20 % 90, 90))
        canvas.line((eye - 0.05, y - 0.06), (eye + 0.05, y - 0.06), fill=hair, width=0.025)
        if glasses:
            left, top, right, bottom = eye - 0.07, y - 0.04, eye + 0.07, y + 0.045
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            canvas.line(*corners, fill=INK, width=0.015)
    for wrinkle in range(max(0, (age - 35) // 12)):
        canvas.line((x - 0.1, y - 0.1 - wrinkle * 0.03), (x + 0.1, y - 0.1 - wrinkle * 0.03), fill=shade)
    canvas.line((x, y + 0.02), (x + 0.02, y + 0.1), (x - 0.015, y + 0.1), fill=shade, width=0.015)
    canvas.arc(x, y + 0.13, rng.uniform(0.06, 0.11), rng.uniform(0.03, 0.07), (170, 60, 60))
    return canvas.finish()


def landmark(kind: str, rng: np.random.Generator) -> Image.Image:
    """A tower, a bridge, a dome or a temple, at a random time of day."""
    day = rng.random()
    canvas = Canvas(
        150, 100, mix((70, 130, 210), (40, 30, 90), day), mix((215, 235, 250), (250, 160, 110), day)
    )
    canvas.oval(rng.uniform(0.1, 0.9), rng.uniform(0.15, 0.6), 0.05, 0.075, (255, 240, 190))
    stone = mix(STONE, (120, 80, 70), rng.random() * 0.5)
    shade, x = mix(stone, INK, 0.45), rng.uniform(0.42, 0.58)
    water = kind == "bridge"
    canvas.block(0, 0.78, 1, 1, (60, 110, 150) if water else (110, 140, 80))
    if kind == "tower":
        canvas.area((x - 0.13, 0.85), (x - 0.03, 0.2), (x + 0.03, 0.2), (x + 0.13, 0.85), fill=stone)
        canvas.area((x - 0.045, 0.2), (x, 0.03), (x + 0.045, 0.2), fill=shade)
        for floor in (0.35, 0.5, 0.65):
            canvas.block(x - 0.11, floor, x + 0.11, floor + 0.03, shade)
    elif kind == "bridge":
        for pillar in (x - 0.25, x + 0.25):
            canvas.block(pillar - 0.02, 0.2, pillar + 0.02, 0.9, shade)
            for cable in (-0.24, -0.16, -0.08, 0.08, 0.16, 0.24):
                canvas.line((pillar, 0.22), (pillar + cable, 0.66), fill=stone, width=0.008)
        canvas.block(0, 0.65, 1, 0.71, shade)
    elif kind == "dome":
        canvas.oval(x, 0.5, 0.2, 0.26, shade)
        canvas.block(x - 0.28, 0.5, x + 0.28, 0.85, stone)
        for minaret in (x - 0.34, x + 0.34):
            canvas.block(minaret - 0.02, 0.2, minaret + 0.02, 0.85, stone)
            canvas.area((minaret - 0.03, 0.2), (minaret, 0.06), (minaret + 0.03, 0.2), fill=shade)
        for door in (-0.16, 0.0, 0.16):
            canvas.oval(x + door, 0.72, 0.045, 0.09, shade)
    else:
        canvas.area((x - 0.36, 0.36), (x, 0.14), (x + 0.36, 0.36), fill=stone)
        canvas.block(x - 0.34, 0.37, x + 0.34, 0.42, shade)
        for column in np.linspace(x - 0.31, x + 0.31, 7).tolist():
            canvas.block(column - 0.025, 0.42, column + 0.025, 0.8, stone)
        canvas.block(x - 0.38, 0.8, x + 0.38, 0.87, shade)
    return canvas.finish()


def save(image: Image.Image, path: str | Path) -> None:
    """Write a JPEG and create its folder."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    image.save(path, "JPEG", quality=90)
