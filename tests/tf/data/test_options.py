"""``tf.data.Options``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_typo_is_refused_and_unset_is_none() -> None:
    options = tf.data.Options()
    assert options.deterministic is None
    with pytest.raises(AttributeError, match="Cannot set the property"):
        options.determinstic = True
