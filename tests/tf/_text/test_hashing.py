"""Hashes of strings. The interop tests compare them with TensorFlow's."""

from __future__ import annotations

from purerecord.tf._text.hashing import fingerprint64, hash64, siphash


def test_fingerprints_are_farmhashs() -> None:
    assert fingerprint64(b"") == 0x9AE16A3B2F90404F
    assert fingerprint64(b"hello") == fingerprint64(b"hello")
    assert len({fingerprint64(b"x" * size) for size in range(300)}) == 300


def test_siphash_is_that_of_its_paper() -> None:
    key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    assert siphash(bytes(range(15)), key) == 0xA129CA6149BE45E5


def test_seeds_change_the_hash() -> None:
    assert hash64(b"a" * 20) != hash64(b"a" * 20, 1)
