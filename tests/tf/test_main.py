"""``python -m purerecord.tf``: the list of names."""

from __future__ import annotations

import pytest

from purerecord.tf.__main__ import main, updated
from tests.support.places import ROOT


def test_page_lists_what_is_there():
    page = (ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    assert page == updated(page), "python -m purerecord.tf docs/tensorflow.md"


def test_help_and_wrong_pages_are_no_tracebacks(tmp_path, capsys):
    for arguments, code in ((["--help"], 0), ([str(tmp_path / "none")], 1), (["--wrong"], 2)):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == code
    (tmp_path / "page").write_text("no list", encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(tmp_path / "page")])
    assert "has no heading" in capsys.readouterr().err
