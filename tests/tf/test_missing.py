"""Names that TensorFlow has and ``purerecord.tf`` does not."""

from __future__ import annotations

from typing import Any

import pytest

from purerecord import tf


@pytest.mark.parametrize(
    "name", ["io.write_graph", "io.gfile.chmod", "data.Iterators", "python_io.x", "compat.forward"]
)
def test_what_is_not_there_is_explained(name: str) -> None:
    *path, last = name.split(".")
    namespace: Any = tf
    for part in path:
        namespace = getattr(namespace, part)
    with pytest.raises(
        AttributeError, match=r"covers TFRecord input pipelines; python -m purerecord\.tf lists"
    ):
        getattr(namespace, last)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("keras", "tf.keras (models, layers and training) is not in purerecord.tf"),
        ("no_such_thing", "tf.no_such_thing is not in purerecord.tf"),
        ("image.ssim", "tf.image.ssim is not in purerecord.tf"),
        ("io.write_graph", "tf.io.write_graph is not in purerecord.tf"),
        ("math.zeta", "tf.math.zeta is not in purerecord.tf"),
        ("strings.unicode_script", "tf.strings.unicode_script is not in purerecord.tf"),
        ("random.stateless_gamma", "tf.random.stateless_gamma is not in purerecord.tf"),
        ("sparse.cross", "tf.sparse.cross is not in purerecord.tf"),
        ("ragged.cross_hashed", "tf.ragged.cross_hashed is not in purerecord.tf"),
        ("train.Checkpoint", "tf.train.Checkpoint is not in purerecord.tf"),
        ("data.Dataset.sql", "tf.data.Dataset.sql is not in purerecord.tf"),
        ("data.IteratorSpec", "tf.data.IteratorSpec is not in purerecord.tf"),
    ],
)
def test_what_is_not_there_says_so_and_where_the_list_is(name, beginning):
    place: object = tf
    *path, last = name.split(".")
    for part in path:
        place = getattr(place, part)
    with pytest.raises(AttributeError) as caught:
        getattr(place, last)
    assert str(caught.value).startswith(beginning)
    assert "covers TFRecord input pipelines; python -m purerecord.tf lists" in str(caught.value)
