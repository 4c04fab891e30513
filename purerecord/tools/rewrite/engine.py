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
from typing import Any, NamedTuple

from ...container.manifest import Manifest, ManifestEntry, entry_name
from ...processes.pool import Workers
from ...storage.compression import TFRecordOptions, as_options
from ...storage.paths import replace, writing
from ...storage.stores import remove
from ...storage.url import Url, stored_some
from .how import How, complete
from .inputs import CountRecords, FileSource, Source, check_unchanged, find_inputs, options_like
from .mapping import MapInput, Transform
from .outputs import Output, check_names, divided, find_output
from .publish import Complete, publish
from .report import Rewritten
from .shards import grouped, shard_file
from .tasks import Task, run_tasks
from .work_folder import HeldFolder, work_folder_path

# The layout of the work folder. A run goes on only with what a run of the same layout has left.
_LAYOUT = 2


class Dataset(NamedTuple):
    """Complete shards, and what is known of each."""

    output: Output
    shards: list[Complete]
    facts: list[dict[str, Any]]


class Rewrite:
    """A run of the command ``verb``. Its ``parameters`` must be the same if it goes on with another run.

    ``out`` is the name of the output, or a list of those of several.
    """

    def __init__(self, verb: str, paths: Any, out: Any, parameters: dict[str, Any], how: How) -> None:
        self.how = complete(how)
        paths, out = stored_some([paths, out], self.how["storage_options"], self.how["filesystem"])
        self.outputs = [find_output(one, self.how) for one in (out if isinstance(out, list) else [out])]
        self.output = self.outputs[0]
        self.inputs = find_inputs(paths, self.how["compression"], self.how["on_error"])
        given = self.how["options"]
        self.options: TFRecordOptions = options_like(self.inputs) if given is None else as_options(given)
        check_names(self._expected(), self.inputs)
        self._plan = {
            "layout": _LAYOUT,
            "command": verb,
            "arguments": {**parameters, "on_error": self.how["on_error"]},
            "output": {str(number): output.facts for number, output in enumerate(self.outputs)},
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
            try:
                self.beside = self._folder_beside()
            except BaseException:
                self.folder.release()
                raise
        return self

    def _folder_beside(self) -> HeldFolder | None:
        """Where complete shards wait for their names, if the folder for temporary files may be on another
        disk: a file can get its name at once only on the disk where it is."""
        path = work_folder_path(self.output.whole, None)
        if isinstance(self.output.whole, Url) or os.path.abspath(path) == os.path.abspath(self.folder.path):
            return None
        return HeldFolder(path, self._plan, resume=self.folder.resumed)

    def __exit__(self, kind: Any, error: Any, _: object) -> None:
        if self.how["dry_run"]:
            return
        for folder in filter(None, (self.folder, self.beside)):
            if kind is None or isinstance(error, (ValueError, TypeError)):
                with suppress(OSError):  # Windows keeps a file that is still open somewhere
                    folder.remove()
            folder.release()

    @property
    def processes(self) -> int:
        """How many processes work at the same time."""
        workers = self.how["workers"]
        return workers if isinstance(workers, int) else workers.size

    @property
    def workers(self) -> Workers:
        """Who shares the work."""
        return self.how["workers"]

    @property
    def dry_run(self) -> bool:
        """Whether only a report is wanted."""
        return self.how["dry_run"]

    def _expected(self) -> list[str]:
        return [name for output in self.outputs for name in output.expected(self.inputs)]

    def would(self) -> Rewritten:
        """The report of a dry run."""
        return Rewritten(
            tuple(self._expected()),
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
        """Publish what the ``tasks`` of ``map`` have made: each part is an output of its own."""
        found = list(zip(tasks, self.results, strict=True))
        datasets = []
        for part, output in enumerate(self.outputs):
            if not output.as_inputs:
                sources = [task.source_of(part, result, self.folder) for task, result in found]
                datasets.append(self.write_shards(sources, f"shard-{part:03d}", output))
                continue
            names = output.names(len(tasks), self.inputs)
            files = [Complete(task.file(part), name) for task, name in zip(tasks, names, strict=True)]
            datasets.append(Dataset(output, files, [result["parts"][part] for result in self.results]))
        return self.publish(datasets)

    def write(self, sources: Sequence[Source]) -> Rewritten:
        """Divide the records of ``sources`` among the shards, write these and publish them."""
        return self.publish([self.write_shards(sources, "shard", self.output)])

    def write_shards(self, sources: Sequence[Source], prefix: str, output: Output) -> Dataset:
        """Divide the records of ``sources`` among the shards of ``output``, and write these."""
        shards = divided(sources, output, len(self.inputs))
        files = [shard_file(prefix, number) for number in range(len(shards))]
        missing = [number for number, file in enumerate(files) if self.folder.done(file) is None]
        tasks = grouped(shards, missing, self.options, prefix)
        run_tasks(self.folder, tasks, self.workers, self.how["progress"])
        names = output.names(len(files), self.inputs)
        complete = [Complete(file, name) for file, name in zip(files, names, strict=True)]
        return Dataset(output, complete, [self._result(file) for file in files])

    def publish(self, datasets: Sequence[Dataset]) -> Rewritten:
        """Give the complete shards their names."""
        check_unchanged(self.inputs)
        shards = [shard for dataset in datasets for shard in dataset.shards]
        facts = [fact for dataset in datasets for fact in dataset.facts]
        names = [shard.target for shard in shards]
        check_names(names, self.inputs)
        for dataset in datasets:
            _remove(dataset.output.manifest)  # of older shards
        publish(self.folder, shards, self.workers, self.beside)
        manifests = [dataset.output.manifest for dataset in datasets] if self.how["manifest"] else []
        for path, dataset in zip(manifests, datasets, strict=False):
            self._save_manifest(_manifest(dataset), path)
        return Rewritten(
            tuple(names),
            tuple(fact["records"] for fact in facts),
            sum(fact["size"] for fact in facts),
            self.read,
            self._skipped,
            tuple(self._damage),
            tuple(manifests),
            self.facts,
            tuple(str(source.path) for source in self.inputs),
            sum(source.size for source in self.inputs),
            others=tuple(name for dataset in datasets for name in dataset.output.others(names)),
        )

    def _save_manifest(self, manifest: Manifest, path: str) -> None:
        """Write a manifest where the next run finds what a killed one has left, and give it its name."""
        if isinstance(path, Url):
            manifest.save(path)
            return
        waiting = (self.beside or self.folder).file("manifest.json")
        manifest.save(waiting)
        with writing(path):
            replace(waiting, path)


def _remove(path: str) -> None:
    if isinstance(path, Url):
        remove(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def _manifest(dataset: Dataset) -> Manifest:
    """The manifest of the shards, whose names begin with the head of the output, in the folder of that."""
    entries = []
    for shard, fact in zip(dataset.shards, dataset.facts, strict=True):
        whole = shard.target.address if isinstance(shard.target, Url) else shard.target
        name = entry_name(dataset.output.head, whole)
        entries.append(ManifestEntry(name, fact["records"], fact["size"], fact["checksum"]))
    return Manifest(tuple(entries))
