"""``Skipped``: what the tasks of a source have skipped, told to the process that started them.

The tasks run elsewhere and perhaps twice, after a worker was killed. So each piece of a file says what was
skipped in it, and a piece that is read again says the same. This module must not know how damage is found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import public
from .library import ray


class _Note(NamedTuple):
    path: str
    begin: int
    places: int
    error: str


class _Notes:
    """An actor: it lives in one process, and all tasks can call it."""

    def __init__(self) -> None:
        self._notes: dict[tuple[str, int], _Note] = {}

    def add(self, note: _Note) -> None:
        self._notes[note.path, note.begin] = note

    def all(self) -> list[_Note]:
        return sorted(self._notes.values())


@public
class Skipped:
    """What was skipped with ``on_error="skip"``, to be asked when the dataset has been read.

    >>> skipped = Skipped()
    >>> read_tfrecords("s3://bucket/train-*", on_error="skip", skipped=skipped).write_parquet(...)
    >>> skipped.places, skipped.files
    """

    def __init__(self) -> None:
        self._actor: Any = ray.remote(num_cpus=0)(_Notes).remote()

    def add(self, path: str, begin: int, places: int, error: str) -> None:
        """Note how many places were skipped in the piece of a file that begins there; a task calls it."""
        ray.get(self._actor.add.remote(_Note(path, begin, places, error)))

    def _notes(self) -> list[_Note]:
        notes: list[_Note] = ray.get(self._actor.all.remote())
        return notes

    @property
    def places(self) -> int:
        """The number of damaged places that were skipped in all files."""
        return sum(note.places for note in self._notes())

    @property
    def files(self) -> dict[str, int]:
        """The number of places in each file that has any."""
        files: dict[str, int] = {}
        for note in self._notes():
            files[note.path] = files.get(note.path, 0) + note.places
        return files

    @property
    def errors(self) -> list[str]:
        """The last error in each piece of a file that has any."""
        return [note.error for note in self._notes()]

    def __repr__(self) -> str:
        return f"<Skipped: {self.places} places in {len(self.files)} files>"
