"""The fuzz targets: each takes any bytes, and may raise nothing but a ``PureRecordError``.

Two ways to do the same thing must agree. ``run.py`` feeds the targets from atheris,
``tests/contract/test_fuzz.py`` with a few thousand seeded mutations.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress

import numpy as np

import purerecord as pr
from purerecord.container.damage import Damage
from purerecord.errors import PureRecordError
from tests.support.missing_library import needs_missing_library
from tests.support.small_buffers import buffers


def frame_reader(data: bytes) -> None:
    """Reading ends with an error or at the end; skipping damage always reaches the end."""
    if needs_missing_library(data):
        return
    with suppress(PureRecordError):
        list(pr.read_records(io.BytesIO(data)))
    with suppress(PureRecordError):
        sum(map(len, pr.read_batches(io.BytesIO(data), batch_size=3)))
    kept = list(pr.read_records(io.BytesIO(data), on_error="skip"))
    assert kept == [r for batch in pr.read_batches(io.BytesIO(data), on_error="skip") for r in batch]


def scan(data: bytes) -> None:
    """Every byte is accounted for, and ``validate`` finds the same damage as ``scan``."""
    if needs_missing_library(data):
        return
    items = list(pr.scan(io.BytesIO(data)))
    damages = [item for item in items if isinstance(item, Damage)]
    (file,) = pr.validate(io.BytesIO(data)).files
    assert list(file.damages) == damages
    assert file.records == len(items) - len(damages)
    assert file.good_bytes + file.damaged_bytes == file.size
    if not file.compression:
        assert file.size == len(data)
    str(file)


def file_reader(data: bytes) -> None:
    """A file on disk gives the same records as a stream, although it is read by other code."""
    if needs_missing_library(data):
        return
    path = os.path.join(_folder(), "file")
    with open(path, "wb") as file:
        file.write(data)
    kept = list(pr.read_records(io.BytesIO(data), on_error="skip"))
    with buffers(
        _VERIFY_BUFFER=1000, _BUFFER_SIZE=1000, _FEWEST_FRAMES=2, _SMALLEST_READ=1000, _DIRECT_PAYLOAD=300
    ):
        assert list(pr.read_records(path, on_error="skip")) == kept
        (report,) = pr.validate(path).files
    (streamed,) = pr.validate(io.BytesIO(data)).files
    assert report.records == streamed.records == len(kept)
    assert [(d.begin, d.end) for d in report.damages] == [(d.begin, d.end) for d in streamed.damages]
    assert report.good_file_bytes + report.damaged_file_bytes == report.file_size == len(data)


def index_loader(data: bytes) -> None:
    """An index that loads has usable offsets."""
    path = os.path.join(_folder(), "index")
    with open(path, "wb") as file:
        file.write(data)
    with suppress(PureRecordError):
        index = pr.load_index(path)
        assert len(index) >= 0
        assert (index.offsets >= 0).all()
        assert (index.sizes >= 0).all()
        if index.first_records is None:
            index.save(path + ".text", format="text")


def index_builder(data: bytes) -> None:
    """A file that can be indexed gives the same records by index as in order."""
    path = os.path.join(_folder(), "data")
    with open(path, "wb") as file:
        file.write(data)
    try:
        records = pr.RecordFile(path)
        got = [records[i] for i in range(len(records))]
    except (PureRecordError, io.UnsupportedOperation):
        return
    assert got == list(pr.read_records(path))


def example_decoders(data: bytes) -> None:
    """The row decoder and the column decoder agree; the other decoders raise nothing unexpected."""
    one = _outcome(pr.decode_example, data)
    many = _outcome(pr.decode_examples, [data, data])
    in_place = _outcome(lambda batch: pr.decode_examples(batch, bytes_columns=True), [data, data])
    assert (one is None) == (many is None) == (in_place is None)
    if many is not None and in_place is not None:
        assert pr.encode_examples(in_place) == pr.encode_examples(many) if many else not in_place
    if one is not None and many is not None:
        assert set(one) == set(many)
        for name, values in one.items():
            row = _row(many[name])
            assert len(row) == len(values)
            assert not len(row) or np.asarray(values).tolist() == row.tolist() or _bits(values) == _bits(row)
    _outcome(pr.decode_sequence_example, data)
    _outcome(pr.infer_schema, [data])


def _row(column):
    """The second row of a column, as a vector."""
    if hasattr(column, "row_splits"):
        return column.values[column.row_splits[1] : column.row_splits[2]]
    return column[1:2].reshape(-1)


def _bits(values) -> bytes:
    return np.asarray(values).tobytes()


def tensor_parser(data: bytes) -> None:
    """A parsed tensor survives a round trip."""
    array = _outcome(pr.parse_tensor, data)
    # A single stored value may fill millions of elements; serializing these would take too long.
    if array is not None and array.size < 100_000:
        again = pr.parse_tensor(pr.serialize_tensor(array))
        assert again.dtype == array.dtype
        assert again.shape == array.shape
        assert again.tobytes() == array.tobytes() or array.dtype == object


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        frame_reader,
        scan,
        file_reader,
        index_loader,
        index_builder,
        example_decoders,
        tensor_parser,
    )
}


def _outcome(function: Callable, *arguments):
    try:
        return function(*arguments)
    except PureRecordError:
        return None


_made: list[tempfile.TemporaryDirectory] = []


def _folder() -> str:
    if not _made:
        _made.append(tempfile.TemporaryDirectory())
    return _made[0].name


def seeds(target: str) -> list[bytes]:
    """Valid inputs, from which a fuzzer learns the format."""
    payloads = [b"", b"a", b"hello" * 30, (7).to_bytes(8, "little"), bytes(600)]
    plain = _file(payloads)
    examples = [
        pr.encode_example({}),
        pr.encode_example({"a": [1, -1, 1 << 40], "b": [0.5, 2.5], "c": ["x", b"\xff"]}),
        pr.encode_example({"a": [], "long": list(range(200)), "image": bytes(300)}),
    ]
    found = {
        "index_loader": [_index(plain), b"0 17\n17 16\n", (1).to_bytes(8, "little") + bytes(24)],
        "example_decoders": [*examples, pr.encode_sequence_example({"a": 1}, {"s": [[1.5], [2.5, 3]]})],
        "tensor_parser": [
            pr.serialize_tensor(np.arange(6).astype(dtype).reshape(2, 3))
            for dtype in (np.float32, np.int64, np.uint8, np.float16, np.complex64, bool)
        ]
        + [pr.serialize_tensor(np.array([b"a", b"bc"], object))],
    }
    files = [plain, _file(examples)]
    files += [_file(payloads, options) for options in ("GZIP", "ZLIB")]
    files += [_file(payloads * 9, pr.TFRecordOptions("GZIP", block_size=200)), _file([plain, plain])]
    return found.get(target, files)


def _file(payloads: list[bytes], options: object = None) -> bytes:
    file = io.BytesIO()
    with pr.TFRecordWriter(file, options) as writer:
        writer.write_many(payloads)
    return file.getvalue()


def _index(data: bytes) -> bytes:
    path = os.path.join(_folder(), "seed")
    with open(path, "wb") as file:
        file.write(data)
    pr.build_index(path).save(path + ".index")
    with open(path + ".index", "rb") as file:
        return file.read()
