"""Sizes as people write them."""

from __future__ import annotations

import pytest

from purerecord.storage.sizes import size_in_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("150MB", 150_000_000),
        ("64 MiB", 64 << 20),
        ("1.5kb", 1500),
        ("2TB", 2 * 10**12),
    ],
)
def test_a_size_counts_in_thousands_or_in_steps_of_1024(text, size):
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "5 apples", None, "0.1B"])
def test_what_is_no_size_is_an_error_that_shows_one(text):
    with pytest.raises(ValueError, match="a size like 150MB or 64MiB is needed"):
        size_in_bytes(text)
