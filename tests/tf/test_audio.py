"""WAV files."""

from __future__ import annotations

import numpy as np

from purerecord import tf


def test_samples_come_back() -> None:
    samples = np.array([[0.0, 0.5], [-1.0, 0.25]], np.float32)
    found = tf.audio.decode_wav(tf.audio.encode_wav(samples, 8000))
    assert found.audio.numpy().tolist() == samples.tolist()
    assert found.sample_rate.numpy() == 8000
