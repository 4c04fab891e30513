"""Prints the list of all names in ``purerecord.tf``: ``python -m purerecord.tf``.

With a page as argument (docs/tensorflow.md), it replaces the list on that page. The descriptions are the
first sentences of the docstrings. This module does not know what the functions do.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from purerecord import tf
from purerecord.tf.image import codecs

HEADING = "## What is covered\n"

_NOTES = {
    "": "tensors and operations",
    "io.gfile": "also as `tf.gfile` with the old names (`Exists`, `Glob`, ...)",
    "compat": "`tf.compat.v1` and `v2` are this namespace itself",
}


def tables() -> str:
    """The list, as Markdown."""
    parts = [HEADING]
    for namespace, names in listing().items():
        title = f"`tf.{namespace}`" if namespace else "`tf`"
        note = f": {_NOTES[namespace]}" if namespace in _NOTES else ""
        rows = "\n".join(f"| `{name}` | {text} |" for name, text in names.items())
        parts.append(f"### {title}{note}\n\n| name | what it is |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def updated(page: str) -> str:
    """The page with its list replaced by the current one."""
    return page.partition(HEADING)[0] + tables()


def listing() -> dict[str, dict[str, str]]:
    """For each namespace its names, each with a description."""
    sections = {"": _described(tf, [name for name in tf.__all__ if name not in tf._NAMESPACES])}
    for name in sorted(tf._NAMESPACES):
        if name != "gfile":
            module = importlib.import_module(f"purerecord.tf.{name}")
            lazy = codecs.__all__ if name == "io" else []
            sections[name] = _described(module, [*module.__all__, *lazy])
        if name == "data":
            methods = [method for method in dir(module.Dataset) if not method.startswith("_")]
            sections["data.Dataset"] = _described(module.Dataset, methods)
            sections["data.experimental"] = _described(module.experimental, module.experimental.__all__)
        if name == "io":
            sections["io.gfile"] = _described(tf.gfile, tf.gfile.__all__)
    return sections


def _described(holder: Any, names: list[str]) -> dict[str, str]:
    return {name: _sentence(getattr(holder, name)) for name in sorted(names, key=_order)}


def _order(name: str) -> tuple[bool, str]:
    return not name[0].isupper(), name.lower()


def _sentence(value: Any) -> str:
    """The description of a value: the first sentence of its docstring, on one line."""
    if isinstance(value, tf.DType):
        return f"the dtype {value.name}"
    if isinstance(value, (ModuleType, SimpleNamespace)):
        return "a namespace"
    if value is None or isinstance(value, (int, str)):
        return f"`{value!r}`"
    if hasattr(value, "DESCRIPTOR") and "ProtocolMessage" in (value.__doc__ or ""):
        return f"the message `{value.DESCRIPTOR.full_name}`"
    text = inspect.getdoc(value) or "as the method of `Dataset`"
    first = text.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    return first.partition(". ")[0].rstrip(".").replace("``", "`")


def main(arguments: list[str]) -> None:
    """Print the list, or update the pages."""
    parser = ArgumentParser("python -m purerecord.tf", description="List the names in purerecord.tf.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="replace the list in this page, in place")
    for page in parser.parse_args(arguments).pages:
        path = Path(page)
        try:
            old = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            parser.exit(1, f"{path} cannot be read: {error}\n")
        if HEADING not in old:
            parser.exit(1, f"{path} has no heading {HEADING.strip()!r}, below which the list goes\n")
        path.write_text(updated(old), encoding="utf-8")
    if not arguments:
        print(tables(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
