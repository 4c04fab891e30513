"""The names of YOLO's classes: in data.yaml, or a line each in classes.txt.

Of YAML, only what such files have is read: a list or a mapping, in one line or in several. Anything else is
an error. This module must not know what the classes are of.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from .annotation_text import read_lines

_FILES = ("data.yaml", "data.yml", "classes.txt", "obj.names")
_LEVELS = 3  # folders, from the given one upwards, in which a file of names is looked for
_SCALAR = r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^\[\]{}'\",#\n][^\[\]{},#\n]*?"
_ITEM = re.compile(rf"\s*(?:(\d+)\s*:\s*)?({_SCALAR})\s*(?:,|$)")
_LINE = re.compile(rf"\s*(?:-\s+|(\d+)\s*:\s+)({_SCALAR})\s*(?:#.*)?")


def names_near(path: str) -> dict[int, str]:
    """The names of classes in the file ``path``, or in one in that folder or a few above it."""
    if not os.path.isdir(path):
        return read_names(path)
    folder = path
    for _ in range(_LEVELS):
        inside = [os.path.join(folder, name) for name in _FILES]
        inside += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".yaml"))
        inside += [os.path.join(folder, "labels", "classes.txt")]
        if found := next(filter(os.path.isfile, inside), None):
            return read_names(found)
        folder = os.path.dirname(os.path.abspath(folder))
    raise ValueError(
        f"{path}: neither data.yaml nor classes.txt names the classes, here nor above; write a classes.txt "
        "with a name in each line, or give a --label-map"
    )


def read_names(path: str) -> dict[int, str]:
    """The names of classes in a file, by number."""
    found = _names(path)
    if twice := [name for name, count in Counter(found.values()).items() if count > 1]:
        raise ValueError(f"{path}: two classes have the name {twice[0]!r}")
    return found


def _names(path: str) -> dict[int, str]:
    text = "\n".join(read_lines(path))
    if not path.endswith((".yaml", ".yml")):
        lines = enumerate(map(str.strip, text.strip("\n").split("\n")))
        return {number: line for number, line in lines if line}
    match = re.search(r"^names[ \t]*:[ \t]*(.*(?:\n(?![A-Za-z_]).*)*)", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"{path}: it has no names of classes, as in: names: [cat, dog]")
    content = "\n".join(line for line in match[1].split("\n") if not line.lstrip().startswith("#")).strip()
    found = _flow(content) if content[:1] in ("[", "{") else _block(content)
    if not found:
        raise ValueError(f"{path}: names must be a list like [cat, dog], or a mapping like 0: cat")
    return found


def _flow(content: str) -> dict[int, str]:
    """A list or a mapping in brackets; nothing if it is neither."""
    end = content.find("]" if content[0] == "[" else "}")
    inside = re.sub(r"(?m)(^|\s)#.*$", "", content[1:end]).replace("\n", " ").strip().removesuffix(",")
    return {} if end < 0 else _numbered(inside, _ITEM)


def _block(content: str) -> dict[int, str]:
    """A list or a mapping of lines; nothing if it is neither."""
    found: dict[int, str] = {}
    for line in filter(str.strip, content.split("\n")):
        match = _LINE.fullmatch(line)
        number = -1 if match is None else int(match[1]) if match[1] else len(found)
        if match is None or number in found:
            return {}
        found[number] = _plain(match[2])
    return found


def _numbered(text: str, item: re.Pattern[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    place = 0
    while place < len(text):
        match = item.match(text, place)
        number = -1 if match is None else int(match[1]) if match[1] else len(found)
        if match is None or number in found:
            return {}
        found[number] = _plain(match[2])
        place = match.end()
    return found


def _plain(scalar: str) -> str:
    """The text of a YAML scalar."""
    scalar = scalar.strip()
    if scalar.startswith("'"):
        return scalar[1:-1].replace("''", "'")
    return re.sub(r"\\(.)", r"\1", scalar[1:-1]) if scalar.startswith('"') else scalar
