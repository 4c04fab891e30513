"""``tf.image.resize``: known pixels."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf

RESIZED = [  # TensorFlow's results for the rows (0, 10) and (20, 30)
    ("bilinear", [[0, 5, 10], [10, 15, 20], [20, 25, 30]]),
    ("nearest", [[0, 10, 10], [20, 30, 30], [20, 30, 30]]),
    ("area", [[0, 5, 10], [10, 15, 20], [20, 25, 30]]),
]


@pytest.mark.parametrize(("method", "expected"), RESIZED)
def test_resize_gives_known_pixels(method, expected):
    image = np.array([[0, 10], [20, 30]], np.uint8)[..., None]
    resized = tf.image.resize(image, [3, 3], method)
    assert resized.dtype is (tf.uint8 if method == "nearest" else tf.float32)
    np.testing.assert_allclose(resized.numpy()[..., 0], expected, atol=1e-5)
