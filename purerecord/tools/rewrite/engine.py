"""``Rewrite``: one run of a command, from the files that it reads to the shards that it publishes.

    with Rewrite("reshard", paths, out, {}, how) as run:
        return run.write(run.counted())

A command runs tasks, divides sources among shards, and ends with ``write`` or ``publish``. What a killed run
has done is found in the work folder. After an error about the data or the arguments the work folder goes;
after any other, such as a full disk, it stays, so that a run can go on there. This module must not know what
the commands do with the records.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ...container.manifest import Manifest, ManifestEntry
from ...storage.compression import TFRecordOptions, as_options
from ...storage.stores import remove
from ...storage.url import Url
from .how import How, complete
from .inputs import CountRecords, FileSource, Source, check_unchanged, find_inputs, options_like
from .mapping import MapInput, Transform
from .outputs import check_names, divided, find_output
from .publish import Complete, publish
from .report import Rewritten
from .shards import grouped, shard_file
from .tasks import Task, run_tasks
from .work_folder import HeldFolder, work_folder_path

# The layout of the work folder. A run goes on only with what a run of the same layout has left.
_LAYOUT = 1


class Rewrite:
    """A run of the command ``verb``. Its ``parameters`` must be the same if it goes on with another run."""

    def __init__(self, verb: str, paths: Any, out: Any, parameters: dict[str, Any], how: How) -> None:
        self.how = complete(how)
        storage = (self.how["storage_options"], self.how["filesystem"])
        self.output = find_output(out, self.how)
        self.inputs = find_inputs(paths, self.how["compression"], self.how["on_error"], storage)
        given = self.how["options"]
        self.options: TFRecordOptions = options_like(self.inputs) if given is None else as_options(given)
        check_names(self.output.expected(self.inputs), self.inputs)
        self._plan = {
            "layout": _LAYOUT,
            "command": verb,
            "arguments": {**parameters, "on_error": self.how["on_error"]},
            "output": self.output.facts,
            "compression": repr(self.options),
            "input": [source.facts for source in self.inputs],
        }
        self.results: list[dict[str, Any]] = []  # of the tasks of ``map``
        self._damage: list[str] = []
        self._skipped = 0
        self.read = 0  # records of the input
        self.facts: dict[str, int] = {}

    def __enter__(self) -> Rewrite:
        if not self.how["dry_run"]:
            path = work_folder_path(self.output.whole, self.how["temporary"])
            self.folder = HeldFolder(path, self._plan, resume=self.how["resume"])
        return self

    def __exit__(self, kind: Any, error: Any, _: object) -> None:
        if self.how["dry_run"]:
            return
        if kind is None or isinstance(error, (ValueError, TypeError)):
            with suppress(OSError):  # Windows keeps a file that is still open somewhere
                self.folder.remove()
        self.folder.release()

    @property
    def workers(self) -> int:
        """How many processes share the work."""
        return self.how["workers"]

    @property
    def dry_run(self) -> bool:
        """Whether only a report is wanted."""
        return self.how["dry_run"]

    def would(self, paths: Sequence[str] | None = None) -> Rewritten:
        """The report of a dry run."""
        return Rewritten(
            tuple(self.output.expected(self.inputs) if paths is None else paths),
            inputs=tuple(str(source.path) for source in self.inputs),
            input_size=sum(source.size for source in self.inputs),
            dry_run=True,
        )

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Run the tasks that are not done yet, and give the results of all."""
        waiting = [task for task in tasks if self.folder.done(task.name) is None]
        run_tasks(self.folder, waiting, self.workers, self.how["progress"])
        return [self._result(task.name) for task in tasks]

    def _result(self, name: str) -> dict[str, Any]:
        result = self.folder.done(name)
        assert result is not None, f"the task {name} has ended without a result"
        return result

    def note_read(self, results: Sequence[dict[str, Any]]) -> None:
        """Take in what tasks that have read the whole input say of it, for the report."""
        for result in results:
            self.read += result["records"]
            self._skipped += result["skipped"]
            self._damage += [result["error"]] if result["error"] else []

    def counted(self) -> list[FileSource]:
        """The inputs, with the number of records of each."""
        tasks = [CountRecords(source) for source in self.inputs]
        results = self.run(tasks)
        self.note_read(results)
        return [task.source_of(result) for task, result in zip(tasks, results, strict=True)]

    def map(self, transform: Transform) -> list[MapInput]:
        """Transform every input; the tasks, which are done, and of which ``results`` has the results.

        The files are plain if they are to be divided anew, else as the output is to be.
        """
        direct = self.output.as_inputs
        options = self.options if direct else TFRecordOptions()
        tasks = [MapInput(source, transform, options) for source in self.inputs]
        self.results = self.run(tasks)
        self.note_read(self.results)
        return tasks

    def mapped(self, transform: Transform) -> Rewritten:
        """Transform every input, and publish the result: as one shard each, or divided anew."""
        return self.write_mapped(self.map(transform))

    def write_mapped(self, tasks: Sequence[MapInput]) -> Rewritten:
        """Publish what the ``tasks`` of ``map`` have made."""
        if not self.output.as_inputs:
            found = zip(tasks, self.results, strict=True)
            return self.write([task.source_of(0, result, self.folder) for task, result in found])
        names = self.output.names(len(tasks), self.inputs)
        files = [Complete(task.file(0), name) for task, name in zip(tasks, names, strict=True)]
        return self.publish(files, [result["parts"][0] for result in self.results])

    def write(self, sources: Sequence[Source]) -> Rewritten:
        """Divide the records of ``sources`` among the shards, write these and publish them."""
        facts = self.write_shards(sources)
        names = self.output.names(len(facts), self.inputs)
        return self.publish([Complete(shard_file("shard", n), name) for n, name in enumerate(names)], facts)

    def write_shards(self, sources: Sequence[Source], prefix: str = "shard") -> list[dict[str, Any]]:
        """Divide the records of ``sources`` among shards and write these; the facts about each."""
        shards = divided(sources, self.output, len(self.inputs))
        files = [shard_file(prefix, number) for number in range(len(shards))]
        missing = [number for number, file in enumerate(files) if self.folder.done(file) is None]
        tasks = grouped(shards, missing, self.options, prefix)
        run_tasks(self.folder, tasks, self.workers, self.how["progress"])
        return [self._result(file) for file in files]

    def publish(self, shards: Sequence[Complete], facts: Sequence[dict[str, Any]]) -> Rewritten:
        """Give the complete shards their names; ``facts`` are what is known of each."""
        check_unchanged(self.inputs)
        names = [shard.target for shard in shards]
        check_names(names, self.inputs)
        manifest = self.output.manifest if self.how["manifest"] else None
        _remove(self.output.manifest)  # of older shards
        publish(self.folder, shards, self.workers)
        if manifest is not None:
            _manifest(shards, facts, self.output.head).save(manifest)
        return Rewritten(
            tuple(names),
            tuple(fact["records"] for fact in facts),
            sum(fact["size"] for fact in facts),
            self.read,
            self._skipped,
            tuple(self._damage),
            manifest,
            self.facts,
            tuple(str(source.path) for source in self.inputs),
            sum(source.size for source in self.inputs),
        )


def _remove(path: str) -> None:
    if isinstance(path, Url):
        remove(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def _manifest(shards: Sequence[Complete], facts: Sequence[dict[str, Any]], head: str) -> Manifest:
    """The manifest of the shards, whose names begin with ``head``, in the folder of that."""
    folder = len(head) - len(head.replace(os.sep, "/").rpartition("/")[2])
    entries = []
    for shard, fact in zip(shards, facts, strict=True):
        name = shard.target.address if isinstance(shard.target, Url) else shard.target
        entries.append(ManifestEntry(name[folder:], fact["records"], fact["size"], fact["checksum"]))
    return Manifest(tuple(entries))
