"""The temporary file that compressed files share."""

from __future__ import annotations

from contextlib import closing

from purerecord.view.spool import Spool


def test_what_is_kept_is_read_anywhere():
    with closing(Spool(100)) as spool:
        places = [spool.add(memoryview(data)) for data in (b"one", b"", b"three")]
        assert places == [0, 3, 3]
        assert spool.size == 8
        assert spool.read(3, 5) == b"three"
        assert spool.read(1, 2) == b"ne"


def test_half_of_the_room_is_for_files_that_are_asked_for():
    with closing(Spool(10)) as spool:
        assert spool.has_room(asked=False)
        spool.add(memoryview(bytes(5)))
        assert not spool.has_room(asked=False)
        assert spool.has_room(asked=True)
        spool.add(memoryview(bytes(5)))
        assert not spool.has_room(asked=True)


def test_nothing_is_read_after_the_end():
    spool = Spool(10)
    assert spool.read(0, 5) == b""
    spool.add(memoryview(b"x"))
    spool.close()
    spool.close()
    assert spool.read(0, 5) == b""
