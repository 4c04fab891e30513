"""``tf.flags``, also as ``tf.app.flags``: the command-line flags of TensorFlow 1.

``DEFINE_string("out", "train.tfrecord", "where to write")`` defines a flag, ``FLAGS.out`` is its value. The
first access to a value parses the command line, or ``tf.app.run`` does. This module does not know tensors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ._missing import missing

__all__ = [
    "FLAGS",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_spaceseplist",
    "DEFINE_string",
    "mark_flag_as_required",
    "mark_flags_as_required",
]

_TRUE, _FALSE = ("true", "t", "1"), ("false", "f", "0")


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE + _FALSE:
        return text.lower() in _TRUE
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


class _Flags:
    """The values of the flags, as ``FLAGS.name``. A call parses a command line and returns the rest of it."""

    def __init__(self) -> None:
        self.__dict__.update(_parser=argparse.ArgumentParser(allow_abbrev=False), _values={}, _parsed=False)
        self._required: set[str] = set()

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        found, rest = self._parser.parse_known_args(list(argv[1:]))
        unknown = [word for word in rest if word.startswith("-")]
        if unknown and not known_only:
            self._parser.error(f"unknown command line flag {unknown[0].partition('=')[0].lstrip('-')!r}")
        self._values.update({name: value for name, value in vars(found).items() if " " not in name})
        for name in sorted(self._required):
            if self._values.get(name) is None:
                self._parser.error(f"flag --{name}=None: Flag --{name} must have a value other than None.")
        self.__dict__["_parsed"] = True
        return [argv[0], *rest]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not any(name == action.dest for action in self._parser._actions):
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv)
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            self.__dict__[name] = value
        else:
            self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return any(name == action.dest for action in self._parser._actions)

    def flag_values_dict(self) -> dict[str, Any]:
        """The names and values of all flags."""
        return {action.dest: getattr(self, action.dest) for action in self._parser._actions[1:]}


FLAGS = _Flags()


def _define(name: str, default: Any, text: str | None, kind: Callable[[str], Any], **options: Any) -> None:
    what = None if text is None else text.replace("%", "%%")
    FLAGS._parser.add_argument(
        f"-{name}", f"--{name}", dest=name, default=default, type=kind, help=what, **options
    )
    FLAGS._values[name] = default
    FLAGS.__dict__["_parsed"] = False


def DEFINE_string(name: str, default: str | None, help: str | None) -> None:  # noqa: A002, N802 - absl's
    """Defines a flag whose value is text."""
    _define(name, default, help, str)


def DEFINE_integer(name: str, default: int | None, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag whose value is an integer."""
    _define(name, default, help, lambda text: int(text, 0))


def DEFINE_float(name: str, default: float | None, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag whose value is a float."""
    _define(name, default, help, float)


def DEFINE_bool(name: str, default: bool | None, help: str | None) -> None:  # noqa: A002, N802
    """Defines a boolean flag: ``--name``, ``--noname`` or ``--name=false``."""
    _define(name, default, help, _boolean, nargs="?", const=True)
    FLAGS._parser.add_argument(
        f"--no{name}", dest=name, action="store_false", default=default, help=argparse.SUPPRESS
    )


DEFINE_boolean = DEFINE_bool


def DEFINE_enum(name: str, default: str | None, enum_values: Sequence[str], help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag whose value is one of ``enum_values``."""
    _define(name, default, help, str, choices=list(enum_values))


def DEFINE_list(name: str, default: Any, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag whose value is a comma-separated list."""
    _define(name, _list(default) if isinstance(default, str) else default, help, _list)


def DEFINE_spaceseplist(name: str, default: Any, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag whose value is a list, separated by white space."""
    given = default.split() if isinstance(default, str) else default
    _define(name, given, help, lambda text: text.split())


class _Append(argparse.Action):
    """Collects the values of a flag that occurs several times; the first one replaces the default."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        seen = getattr(namespace, f"{self.dest} seen", [])
        setattr(namespace, f"{self.dest} seen", [*seen, values])
        setattr(namespace, self.dest, [*seen, values])


def _define_multi(name: str, default: Any, text: str | None, kind: Callable[[str], Any]) -> None:
    given = default if default is None or isinstance(default, (list, tuple)) else [default]
    _define(name, None if given is None else list(given), text, kind, action=_Append)


def DEFINE_multi_string(name: str, default: Any, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag that may occur several times; its value is the list of texts."""
    _define_multi(name, default, help, str)


def DEFINE_multi_integer(name: str, default: Any, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag that may occur several times; its value is the list of integers."""
    _define_multi(name, default, help, lambda text: int(text, 0))


def DEFINE_multi_float(name: str, default: Any, help: str | None) -> None:  # noqa: A002, N802
    """Defines a flag that may occur several times; its value is the list of floats."""
    _define_multi(name, default, help, float)


def mark_flags_as_required(flag_names: Sequence[str]) -> None:
    """Makes parsing fail if one of the flags has no value."""
    for name in flag_names:
        mark_flag_as_required(name)


def mark_flag_as_required(flag_name: str) -> None:
    """Makes parsing fail if the flag has no value."""
    FLAGS._required.add(flag_name)


__getattr__ = missing("flags")
