"""``LabelMap``: the names of classes and their numbers, and ``label_map.pbtxt``, which holds them.

Numbers begin with 1, as in the TF Object Detection API, where 0 is the background. This module must not know
what the classes are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from ....printable import printable
from ..inputs import open_plain
from ..outputs import name_of

_SHOWN = 8  # classes that a message lists
_MOST_BYTES = 1 << 26  # of a label map: a larger file is something else


@dataclass(frozen=True)
class LabelMap:
    """Classes by number. ``aliases`` are other names of some; ``source`` says where the map comes from."""

    names: Mapping[int, str]
    aliases: Mapping[str, int]
    source: str = "the sources"

    @classmethod
    def of(cls, names: Iterable[str]) -> LabelMap:
        """Classes numbered from 1 on."""
        return cls.numbered(dict(enumerate(names, 1)))

    @classmethod
    def numbered(cls, names: Mapping[int, str], source: str = "the sources") -> LabelMap:
        """Classes by number."""
        ordered = dict(sorted(names.items()))
        return cls(ordered, {name: number for number, name in reversed(ordered.items())}, source)

    @classmethod
    def read(cls, path: Any) -> LabelMap:
        """The map in a file like ``label_map.pbtxt``."""
        name = name_of(path)
        with open_plain(path) as file:
            text = file.read(_MOST_BYTES)
        try:
            parsed = text_format.Parse(text.decode(), _message()(), allow_unknown_field=True)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise ValueError(f"{name}: it is no label map: {error}") from None
        names: dict[int, str] = {}
        aliases: dict[str, int] = {}
        for item in parsed.item:
            label = item.name or item.display_name
            if item.id < 1 or not label or item.id in names:
                raise ValueError(
                    f"{name}: item {item.id} {label!r} needs a name, and a number of its own from 1 on"
                )
            names[item.id] = label
            for alias in filter(None, (item.name, item.display_name)):
                if aliases.setdefault(alias, item.id) != item.id:
                    raise ValueError(
                        f"{name}: class {alias!r} has the numbers {aliases[alias]} and {item.id}"
                    )
        if not names:
            raise ValueError(f"{name}: it has no classes; they look like: item {{ id: 1 name: 'cat' }}")
        return cls(dict(sorted(names.items())), aliases, name)

    def text(self) -> str:
        """The map as ``label_map.pbtxt`` holds it."""
        message = _message()()
        for number, name in self.names.items():
            message.item.add(id=number, name=name)
        text: str = text_format.MessageToString(message, as_utf8=True)
        return text

    def check_text(self) -> None:
        """Raise ValueError for a name that is no UTF-8, as that of a folder may be."""
        for name in self.names.values():
            try:
                name.encode()
            except UnicodeEncodeError:
                reason = "is not UTF-8, as the names of classes must be in this style; rename it"
                raise ValueError(f"class {name!r} {reason}") from None

    def number(self, name: str, place: str) -> int:
        """The number of a class; ValueError if the map, which was given, lacks it."""
        found = self.aliases.get(name)
        if found is None:
            known = ", ".join(map(repr, list(self.names.values())[:_SHOWN]))
            more = ", ..." if len(self.names) > _SHOWN else ""
            raise ValueError(
                f"{place}: class {name!r} is not in {printable(self.source)}, which has {known}{more}; "
                "add an item for it there, or leave the label map out"
            )
        return found

    def place(self, number: int) -> int:
        """The place of a number in their order, from 0 on."""
        return self._places[number]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)


@cache
def _message() -> Any:
    """The class of the message StringIntLabelMap; fields that nobody needs here are unknown to it."""
    file = descriptor_pb2.FileDescriptorProto(name="label_map.proto", package="purerecord")
    item = file.message_type.add(name="Item")
    kinds = descriptor_pb2.FieldDescriptorProto
    fields = {"name": kinds.TYPE_STRING, "id": kinds.TYPE_INT32, "display_name": kinds.TYPE_STRING}
    for number, (name, kind) in enumerate(fields.items(), 1):
        item.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    whole = file.message_type.add(name="Map")
    whole.field.add(
        name="item",
        number=1,
        type=kinds.TYPE_MESSAGE,
        type_name=".purerecord.Item",
        label=kinds.LABEL_REPEATED,
    )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    descriptor = pool.FindMessageTypeByName("purerecord.Map")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)  # protobuf 4.21
