"""Hashes of strings as TensorFlow computes them, and the functions that turn them into bucket numbers.

The numbers are part of trained models, so they equal TensorFlow's: ``fingerprint64`` is FarmHash's, which is
stable for ever, ``hash64`` is TensorFlow's own, and ``siphash`` takes a key. This module does not know files.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._values.tensor import convert_to_tensor
from ..errors import invalid
from .elementwise import each

_MASK = 2**64 - 1

# --- FarmHash (farmhashna::Hash64) ------------------------------------------------------------------

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _half_word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _rotate(value: int, shift: int) -> int:
    """``value`` rotated to the right."""
    return ((value >> shift) | (value << (64 - shift))) & _MASK


def _shift_mix(value: int) -> int:
    return value ^ (value >> 47)


def _mixed(u: int, v: int, multiplier: int) -> int:
    a = ((u ^ v) * multiplier) & _MASK
    a ^= a >> 47
    b = ((v ^ a) * multiplier) & _MASK
    b ^= b >> 47
    return (b * multiplier) & _MASK


def _up_to_16(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    if size >= 8:
        a = (_word(data, 0) + _K2) & _MASK
        b = _word(data, size - 8)
        c = (_rotate(b, 37) * multiplier + a) & _MASK
        d = ((_rotate(a, 25) + b) * multiplier) & _MASK
        return _mixed(c, d, multiplier)
    if size >= 4:
        return _mixed(size + (_half_word(data, 0) << 3), _half_word(data, size - 4), multiplier)
    if size:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[size - 1] << 2)
        return (_shift_mix((y * _K2 ^ z * _K0) & _MASK) * _K2) & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    a = (_word(data, 0) * _K1) & _MASK
    b = _word(data, 8)
    c = (_word(data, size - 8) * multiplier) & _MASK
    d = (_word(data, size - 16) * _K2) & _MASK
    u = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    v = (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK
    return _mixed(u, v, multiplier)


def _up_to_64(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    a = (_word(data, 0) * _K2) & _MASK
    b = _word(data, 8)
    c = (_word(data, size - 8) * multiplier) & _MASK
    d = (_word(data, size - 16) * _K2) & _MASK
    y = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    z = _mixed(y, (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK, multiplier)
    e = (_word(data, 16) * multiplier) & _MASK
    f = _word(data, 24)
    g = ((y + _word(data, size - 32)) * multiplier) & _MASK
    h = ((z + _word(data, size - 24)) * multiplier) & _MASK
    u = (_rotate((e + f) & _MASK, 43) + _rotate(g, 30) + h) & _MASK
    v = (e + _rotate((f + a) & _MASK, 18) + g) & _MASK
    return _mixed(u, v, multiplier)


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """A hash of 32 bytes and two seeds."""
    w, x, y, z = struct.unpack_from("<4Q", data, at)
    a = (a + w) & _MASK
    b = _rotate((b + a + z) & _MASK, 21)
    c = a
    a = (a + x + y) & _MASK
    b = (b + _rotate(a, 44)) & _MASK
    return (a + z) & _MASK, (b + c) & _MASK


def fingerprint64(data: bytes) -> int:
    """FarmHash's Fingerprint64, an unsigned number of 64 bits."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if size <= 64 else _long(data)


def _long(data: bytes) -> int:
    size, seed = len(data), 81
    x = seed
    y = (seed * _K1 + 113) & _MASK
    z = (_shift_mix((y * _K2 + 113) & _MASK) * _K2) & _MASK
    v, w = (0, 0), (0, 0)
    x = (x * _K2 + _word(data, 0)) & _MASK
    last = (size - 1) // 64 * 64
    for at in range(0, last, 64):
        x = (_rotate((x + y + v[0] + _word(data, at + 8)) & _MASK, 37) * _K1) & _MASK
        y = (_rotate((y + v[1] + _word(data, at + 48)) & _MASK, 42) * _K1) & _MASK
        x ^= w[1]
        y = (y + v[0] + _word(data, at + 40)) & _MASK
        z = (_rotate((z + w[0]) & _MASK, 33) * _K1) & _MASK
        v = _weak(data, at, v[1] * _K1, x + w[0])
        w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
        z, x = x, z
    multiplier = _K1 + ((z & 0xFF) << 1)
    at = size - 64  # the last 64 bytes, some of them for the second time
    w0 = (w[0] + ((size - 1) & 63)) & _MASK
    v0 = (v[0] + w0) & _MASK
    w0 = (w0 + v0) & _MASK
    x = (_rotate((x + y + v0 + _word(data, at + 8)) & _MASK, 37) * multiplier) & _MASK
    y = (_rotate((y + v[1] + _word(data, at + 48)) & _MASK, 42) * multiplier) & _MASK
    x ^= (w[1] * 9) & _MASK
    y = (y + v0 * 9 + _word(data, at + 40)) & _MASK
    z = (_rotate((z + w0) & _MASK, 33) * multiplier) & _MASK
    v = _weak(data, at, v[1] * multiplier, x + w0)
    w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
    z, x = x, z
    one = (_mixed(v[0], w[0], multiplier) + _shift_mix(y) * _K0 + z) & _MASK
    two = (_mixed(v[1], w[1], multiplier) + x) & _MASK
    return _mixed(one, two, multiplier)


# --- The others -------------------------------------------------------------------------------------


def hash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """TensorFlow's own hash (a MurmurHash 2 of 64 bits)."""
    multiplier = 0xC6A4A7935BD1E995
    result = seed ^ (len(data) * multiplier & _MASK)
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        mixed = word * multiplier & _MASK
        mixed = (mixed ^ (mixed >> 47)) * multiplier & _MASK
        result = (result ^ mixed) * multiplier & _MASK
    if whole < len(data):
        result = (result ^ int.from_bytes(data[whole:], "little")) * multiplier & _MASK
    result = (result ^ (result >> 47)) * multiplier & _MASK
    return result ^ (result >> 47)


def siphash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 with a key of two numbers."""
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]
    rest = len(data) % 8
    words = [word for (word,) in struct.iter_unpack("<Q", data[: len(data) - rest])]
    words.append(int.from_bytes(data[len(data) - rest :], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    """Mixes the four words ``v`` in place."""
    for _ in range(count):
        v[0] = (v[0] + v[1]) & _MASK
        v[2] = (v[2] + v[3]) & _MASK
        v[1] = _rotate(v[1], 51) ^ v[0]
        v[3] = _rotate(v[3], 48) ^ v[2]
        v[0] = _rotate(v[0], 32)
        v[2] = (v[2] + v[1]) & _MASK
        v[0] = (v[0] + v[3]) & _MASK
        v[1] = _rotate(v[1], 47) ^ v[2]
        v[3] = _rotate(v[3], 43) ^ v[0]
        v[2] = _rotate(v[2], 32)


# --- Buckets ----------------------------------------------------------------------------------------


def _buckets(op: str, function: Callable[[bytes], int], value: Any, num_buckets: Any) -> Any:
    count = int(num_buckets)
    if count < 1:
        raise invalid(f"Value for attr 'num_buckets' of {count} must be at least minimum 1")
    return each(op, lambda text: function(text) % count, value, np.int64)


def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Any:  # noqa: A002
    """For each string the number of its bucket: FarmHash's Fingerprint64 modulo ``num_buckets``."""
    return _buckets("StringToHashBucketFast", fingerprint64, input, num_buckets)


def to_hash_bucket(input: Any, num_buckets: Any, name: str | None = None) -> Any:  # noqa: A002
    """For each string the number of its bucket, by TensorFlow's own hash."""
    return _buckets("StringToHashBucket", hash64, input, num_buckets)


def to_hash_bucket_strong(
    input: Any,  # noqa: A002 - TensorFlow's name
    num_buckets: Any,
    key: Sequence[int],
    name: str | None = None,
) -> Any:
    """For each string the number of its bucket, by SipHash with a ``key`` of two numbers."""
    words = [int(word) for word in np.asarray(convert_to_tensor(key, "int64") if key else [])]
    if len(words) != 2:
        raise invalid("Key must have 2 elements")
    pair = (words[0] & _MASK, words[1] & _MASK)
    return _buckets("StringToHashBucketStrong", lambda text: siphash(text, pair), input, num_buckets)
