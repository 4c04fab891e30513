"""Ray: a source, a sink and tasks on a cluster: ``purerecord.ray``.

    library         Ray and pyarrow themselves
    ray_arguments   arguments that mean what they mean in Ray
    shards          the files to read, and how they are divided among tasks
    skipped         ``Skipped``: what the tasks of a source have skipped
    source          ``read_tfrecords``: files as a Dataset of Ray
    shard_set       the names of new shards, and how files get them
    cluster         ``Cluster``: the nodes as ``workers=`` of other functions
    sink            ``write_tfrecords``: a Dataset of Ray as shards

Only this folder imports Ray. It must not know how a frame is laid out nor how an Example is encoded. A name
is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Which module of this folder defines which public names.
_HOMES: dict[str, list[str]] = {
    "cluster": ["Cluster"],
    "skipped": ["Skipped"],
    "sink": ["TFRecordDatasink", "write_tfrecords"],
    "source": ["TFRecordDatasource", "read_tfrecords"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module(f"{__name__}.library")  # says what to install, before another module asks for pyarrow
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
