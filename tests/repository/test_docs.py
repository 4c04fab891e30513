"""Every code block in the README and in docs/ runs, and prints what the page says it prints.

Blocks marked ``python`` run top to bottom in one namespace a page, in an empty folder. A ``text`` block
right behind one is its output; ``...`` in it stands for anything. In ``console`` blocks, the lines that
begin with ``$ purerecord`` run as commands, and what follows each is its output.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.support.doc_pages import same
from tests.support.places import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_console(text: str) -> None:
    commands: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append((line[2:].strip(), ""))
        elif commands:
            commands[-1] = (commands[-1][0], commands[-1][1] + line)
    for command, expected in commands:
        words = shlex.split(command, comments=True)
        if words[0] != "purerecord":
            continue
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", *words], capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode in (0, 3), done.stderr
        same(expected, done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_in_the_docs_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    output = ""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks or page.name in {"clusters.md", "remote.md"}, f"{page.name} shows no code"
    for language, text in blocks:
        if language == "python":
            stdout = io.StringIO()
            with contextlib.redirect_stdout(stdout):
                exec(compile(text, page.name, "exec"), namespace)
            output = stdout.getvalue()
        elif language == "text":
            same(text, output)
        elif language == "console":
            run_console(text)


# Marked blocks are run elsewhere.
MARKS = {"", "torch", "jax", "grain", "arrow", "tfds", "images", "remote", "ray", "spark", "beam"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_is_run_by_some_test(page):
    marks = re.findall(r"^```python(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {mark.strip() for mark in marks} <= MARKS


def test_every_page_is_in_the_index_of_the_readme():
    readme = PAGES[0].read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_or_heading_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, heading = target.partition("#")
        if "://" in target:
            continue
        file = page.parent / name if name else page
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\- ]", "", t).lower().replace(" ", "-") for t in titles}, target
