"""Apache Beam: ``ReadFromTFRecord``, ``ReadAllFromTFRecord`` and ``WriteToTFRecord``, with Beam's parameters.

Uncompressed files and blocked GZIP are read in parts, each by another worker. An element is a record, a
batch of ``Records`` or an Arrow batch. Written shards get their names when all are complete, which Beam's
own ``FileBasedSink`` does. Only this module imports Beam. It must not know how a frame is laid out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from .container.byte_range import RangeReader, splits
from .container.frames import OVERHEAD
from .container.writer import TFRecordWriter
from .errors import CorruptionError, PureRecordError
from .records import Records
from .storage.compression import TFRecordOptions
from .storage.paths import resolve_paths
from .storage.sizes import size_in_bytes
from .storage.url import Url, stored

try:
    import apache_beam as beam
    from apache_beam.coders import BytesCoder
    from apache_beam.io.filebasedsink import DEFAULT_WINDOW_SHARD_NAME_TEMPLATE, FileBasedSink
    from apache_beam.io.filesystem import CompressionTypes
    from apache_beam.io.filesystems import FileSystems
    from apache_beam.io.iobase import Write
    from apache_beam.metrics import Metrics
    from apache_beam.options.value_provider import ValueProvider
    from apache_beam.pvalue import TaggedOutput
except ImportError as error:
    raise ImportError(f'purerecord.beam needs Beam: pip install "purerecord[beam]" ({error})') from error

__all__ = ["ReadAllFromTFRecord", "ReadFromTFRecord", "SkippedDamage", "WriteToTFRecord"]

ELEMENTS = ("bytes", "records", "arrow")
_DAMAGE = "damage"
# What Beam calls the compressions.
_COMPRESSIONS = {
    CompressionTypes.UNCOMPRESSED: "",
    CompressionTypes.DEFLATE: "ZLIB",
    CompressionTypes.BZIP2: "BZ2",
    CompressionTypes.LZMA: "XZ",
}


class SkippedDamage(NamedTuple):
    """A damaged place that was skipped: the file, where in it if that is known, and the error's words."""

    path: str
    offset: int | None
    message: str


class _Part(NamedTuple):
    """A range of bytes of a file. The options that open a URL stay in the transform."""

    path: str
    remote: bool
    begin: int
    end: int | None


class _Reading(NamedTuple):
    """How files are read."""

    coder: Any
    compression: Any
    elements: str
    features: Any
    columns: list[str] | None
    batch_size: int | None
    split_size: int
    on_error: str
    with_filename: bool
    storage_options: Mapping[str, Any] | None
    filesystem: Any

    def parts(self, pattern: Any) -> Iterator[_Part]:
        """The parts of all files that ``pattern`` names."""
        for path in resolve_paths(stored(pattern, self.storage_options, self.filesystem)):
            remote = isinstance(path, Url)
            address = path.address if isinstance(path, Url) else path
            for begin, end in splits(path, self.split_size, compression=self.compression):
                yield _Part(address, remote, begin, end)

    def file(self, part: _Part) -> str:
        """The file of a part, with what opens it."""
        if part.remote:
            return Url(part.path, self.storage_options, self.filesystem, exact=True)
        return part.path

    def elements_of(self, records: Records) -> Iterator[Any]:
        """The elements that a batch of records becomes."""
        if self.elements == "records":
            yield records
        elif self.elements == "arrow":
            from .arrow.tables import batches_of  # noqa: PLC0415 - needs pyarrow, which the others do not

            yield from batches_of(records, self.features, self.columns)
        elif isinstance(self.coder, BytesCoder):
            yield from records
        else:
            yield from map(self.coder.decode, records)


class _Split(beam.DoFn):  # type: ignore[misc]
    """Patterns to parts of files."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading

    def process(self, element: Any) -> Iterator[_Part]:
        pattern = element.get() if isinstance(element, ValueProvider) else element
        yield from self._reading.parts(getattr(pattern, "path", pattern))  # of Beam's FileMetadata


class _ReadPart(beam.DoFn):  # type: ignore[misc]
    """Parts of files to elements, and to the damage that was skipped."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._records, self._bytes, self._damage = (
            Metrics.counter("purerecord", name) for name in ("records", "bytes", "damage")
        )

    def process(self, part: _Part) -> Iterator[Any]:
        how = self._reading
        skipped: list[CorruptionError] = []
        reader = RangeReader(
            how.file(part),
            (part.begin, part.end),
            compression=how.compression,
            batch_size=how.batch_size,
            on_error=how.on_error,
            on_skip=skipped.append,
        )
        with reader, _in_words():
            for records in reader:
                self._records.inc(len(records))
                self._bytes.inc(records.nbytes)
                for element in how.elements_of(records):
                    yield (str(how.file(part)), element) if how.with_filename else element
        self._damage.inc(len(skipped))
        for error in skipped:
            damage = SkippedDamage(str(how.file(part)), error.offset, str(error))
            yield TaggedOutput(_DAMAGE, damage)


class _Read(beam.PTransform):  # type: ignore[misc]
    """What the two transforms that read have in common; ``expand`` begins with patterns."""

    def __init__(
        self,
        coder: Any,
        compression_type: Any,
        *,
        elements: str = "bytes",
        features: Any = None,
        columns: Iterable[str] | None = None,
        batch_size: int | None = None,
        split_size: int | str = "64MB",
        on_error: str = "raise",
        with_filename: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        super().__init__()
        if elements not in ELEMENTS:
            raise ValueError(f"elements must be one of {', '.join(ELEMENTS)}, not {elements!r}")
        if elements != "arrow" and (features is not None or columns is not None):
            raise ValueError('features and columns are for elements="arrow"')
        if elements != "bytes" and not isinstance(coder, BytesCoder):
            raise ValueError('a coder decodes single records, which elements="bytes" gives')
        if batch_size is not None and elements == "bytes":
            raise ValueError('batch_size is for elements="records" and "arrow"')
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip", not {on_error!r}')
        size = size_in_bytes(split_size) if isinstance(split_size, str) else split_size
        if size < 1:
            raise ValueError(f"split_size must be positive, not {split_size!r}")
        self._apart = False
        self._reading = _Reading(
            coder,
            _compression(compression_type),
            elements,
            features,
            None if columns is None else list(columns),
            batch_size,
            size,
            on_error,
            with_filename,
            storage_options,
            filesystem,
        )

    def with_damage(self) -> _Read:
        """Skip damage, and give two collections: the elements, and a ``SkippedDamage`` for each place.

        >>> records, damage = pipeline | ReadFromTFRecord("train-*.tfrecord").with_damage()
        """
        self._reading = self._reading._replace(on_error="skip")
        self._apart = True
        return self

    def _read(self, patterns: Any) -> Any:
        read = beam.ParDo(_ReadPart(self._reading))
        if self._reading.elements == "bytes" and isinstance(self._reading.coder, BytesCoder):
            read = read.with_output_types(tuple[str, bytes] if self._reading.with_filename else bytes)
        # Without the shuffle, one worker would read all parts that it has found.
        parts = patterns | "Split" >> beam.ParDo(_Split(self._reading)) | beam.Reshuffle()
        found = parts | "Read" >> read.with_outputs(_DAMAGE, main="elements")
        return (found["elements"], found[_DAMAGE]) if self._apart else found["elements"]


class ReadFromTFRecord(_Read):
    """Reads the records of the files that ``file_pattern`` names.

    The first four parameters are Beam's; ``compression_type`` AUTO looks at the content, not at the name.
    ``file_pattern`` is what ``read_records`` takes (glob, shard pattern, URL, a list of these), or a
    ValueProvider. With ``elements="records"``, an element is a batch of ``Records``, with ``"arrow"`` a
    ``pyarrow.RecordBatch`` with the columns of ``read_table``; only with ``features`` do all batches have the
    same columns for certain. Files are read in parts of about ``split_size`` bytes. ``on_error="skip"`` goes
    on after damage. The counters ``records``, ``bytes`` and ``damage`` of the namespace "purerecord" tell how
    much was read.

    >>> pipeline | ReadFromTFRecord("train-*.tfrecord", elements="records")
    """

    def __init__(
        self,
        file_pattern: Any,
        coder: Any = BytesCoder(),  # noqa: B008 - Beam's own default
        compression_type: Any = CompressionTypes.AUTO,
        validate: bool = True,
        **how: Any,
    ) -> None:
        super().__init__(coder, compression_type, **how)
        self._pattern = file_pattern
        if validate and (not isinstance(file_pattern, ValueProvider) or file_pattern.is_accessible()):
            pattern = file_pattern.get() if isinstance(file_pattern, ValueProvider) else file_pattern
            resolve_paths(stored(pattern, how.get("storage_options"), how.get("filesystem")))

    def expand(self, pipeline: Any) -> Any:
        """Read the files."""
        return self._read(pipeline | beam.Create([self._pattern]))


class ReadAllFromTFRecord(_Read):
    """Reads the records of all files that the elements of a collection name.

    ``with_filename=True`` gives pairs of a file and an element. All else is as in ``ReadFromTFRecord``.
    """

    def __init__(
        self,
        coder: Any = BytesCoder(),  # noqa: B008 - Beam's own default
        compression_type: Any = CompressionTypes.AUTO,
        with_filename: bool = False,
        **how: Any,
    ) -> None:
        super().__init__(coder, compression_type, with_filename=with_filename, **how)

    def expand(self, patterns: Any) -> Any:
        """Read the files."""
        return self._read(patterns)


class WriteToTFRecord(beam.PTransform):  # type: ignore[misc]
    """Writes records to shards, which get their names when all are complete.

    The parameters are Beam's, and so are the names: the prefix, ``-SSSSS-of-NNNNN`` or another
    ``shard_name_template``, and the suffix. An element is a record (bytes, or what ``coder`` encodes),
    ``Records``, or an Arrow batch or table, whose rows become Examples. ``options`` is as for
    ``TFRecordWriter`` and takes the place of ``compression_type``. Files are written through Beam's own file
    systems.

    >>> records | WriteToTFRecord("out/train", file_name_suffix=".tfrecord", num_shards=10)
    """

    def __init__(  # noqa: PLR0917 - Beam's signature
        self,
        file_path_prefix: Any,
        coder: Any = BytesCoder(),  # noqa: B008 - Beam's own default
        file_name_suffix: Any = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        compression_type: Any = CompressionTypes.AUTO,
        triggering_frequency: int | None = None,
        *,
        options: Any = None,
        max_records_per_shard: int | None = None,
        max_bytes_per_shard: int | None = None,
    ) -> None:
        super().__init__()
        self._shards = {
            "file_path_prefix": file_path_prefix,
            "coder": coder,
            "file_name_suffix": file_name_suffix,
            "num_shards": num_shards,
            "shard_name_template": shard_name_template,
            "compression_type": compression_type,
            "triggering_frequency": triggering_frequency,
            "max_records_per_shard": max_records_per_shard,
            "max_bytes_per_shard": max_bytes_per_shard,
        }
        self._options = options
        _Sink(self._options, **self._shards)  # raises here what is wrong with the arguments

    def expand(self, records: Any) -> Any:
        """Write the records; the names of the shards."""
        shards = dict(self._shards)
        if not records.is_bounded and shards["shard_name_template"] is None:
            shards["shard_name_template"] = DEFAULT_WINDOW_SHARD_NAME_TEMPLATE
        if shards["max_records_per_shard"] or shards["max_bytes_per_shard"]:
            # Beam counts elements, and looks at the size between two of them.
            records = records | "Single" >> beam.FlatMap(_single_records)
        return records | Write(_Sink(self._options, **shards))


class _Sink(FileBasedSink):  # type: ignore[misc]
    """Beam's sink of files, of which each is written by a ``TFRecordWriter``."""

    def __init__(self, options: Any, **shards: Any) -> None:
        super().__init__(**shards)
        self._options = options
        if options is None:
            _written(self.compression_type, "")

    def open(self, temp_path: str) -> _ShardHandle:
        """Open the temporary file of a shard."""
        options = _written(self.compression_type, temp_path) if self._options is None else self._options
        file = FileSystems.create(temp_path, self.mime_type, CompressionTypes.UNCOMPRESSED)
        self.byte_counter = _ShardHandle(file, options)  # where Beam looks for the size
        return self.byte_counter

    def write_record(self, file_handle: _ShardHandle, value: Any) -> None:
        """Write one element."""
        try:
            with _in_words():
                batches = _batches(value)
                if batches is None:
                    file_handle.write_one(self.coder.encode(value))
                    return
                for records in batches:
                    file_handle.write(records)
        except BaseException:
            file_handle.abandon()  # Beam forgets it, and writes another file when it tries again
            raise

    def close(self, file_handle: _ShardHandle) -> None:
        """Complete the file of a shard."""
        file_handle.close()


def _batches(value: Any) -> Iterable[Records] | None:
    """The records of an element that is a batch, or a table; None of any other."""
    if isinstance(value, Records):
        return [value]
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        from .arrow.tables import encoded  # noqa: PLC0415 - needs pyarrow, which the others do not

        return encoded(value)
    return None


def _single_records(value: Any) -> Iterator[Any]:
    """An element as elements of one record each."""
    with _in_words():
        batches = _batches(value)
        if batches is None:
            yield value
            return
        for records in batches:
            for record in records:
                yield Records.of([record])


class _ShardHandle:
    """A shard that is written: the file of Beam, and the writer on top of it.

    ``bytes_written`` is the size before compression, as Beam counts it.
    """

    def __init__(self, file: Any, options: Any) -> None:
        self._file = file
        self._writer = TFRecordWriter(file, options)
        self.bytes_written = 0

    def write(self, records: Records) -> None:
        """Add records."""
        self._writer.write_many(records)
        self.bytes_written += records.nbytes + OVERHEAD * len(records)

    def write_one(self, record: bytes) -> None:
        """Add one record."""
        self._writer.write(record)
        self.bytes_written += len(record) + OVERHEAD

    def abandon(self) -> None:
        """Close the file as it is."""
        self._writer.abandon()
        self._file.close()

    def close(self) -> None:
        """Write the rest, and close the file."""
        self._writer.close()
        self._file.close()


@contextmanager
def _in_words() -> Iterator[None]:
    """Put the place of an error into its text: Beam makes a new error, of the text alone."""
    try:
        yield
    except PureRecordError as error:
        raise type(error)(str(error)) from error


def _compression(name: Any) -> Any:
    """What ``read_records`` calls a compression of Beam."""
    if not isinstance(name, str):
        return name
    return _COMPRESSIONS.get(name, name if name == "auto" else name.upper())


def _written(name: str, path: str) -> TFRecordOptions:
    """The options of a writer for a compression of Beam; ``path`` tells it if the name does not."""
    if name == CompressionTypes.AUTO:
        name = CompressionTypes.detect_compression_type(os.fspath(path))
    return TFRecordOptions(_compression(name))
