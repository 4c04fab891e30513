"""Completion scripts for bash, zsh and fish, made of the parser: commands, options, choices, files.

A script holds all that it needs, so that completing starts no Python. This module must not know the commands.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

_BASH = """\
_purerecord() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local at verb="" choices="" options="" words=""
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "${{COMP_WORDS[at]}}" in -*) ;; *) verb="${{COMP_WORDS[at]}}"; break ;; esac
  done
  if [ "$word" = "=" ]; then
    word=""
  elif [ "$before" = "=" ]; then
    before="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  COMPREPLY=()
  if [ -z "$verb" ]; then
    COMPREPLY=($(compgen -W {verbs} -- "$word"))
    return
  fi
  case "$verb $before" in
{choices}
  esac
  if [ -n "$choices" ]; then
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
    return
  fi
  case "$verb" in
{options}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *)
      COMPREPLY=($(compgen -W "$words" -- "$word"))
      local IFS=$'\n'
      COMPREPLY+=($(compgen -f -- "$word"))
      ;;
  esac
}}
complete -o filenames -F _purerecord purerecord
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for ``shell``: bash, zsh or fish."""
    (commands,) = (action for action in parser._actions if action.dest == "command")
    assert isinstance(commands, argparse._SubParsersAction)
    verbs: dict[str, argparse.ArgumentParser] = dict(commands.choices)
    if shell == "fish":
        return "\n".join(_fish(parser, verbs)) + "\n"
    return (_ZSH if shell == "zsh" else "") + _bash(parser, verbs)


def _bash(parser: argparse.ArgumentParser, verbs: dict[str, argparse.ArgumentParser]) -> str:
    choices, options = [], []
    for verb, one in verbs.items():
        words = _words(one)
        names = " ".join(name for action in _options(one) for name in action.option_strings)
        options.append(f"    {verb}) options={shlex.quote(names)} words={shlex.quote(' '.join(words))} ;;")
        for action in _options(one):
            if action.choices:
                pattern = "|".join(f'"{verb} {name}"' for name in action.option_strings)
                known = shlex.quote(" ".join(map(str, action.choices)))
                choices.append(f"    {pattern}) choices={known} ;;")
    top = [name for action in _options(parser) for name in action.option_strings]
    return _BASH.format(
        verbs=shlex.quote(" ".join([*verbs, *top])),
        choices="\n".join(choices),
        options="\n".join(options),
    )


def _fish(parser: argparse.ArgumentParser, verbs: dict[str, argparse.ArgumentParser]) -> Iterator[str]:
    for action in _options(parser):
        yield _fish_line("-n __fish_use_subcommand", action)
    for verb, one in verbs.items():
        text = shlex.quote((one.description or "").rstrip("."))
        yield f"complete -c purerecord -f -n __fish_use_subcommand -a {verb} -d {text}"
        seen = f"-n '__fish_seen_subcommand_from {verb}'"
        if words := _words(one):
            yield f"complete -c purerecord {seen} -a {shlex.quote(' '.join(words))}"
        for action in _options(one):
            yield _fish_line(seen, action)


def _fish_line(when: str, action: argparse.Action) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in action.option_strings
    )
    value = ""
    if action.choices:
        value = f" -x -a {shlex.quote(' '.join(map(str, action.choices)))}"
    elif action.nargs != 0:
        value = " -r"
    text = shlex.quote((action.help or "").replace("%%", "%"))
    return f"complete -c purerecord {when} {names}{value} -d {text}"


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """What an argument that is no option can be, beside a file."""
    return [
        str(word) for action in parser._actions if not action.option_strings for word in action.choices or ()
    ]
