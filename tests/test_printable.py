"""Text from data: what is escaped, what is left, and names that a shell reads back."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.printable import printable, printable_json, shell_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("train-00000-of-00010.tfrecord", "train-00000-of-00010.tfrecord"),
        ("Zoë 猫 🐈 C:\\new 'x'", "Zoë 猫 🐈 C:\\new 'x'"),
        ("a\nb\tc\r\0", r"a\nb\tc\r\x00"),
        ("\x1b[31mred\x7f", r"\x1b[31mred\x7f"),
        ("\x85\x9b2J", r"\x85\x9b2J"),
        ("\u202egnp.exe\u2066\u200f\u061c", r"\u202egnp.exe\u2066\u200f\u061c"),
        ("one\u2028two", r"one\u2028two"),
        (os.fsdecode(b"\xff\xe9"), r"\udcff\udce9"),
    ],
)
def test_control_characters_are_escaped_and_all_others_kept(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_result_can_be_shown_and_is_stable(text):
    shown = printable(text)
    shown.encode()
    assert printable(shown) == shown
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)


@given(st.text(st.characters()))
def test_json_means_the_same_and_holds_no_control_character(text):
    written = printable_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(written) == {text: [text]}
    assert printable(written) == written


NAMES = ["plain", "a b", "it's", "\\", "new\nline", "\x1b[31m", "q'\x1b\\", "\u202ex", os.fsdecode(b"\xff")]


def test_bash_reads_the_same_names_back():
    words = shell_words(NAMES)
    assert printable(words) == words
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [os.fsencode(name) for name in NAMES]
