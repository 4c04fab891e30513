"""The message that ``--proto`` and ``--message`` name: found in a descriptor file, decoded, shown as JSON.

The file is a FileDescriptorSet, or a ``.proto`` file, which the installed compiler compiles. The messages
live in a pool of their own. This module does not know the commands, nor the files that hold records.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# protobuf's types come as a separate package, which may not be installed.
from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
    descriptor_pb2,
    descriptor_pool,
    json_format,
    text_format,
)
from google.protobuf.message import DecodeError as ProtobufError  # type: ignore[import-untyped,unused-ignore]

from ..errors import DecodeError
from ..payload.proto import message_class
from ..payload.wire import fields

_WELL_KNOWN = "google/protobuf/"
_MOST_LISTED = 20


class MessageType:
    """A message of a descriptor file: decodes payloads."""

    def __init__(self, descriptor: Any, pool: Any) -> None:
        self.name: str = descriptor.full_name
        self._descriptor = descriptor
        self._pool = pool
        self._class = message_class(descriptor, pool)

    def decode(self, payload: bytes) -> Any:
        """The message in ``payload``; a DecodeError if it is none, or has no field of this message."""
        try:
            message = self._class.FromString(payload)
        except (ProtobufError, UnicodeDecodeError, SystemError) as error:
            raise DecodeError(f"not a {self.name}: {error}") from None
        if not message.ListFields() and not self._is_empty(payload):
            raise DecodeError(f"not a {self.name}: it has none of its fields")
        return message

    def _is_empty(self, payload: bytes) -> bool:
        """Whether a message without values is empty, or has fields that hold zeros."""
        found = {field.number for field in fields(payload, 0, len(payload), 0)}
        return not found or not found.isdisjoint(field.number for field in self._descriptor.fields)

    def to_json(self, payload: bytes) -> dict[str, Any]:
        """The message in ``payload`` as protobuf's JSON."""
        message = self.decode(payload)
        try:
            shown = json_format.MessageToDict(message, descriptor_pool=self._pool)
        except (json_format.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise DecodeError(f"not a {self.name} that JSON can show: {error}") from None
        # A few messages of protobuf itself, such as Timestamp, are no objects in JSON.
        return shown if isinstance(shown, dict) else {"value": shown}

    def to_lines(self, payload: bytes) -> list[str]:
        """The message in ``payload`` as protobuf's text format."""
        text: str = text_format.MessageToString(
            self.decode(payload), as_utf8=True, descriptor_pool=self._pool
        )
        return text.rstrip("\n").split("\n") if text else []

    def field_counts(self, payload: bytes) -> dict[str, tuple[str, int]]:
        """The fields that a message has: their type, and how many values they hold."""
        counts = {}
        for field, value in self.decode(payload).ListFields():
            many = field.message_type is None or not hasattr(value, "ListFields")
            repeated = many and hasattr(value, "__len__") and not isinstance(value, (str, bytes))
            counts[field.name] = _type_name(field), len(value) if repeated else 1
        return counts


def _type_name(field: Any) -> str:
    for named in (field.message_type, field.enum_type):
        if named is not None:
            is_map = named is field.message_type and named.GetOptions().map_entry
            return "map" if is_map else str(named.full_name)
    name: str = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)
    return name.removeprefix("TYPE_").lower()


# --- Descriptor files -------------------------------------------------------------------------------


def load_message_type(path: str, name: str | None) -> MessageType:
    """The message ``name`` of a descriptor file; it may be None if the file has one message at its top."""
    data = Path(path).read_bytes()
    files = _descriptor_set(data) or _descriptor_set(_compile(path))
    if files is None:
        raise ValueError("the compiler gave no descriptors")
    pool = _pool_of(files)
    if name is None:
        tops = _top_messages(files)
        if len(tops) != 1:
            raise ValueError(f"name one of its messages with --message: {_listed(tops)}")
        name = tops[0]
    try:
        return MessageType(pool.FindMessageTypeByName(name.removeprefix(".")), pool)
    except KeyError:
        raise ValueError(f"it has no message {name!r}; there is {_listed(_top_messages(files))}") from None


def _descriptor_set(data: bytes) -> Any:
    """The FileDescriptorSet in ``data``; None if it is something else."""
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(data)
    except (ProtobufError, UnicodeDecodeError, SystemError):
        return None
    return files if files.file and all(file.name for file in files.file) else None


def _top_messages(files: Any) -> list[str]:
    """The messages at the top of the files that no other file imports."""
    imported = {name for file in files.file for name in file.dependency}
    return [
        f"{file.package}.{message.name}" if file.package else message.name
        for file in files.file
        if file.name not in imported
        for message in file.message_type
    ]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return (", ".join(sorted(names)[:_MOST_LISTED]) or "none") + more


def _pool_of(files: Any) -> Any:
    """A pool with all files, each after those that it imports."""
    pool = descriptor_pool.DescriptorPool()
    given = {file.name: file for file in files.file}
    opened: set[str] = set()  # they wait for the files that they import
    done: set[str] = set()
    pending = list(given)
    while pending:
        name = pending.pop()
        if name in done:
            continue
        file = given.get(name) or _well_known(name)
        needed = set(file.dependency) - done
        if needed & (opened | {name}):
            raise ValueError(f"{name} imports itself")
        if needed:
            opened.add(name)
            pending += [name, *needed]
        else:
            _add(pool, file)
            opened.discard(name)
            done.add(name)
    return pool


def _add(pool: Any, file: Any) -> None:
    try:
        pool.AddSerializedFile(file.SerializeToString())
        pool.FindFileByName(file.name)
    except (TypeError, KeyError) as error:
        raise ValueError(f"{file.name} cannot be used: {error}") from None


def _well_known(name: str) -> Any:
    """A file that protobuf itself brings, such as timestamp.proto."""
    if name.startswith(_WELL_KNOWN):
        module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
        if importlib.util.find_spec(module) is not None:
            serialized = importlib.import_module(module).DESCRIPTOR.serialized_pb
            return descriptor_pb2.FileDescriptorProto.FromString(serialized)
    raise ValueError(f"it lacks {name}, which it imports; make it with protoc --include_imports")


def _compile(path: str) -> bytes:
    """The FileDescriptorSet of a ``.proto`` file and its imports."""
    compiler = _compiler()
    if compiler is None:
        raise ValueError(
            "to compile a .proto file, install protoc or run `pip install grpcio-tools`; or give a "
            "FileDescriptorSet, as `protoc --include_imports --descriptor_set_out=FILE` writes it"
        )
    source = Path(os.path.abspath(path))
    # Imports are relative to a folder that the file does not name: its own, or one above it.
    folders = [f"--proto_path={folder}" for folder in source.parents]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "descriptors"
        output = ["--include_imports", f"--descriptor_set_out={target}"]
        done = subprocess.run(
            [*compiler, *folders, *output, str(source)], capture_output=True, text=True, check=False
        )
        if done.returncode or not target.exists():
            first = next(iter(done.stderr.strip().splitlines()), "the compiler failed")
            raise ValueError(f"does not compile: {first}")
        return target.read_bytes()


def _compiler() -> list[str] | None:
    """The command that runs the protobuf compiler; None if none is installed."""
    protoc = shutil.which("protoc")
    if protoc is not None:
        return [protoc]
    # It runs in a separate process: it crashes in one that has imported TensorFlow.
    has_tools = importlib.util.find_spec("grpc_tools") is not None
    return [sys.executable, "-m", "grpc_tools.protoc"] if has_tools else None
