"""The page docs/cli.md, made of what ``--help`` shows: ``python -m tests.support.cli_page`` writes it.

It is made of the parsers themselves, since each Python words and wraps the text of ``--help`` in its own way.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from purerecord.cli.arguments import build_parser
from purerecord.cli.options import GROUPS
from tests.support.places import ROOT

PAGE = ROOT / "docs" / "cli.md"
COMMAND = "python -m tests.support.cli_page"
HEAD = f"""\
# The command line

All commands with all their options, as `purerecord COMMAND --help` shows them. `{COMMAND}` writes this page.
[tools.md](tools.md) shows them at work.

Results go to stdout; progress, damage and errors to stderr. The exit codes:

| code | |
|---|---|
| 0 | fine |
| 1 | could not do it |
| 2 | wrong usage |
| 3 | done, but data is damaged or was lost |
| 130, 143 | stopped by Ctrl-C, by SIGTERM |
| 141 | the reader of stdout is gone |
"""


def page() -> str:
    """The text of the page."""
    (commands,) = (action for action in build_parser()._actions if action.dest == "command")
    assert isinstance(commands, argparse._SubParsersAction)
    parts = [HEAD]
    for group in GROUPS:
        found = [parser for parser in commands.choices.values() if parser.get_default("group") == group]
        if found:
            parts += [f"## {group.capitalize()}\n", *("\n".join(_command(parser)) for parser in found)]
    return "\n".join(parts)


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    title, notes, examples = _texts(parser)
    positional = [action for action in parser._actions if not action.option_strings]
    yield f"### {parser.prog.partition(' ')[2]}\n\n{title}\n\n```sh"
    yield " ".join([parser.prog, "[OPTION ...]", *map(_usage, positional)])
    yield "```\n"
    expanded = parser._get_formatter()._expand_help
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest != "help"]
        own = group.title not in ("options", "optional arguments", "positional arguments")
        if actions and own:
            yield f"\n{group.title}:\n"
        yield from (f"- {_names(action)}: {_escaped(expanded(action))}" for action in actions)
    yield f"\n{notes}```sh\n{examples}\n```\n"


def _texts(parser: argparse.ArgumentParser) -> tuple[str, str, str]:
    """The description, what stands before the examples, and the examples."""
    notes, _, examples = (parser.epilog or "").partition("example")
    lines = "\n".join(line.strip() for line in examples.split("\n")[1:])
    block = f"```sh\n{notes.strip()}\n```\n\n" if notes.strip() else ""
    return parser.description or "", block, lines


def _usage(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return {"+": f"{name} ...", "*": f"[{name} ...]", "?": f"[{name}]"}.get(str(action.nargs), name)


def _names(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    if action.choices and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    names = [f"`{name} {value}`" if value else f"`{name}`" for name in action.option_strings] or [
        f"`{value}`"
    ]
    return ", ".join(names)


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "*_<>[]`" else letter for letter in text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
