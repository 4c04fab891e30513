"""The work folder: what is noted there, and who may use it."""

from __future__ import annotations

import os
import pickle

import pytest

from purerecord.storage.url import Url
from purerecord.tools.rewrite.work_folder import HeldFolder, WorkFolder, work_folder_path


def test_it_lies_beside_the_output_and_is_hidden():
    assert work_folder_path("out/train.tfrecord", None) == "out/.train.tfrecord.rewriting"
    assert work_folder_path("out/", None) == ".out.rewriting"


def test_elsewhere_its_name_depends_on_the_output_alone():
    one, same, other = (work_folder_path(name, "/scratch") for name in ("a", os.path.abspath("a"), "b"))
    assert one == same != other
    assert one.startswith("/scratch/purerecord-")
    assert "secret" not in work_folder_path(Url("https://user:secret@host/a"), None)


def test_what_is_done_is_found_again(tmp_path):
    folder = pickle.loads(pickle.dumps(WorkFolder(str(tmp_path))))
    assert folder.done("task") is None
    folder.mark("task", {"records": 5})
    assert folder.done("task") == {"records": 5}


def test_a_new_run_removes_what_another_has_left(tmp_path):
    path = str(tmp_path / "work")
    HeldFolder(path, {"a": 1}, resume=False).release()
    WorkFolder(path).mark("task", {})
    (tmp_path / "work" / "folder").mkdir()
    folder = HeldFolder(path, {"a": 1}, resume=False)
    assert not folder.resumed
    assert folder.done("task") is None
    folder.remove()
    assert os.listdir(tmp_path) == []


def test_a_run_goes_on_only_with_its_own_plan(tmp_path):
    path = str(tmp_path / "work")
    HeldFolder(path, {"arguments": (1, 2)}, resume=True).release()
    WorkFolder(path).mark("task", {})
    with pytest.raises(ValueError, match="differs in its arguments"):
        HeldFolder(path, {"arguments": 2}, resume=True)
    folder = HeldFolder(path, {"arguments": (1, 2)}, resume=True)
    assert folder.resumed
    assert folder.done("task") == {}
    folder.release()


def test_one_run_at_a_time(tmp_path):
    folder = HeldFolder(str(tmp_path / "work"), {}, resume=False)
    with pytest.raises(BlockingIOError, match="another run"):
        HeldFolder(folder.path, {}, resume=False)
    folder.remove()
