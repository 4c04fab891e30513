"""``CsvDataset`` and ``make_csv_dataset``: the rows of CSV files.

Quoting and errors are TensorFlow's. A row is read as bytes; its text need not be UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ... import public
from .._values.shapes import TensorSpec
from .._values.tensor import EagerTensor, Tensor, convert_to_tensor, of_array
from ..dtypes import DType, as_dtype, float32, float64, int32, int64, string
from ..errors import InvalidArgumentError, invalid, translated
from ..gfile import glob
from ..io.record_files import compression_of
from . import sources
from .dataset import Dataset
from .elements import AUTOTUNE, UNKNOWN
from .features import shuffled_and_repeated
from .iterators import Failure, flattened, resumable
from .run import Run

_TYPES = (float32, float64, int32, int64, string)
_KERNEL_NAMES = {float32: "float", float64: "double", int32: "int32", int64: "int64"}
_INTEGER = re.compile(rb"\s*[+-]?[0-9]+\s*")
_HEX_FLOAT = re.compile(rb"\s*[+-]?0[xX].*")

Row = list[bytes]


@public
class CsvDataset(Dataset):
    """The rows of CSV files, as tuples of scalars with the dtypes of ``record_defaults``."""

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        columns = [_Column(number, default) for number, default in enumerate(record_defaults)]
        delimiter = _bytes(field_delim)
        if len(delimiter) != 1:
            raise invalid("field_delim should be only 1 char")
        select = None if select_cols is None else [int(number) for number in select_cols]
        exclude = None if exclude_cols is None else [int(number) for number in exclude_cols]
        if select and exclude:
            raise invalid("Either select_cols or exclude_cols should be empty")
        for what, chosen in (("select_cols", select), ("exclude_cols", exclude)):
            if any(one >= two for one, two in zip(chosen or [], (chosen or [])[1:], strict=False)):
                raise invalid(f"{what} should be strictly increasing indices")
        compression = compression_of(compression_type)
        rows = _Rows(delimiter, bool(use_quote_delim), bool(header), compression)
        names, missing = sources.names_of(filenames), _bytes(na_value)

        def element_of(row: Row) -> Any:
            return _element(row, columns, select, exclude, missing)

        def make(run: Run) -> Iterator[Any]:
            found = flattened(names(run), rows.of_file)
            return map(element_of, found)

        spec = tuple(TensorSpec((), column.dtype) for column in columns)
        super().__init__(make, spec, UNKNOWN, "CsvDatasetV2")


def _bytes(text: Any) -> bytes:
    found = text.numpy() if isinstance(text, EagerTensor) else text
    return found if isinstance(found, bytes) else str(found).encode()


class _Column:
    """A column of a CSV file: its dtype, and the value of an empty field or None if there is none."""

    def __init__(self, number: int, default: Any) -> None:
        self.number = number
        self.default: EagerTensor | None = None
        if not isinstance(default, Tensor) and _is_type(default):
            self.dtype = as_dtype(default)
            return
        values = convert_to_tensor(default)
        self.dtype = values.dtype
        if values.ndim > 1 or (values.ndim and len(values) > 1):
            raise invalid("Each record default should be at most rank 1")
        if self.dtype not in _TYPES:
            raise TypeError(f"a CSV column cannot hold {self.dtype!r}")
        if not values.ndim or len(values):
            self.default = of_array(values._array.reshape(-1)[0])

    def value(self, text: bytes, missing: bytes) -> EagerTensor:
        """The value of a field."""
        if not text or text == missing:
            if self.default is None:
                raise invalid(f"Field {self.number} is required but missing in record!")
            return self.default
        if self.dtype is string:
            return of_array(text)
        try:
            return of_array(np.asarray(_number(text, self.dtype), self.dtype.as_numpy_dtype))
        except (ValueError, OverflowError):
            shown = text.decode(errors="replace")
            raise invalid(
                f"Field {self.number} in record is not a valid {_KERNEL_NAMES[self.dtype]}: {shown}"
            ) from None


def _is_type(default: Any) -> bool:
    if isinstance(default, DType) or default in (int, float, str):
        return True
    return isinstance(default, type) and issubclass(default, np.generic)


def _number(text: bytes, dtype: DType) -> Any:
    if dtype.is_integer:
        if not _INTEGER.fullmatch(text):
            raise ValueError(text)
        number = int(text)
        if not dtype.min <= number <= dtype.max:
            raise ValueError(text)
        return number
    if b"_" in text:
        raise ValueError(text)
    if _HEX_FLOAT.fullmatch(text):
        return float.fromhex(text.decode("ascii"))
    return float(text)


def _element(
    row: Row, columns: list[_Column], select: list[int] | None, exclude: list[int] | None, missing: bytes
) -> tuple[EagerTensor, ...]:
    """The chosen fields of a row as tensors."""
    expected = len(columns)
    if select:
        row = [row[number] for number in select if number < len(row)]
    elif exclude:
        row = [text for number, text in enumerate(row) if number not in exclude]
    if len(row) > expected:
        raise invalid(f"Expect {expected} fields but have more in record")
    if len(row) < expected:
        raise invalid(f"Expect {expected} fields but have {len(row)} in record")
    return tuple(column.value(text, missing) for column, text in zip(columns, row, strict=True))


class _Rows:
    """Splits CSV files into rows of fields."""

    def __init__(self, delimiter: bytes, quotes: bool, header: bool, compression: str) -> None:
        end = b"(" + re.escape(delimiter) + rb"|\r\n?|\n|\Z)"
        plain = b"([^" + re.escape(delimiter) + b"\r\n" + (b'"' if quotes else b"") + b"]*)"
        quoted = rb'"([^"]*(?:""[^"]*)*)"' if quotes else rb"(?!)()"
        self._field = re.compile(b"(?:" + quoted + b"|" + plain + b")" + end)
        self._line = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)")
        self._delimiter = delimiter
        self._header = header
        self._compression = compression

    @resumable
    def of_file(self, path: str) -> Iterator[Any]:
        """The rows of one file."""
        with translated(compressed=bool(self._compression)):
            data = b"".join(sources.chunks(path, self._compression))
        position, first = 0, True
        while position < len(data):
            row, position = self._row(data, position)
            if not (first and self._header):
                yield row
            first = False

    def _row(self, data: bytes, begin: int) -> tuple[Any, int]:
        """The row at ``begin``, or a failure, and where the next one begins."""
        row: Row = []
        position = begin
        while True:
            match = self._field.match(data, position)
            if match is None:
                return self._failure(data, position)
            quoted, plain, end = match.groups()
            row.append(plain if quoted is None else quoted.replace(b'""', b'"'))
            position = match.end()
            if end != self._delimiter:
                return row, position

    def _failure(self, data: bytes, position: int) -> tuple[Failure, int]:
        """What is wrong with the field at ``position``, and where the next row begins."""
        text = "Unquoted fields cannot have quotes inside"
        if data[position : position + 1] == b'"':
            text = "Quote inside a string has to be escaped by another quote"
            if data.count(b'"', position) % 2 and not re.compile(rb'[^"]*"[^"]').match(data, position + 1):
                text, position = "Reached end of file without closing quoted field in record", len(data)
        match = self._line.match(data, position)
        return Failure(InvalidArgumentError(None, None, text)), match.end() if match else len(data)


# --- Whole pipelines ----------------------------------------------------------------------------------


def make_csv_dataset(  # noqa: PLR0917 - TensorFlow's signature
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the rows of CSV files, as dictionaries; with ``label_name`` pairs of these and the label."""
    names = _file_names(file_pattern)
    rows = _Rows(field_delim.encode(), use_quote_delim, False, compression_of(compression_type))
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = _header_of(names, rows, encoding)
    _check_names(column_names)
    selected = None if select_columns is None else _indices(select_columns, column_names)
    if column_defaults is None:
        inference = (rows, header, num_rows_for_inference, na_value.encode())
        column_defaults = _inferred_defaults(names, len(column_names), selected, inference)
    if selected is not None:
        column_names = _selected_names(column_names, column_defaults, selected)
    _check_label(label_name, column_names)

    def open_file(name: Any) -> Dataset:
        found = CsvDataset(
            name,
            column_defaults,
            compression_type,
            None,
            header,
            field_delim,
            use_quote_delim,
            na_value,
            selected,
        )
        return found.ignore_errors() if ignore_errors else found

    def named(*columns: Any) -> Any:
        found = dict(zip(column_names, columns, strict=True))
        return (
            found
            if label_name is None
            else ({k: v for k, v in found.items() if k != label_name}, found[label_name])
        )

    files = Dataset.from_tensor_slices(names)
    files = files.shuffle(len(names), shuffle_seed) if shuffle else files
    reads = 1 if num_parallel_reads is None else int(num_parallel_reads)
    cycle = None if reads == AUTOTUNE else reads
    dataset = files.interleave(open_file, cycle_length=cycle, num_parallel_calls=reads)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return batches.prefetch(prefetch_buffer_size)


def _file_names(file_pattern: Any) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    names = sorted(name for pattern in patterns for name in glob(pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return names


def _check_label(label: str | None, names: list[str]) -> None:
    if label is not None and label not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Received: {label}.")


def _check_names(names: list[str]) -> None:
    if len({*names}) < len(names):
        twice = {name for name in names if names.count(name) > 1}
        raise ValueError(
            f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}."
        )


def _selected_names(names: list[str], defaults: Any, selected: list[int]) -> list[str]:
    if len(defaults) != len(selected):
        raise ValueError(
            "If specified, `column_defaults` and `select_columns` must have the same length: "
            f"`column_defaults` has length {len(defaults)}, `select_columns` has length {len(selected)}."
        )
    return [names[number] for number in selected]


def _header_of(names: list[str], rows: _Rows, encoding: str) -> list[str]:
    headers = []
    for name in names:
        first = next(rows.of_file(name), None)
        if first is None:
            raise ValueError(f"Failed when reading the header line of {name}. Is it an empty file?")
        headers.append([text.decode(encoding) for text in first])
        if headers[-1] != headers[0]:
            raise ValueError(
                "All input CSV files should have the same column names in the header row. File "
                f"{name} has different column names."
            )
    return headers[0]


def _indices(columns: Any, names: list[str]) -> list[int]:
    places = {name: number for number, name in enumerate(names)}
    found = []
    for column in columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in `select_columns` should be > 0  and <= {len(names)}, "  # noqa: E501
                    "which is the number of columns."
                )
            found.append(column)
        elif column not in places:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: {places.keys()}."  # noqa: E501
            )
        else:
            found.append(places[column])
    if len({*found}) < len(found):
        raise ValueError("The `select_columns` argument contains duplicate columns: set().")
    return sorted(found)


def _inferred_defaults(
    names: list[str], count: int, selected: list[int] | None, inference: tuple[_Rows, bool, int | None, bytes]
) -> list[Any]:
    """Defaults of the narrowest dtypes that hold the first rows."""
    rows, header, limit, missing = inference
    chosen = list(range(count)) if selected is None else selected
    kinds: list[DType | None] = [None] * len(chosen)
    seen = 0
    for name in names:
        for number, row in enumerate(rows.of_file(name)):
            if header and not number:
                continue
            if len(row) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row {number + 1} has {len(row)} number of fields. "
                    f"Expected: {count}."
                )
            if limit is not None and seen >= limit:
                break
            seen += 1
            kinds = [_wider(kind, row[place], missing) for kind, place in zip(kinds, chosen, strict=True)]
    return [convert_to_tensor([""] if kind in (None, string) else [0], kind or string) for kind in kinds]


_ORDER: list[tuple[DType, Callable[[bytes], bool]]] = [
    (int32, lambda text: abs(int(text)) < 2**31),
    (int64, lambda text: abs(int(text)) < 2**63),
    (float32, lambda text: bool(np.float32(text) < np.inf)),
    (float64, lambda text: bool(np.float64(text) < np.inf)),
]


def _wider(kind: DType | None, text: bytes, missing: bytes) -> DType | None:
    """The narrowest dtype that holds ``text`` and all values of ``kind``."""
    if not text or text == missing:
        return kind
    order = [one for one, _ in _ORDER]
    for number, (one, fits) in enumerate(_ORDER):
        try:
            if fits(text) and (kind is None or kind in order[: number + 1]):
                return one
        except (ValueError, OverflowError):
            continue
    return string
