"""Completion scripts, run by the shells themselves: commands, options, choices and files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from purerecord.cli.arguments import build_parser
from purerecord.cli.completion import script
from tests.support.command_line import COMMANDS, run


def bash(*words: str) -> set[str]:
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in ("purerecord", *words))
    program = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _purerecord; printf "%s\\n" "${{COMPREPLY[@]}}"'
    text = script(build_parser(), "bash") + program
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


def fish(line: str) -> set[str]:
    """What fish offers at the end of the line."""
    text = script(build_parser(), "fish") + f"complete -C '{line}'"
    done = subprocess.run(["fish", "-N", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")


@needs_bash
def test_bash_completes_commands_options_choices_and_files():
    assert set(COMMANDS) <= bash("")
    assert bash("co") == {name for name in COMMANDS if name.startswith("co")}
    assert bash("cat", "--fo") == {"--format"}
    assert bash("cat", "sound", "--format", "=") == {"json", "csv", "table", "text", "raw"}
    assert bash("cat", "sound", "--format", "=", "c") == {"csv"}
    assert bash("cat", "sound", "--format", "") == {"json", "csv", "table", "text", "raw"}
    Path("sounds of birds").touch()
    assert bash("validate", "--workers", "2", "so") == {"sound", "sounds of birds"}
    assert bash("completion", "z") == {"zsh"}
    assert {"--help", "--version"} <= bash("--")


@needs_fish
def test_fish_completes_commands_options_choices_and_files():
    assert set(COMMANDS) <= fish("purerecord ")
    assert fish("purerecord cat --fo") == {"--format"}
    assert fish("purerecord cat sound --format ") == {"json", "csv", "table", "text", "raw"}
    assert "sound" in fish("purerecord validate so")
    assert "zsh" in fish("purerecord completion z")


@needs_zsh
def test_zsh_reads_its_script():
    text = "autoload -U compinit && compinit -u -D\n" + script(build_parser(), "zsh")
    text += '\nCOMP_WORDS=(purerecord cat --fo); COMP_CWORD=2; print -r -- "${_comps[purerecord]}"'
    done = subprocess.run(["zsh", "-f", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "_purerecord" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_has_every_command_and_option(capfd, shell):
    code, out, err = run(capfd, "completion", shell)
    assert (code, err) == (0, "")
    assert out == script(build_parser(), shell)
    assert all(name in out for name in COMMANDS)
    assert "quarantine" in out
