"""Thumbnails in notebooks, which Pillow makes."""

from __future__ import annotations

import base64
import io
import re

import numpy as np

import purerecord as pr
from tests.support.interop import interop

image = interop("PIL.Image")


def test_large_pictures_become_thumbnails():
    pixels = np.random.default_rng(0).integers(0, 255, (600, 800, 3), np.uint8)
    for form in ("PNG", "JPEG", "WEBP"):
        target = io.BytesIO()
        image.fromarray(pixels).save(target, form)
        html = pr.Records.of([pr.encode_example({"image": target.getvalue()})])._repr_html_()
        (source,) = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', html)
        assert image.open(io.BytesIO(base64.b64decode(source))).size == (96, 72)
        assert "800 × 600" in html
