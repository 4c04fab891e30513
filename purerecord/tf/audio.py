"""``tf.audio``: WAV files with samples of 16 bits.

This module does not know files.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ._missing import missing
from ._values.operators import shape_text
from ._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from .dtypes import float32, int32, string
from .errors import invalid

__all__ = ["decode_wav", "encode_wav"]

_HEADER = struct.Struct("<4sI4s4sIHHIIHH")


class DecodeWav(NamedTuple):
    """The result of ``decode_wav``."""

    audio: EagerTensor
    sample_rate: EagerTensor


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples of a WAV file from -1 to 1, ``[samples, channels]``, and how many there are a second.

    Missing samples are zeros, missing channels repeat the last one.
    """
    payload = convert_to_tensor(contents, string)._array
    if payload.ndim:
        raise invalid(f"contents must be scalar, got shape {shape_text(payload.shape)}")
    samples, rate = _samples(bytes(payload[()]))
    audio = samples.astype(np.float32) / np.float32(32768)
    count, channels = audio.shape
    if desired_channels >= 0:
        audio = audio[:, np.minimum(np.arange(desired_channels), channels - 1)]
    if desired_samples >= 0:
        audio = np.pad(audio[:desired_samples], ((0, max(desired_samples - count, 0)), (0, 0)))
    return DecodeWav(of_array(np.ascontiguousarray(audio)), of_array(np.array(rate, np.int32)))


def _samples(data: bytes) -> tuple[Any, int]:
    """The samples of a file, ``[samples, channels]``, and the rate."""
    if len(data) < _HEADER.size:
        raise invalid("Data too short when trying to read string")
    riff, _, wave, fmt, size, kind, channels, rate, per_second, frame, bits = _HEADER.unpack_from(data)
    for found, wanted in ((riff, b"RIFF"), (wave, b"WAVE"), (fmt, b"fmt ")):
        if found != wanted and wanted == b"fmt ":
            raise invalid(f"Unexpected field {found.decode(errors='replace')}")
        if found != wanted:
            raise invalid(f"Header mismatch: Expected {wanted.decode()} but found {found!r}")
    if size not in (16, 18):
        raise invalid(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    if kind != 1:
        raise invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if bits != 16:
        raise invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels or frame != channels * 2 or per_second != rate * frame:
        raise invalid("Bad bytes per sample in WAV header")
    at = _HEADER.size + size - 16
    while at < len(data):
        name, length = data[at : at + 4], data[at + 4 : at + 8]
        if len(length) < 4:
            raise invalid("Data too short when trying to read string")
        end = at + 8 + int.from_bytes(length, "little")
        if end > len(data):
            raise invalid("Data too short when trying to read string")
        if name == b"data":
            content = data[at + 8 : end]
            whole = len(content) // frame * frame
            return np.frombuffer(content[:whole], "<i2").reshape(-1, channels), rate
        at = end
    raise invalid("No data chunk found in WAV file")


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> EagerTensor:
    """A WAV file of samples from -1 to 1, ``[samples, channels]``."""
    samples, rate = (
        to_numpy(convert_to_tensor(audio, float32)),
        to_numpy(convert_to_tensor(sample_rate, int32)),
    )
    if samples.ndim != 2:
        raise invalid(f"audio must be 2-dimensional{shape_text(samples.shape)}")
    if rate.ndim:
        raise invalid(f"Input sample_rate should be a scalar tensor, got {shape_text(rate.shape)} instead.")
    if rate <= 0:
        raise invalid(f"sample_rate must be in (0, 2^32), got: {int(rate)}")
    channels = samples.shape[1]
    if not 0 < channels < 2**16:
        raise invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    scaled = samples * np.float32(32768)
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)  # halves away from zero
    content = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    header = _HEADER.pack(
        b"RIFF", 36 + len(content), b"WAVE", b"fmt ", 16, 1, channels, int(rate), int(rate) * channels * 2,
        channels * 2, 16,
    )  # fmt: skip
    return of_array(header + b"data" + struct.pack("<I", len(content)) + content)


__getattr__ = missing("audio")
