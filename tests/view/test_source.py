"""What all kinds of files have in common."""

from __future__ import annotations

from purerecord.container.damage import Damage
from purerecord.view.source import Damages, too_large, without_payload


def test_damage_is_kept_in_order_once_and_up_to_a_number():
    damages = Damages(3)
    for begin in (50, 10, 30, 10, 70, 60):
        damages.add(Damage(begin, begin + 5, "garbage"))
    assert [one.begin for one in damages] == [10, 30, 50]
    assert (damages.count, damages.cut) == (5, True)


def test_a_row_without_a_payload_has_a_sentence():
    fetched = without_payload(7, 5000, 100, too_large(5000, 10))
    assert (fetched.begin, fetched.end, list(fetched.records), fetched.lengths) == (7, 8, [b""], [5000])
    assert fetched.problems == {7: "the record has 5,000 bytes; the viewer decodes records of up to 10 bytes"}
