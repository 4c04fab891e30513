"""The pages for maintainers stay true: every folder and module that they name is there, none is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.places import ROOT

PACKAGE = ROOT / "purerecord"
INTERNALS = ROOT / "docs" / "internals"
PAGES = sorted(INTERNALS.glob("*.md"))
FOLDERS = {path.parent.relative_to(PACKAGE).as_posix() + "/" for path in PACKAGE.rglob("*/__init__.py")}


def shorthands() -> set[str]:
    """Every folder and module, by its full path and by every shorter ending of it."""
    places = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")]
    places += [Path(folder) for folder in FOLDERS]
    return {"/".join(place.parts[start:]) for place in places for start in range(len(place.parts))}


def test_architecture_names_every_folder_and_no_other():
    text = (INTERNALS / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("## The folders")[2].partition("## The rules")[0]
    assert set(re.findall(r"^\| `([\w/]+/)` \|", table, re.MULTILINE)) == FOLDERS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_are_there(page):
    known = shorthands()
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = {name.rstrip("/") for name in re.findall(r"`(?:purerecord/)?([a-z_]+/[a-z_/]*)`", text)}
    outside = {name for name in named if (ROOT / name).exists()}
    assert named - outside <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_folders_say_which_path_leads_through_them():
    for folder in sorted(FOLDERS):
        opening = (
            (PACKAGE / folder / "__init__.py")
            .read_text(encoding="utf-8")
            .partition('"""')[2]
            .partition('"""')[0]
        )
        modules = {path.stem for path in (PACKAGE / folder).glob("*.py")} - {
            "__init__",
            "__main__",
            "_descriptors",
        }
        if folder != "tf/":  # whose modules are TensorFlow's own namespaces
            missing = {module for module in modules if not re.search(rf"\b{module}\b", opening)}
            assert not missing, f"{folder}__init__.py says nothing of {sorted(missing)}"
