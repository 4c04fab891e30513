"""purerecord without a framework: ``parallel(2)`` in this process and one worker process; numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.loaders.sides import ALL_JOBS, Task, ours, tfrecord_files

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS - {"shuffled"}, (0, 1)
write = tfrecord_files.write


class _Loader:
    """The iterator of the chain, and its state."""

    def __init__(self, chain: Any) -> None:
        self._iterator = iter(chain)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterator)

    def state_dict(self) -> Any:
        """The position before the next batch."""
        return self._iterator.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Continue there."""
        self._iterator.load_state_dict(state)


def loader(task: Task) -> Any:
    """The chain itself."""
    chain = ours.chain(task)
    if task.job.decoded:
        chain = chain.map(ours.decoded)
    return _Loader(chain.parallel(1 + task.workers) if task.workers else chain)
