"""Damage: its size, its words, and its form in JSON."""

from __future__ import annotations

import json

from purerecord.container import damage
from purerecord.container.damage import Damage

PLAIN = Damage(100, 160, damage.BAD_DATA, 1)
BROKEN = Damage(100, 160, damage.BROKEN_COMPRESSION, None, "the GZIP stream is broken", (40, 50))


def test_sizes_are_those_of_the_plain_data_and_of_the_file():
    assert (PLAIN.size, PLAIN.compressed_size) == (60, 0)
    assert (BROKEN.size, BROKEN.compressed_size) == (60, 10)


def test_text_says_where_and_what():
    assert str(PLAIN) == "[100, 160): bad data checksum"
    assert str(BROKEN) == ("[100, 160), compressed [40, 50): broken compression (the GZIP stream is broken)")


def test_dict_survives_json():
    for one in (PLAIN, BROKEN):
        fields = json.loads(json.dumps(one.to_dict()))
        compressed = fields.pop("compressed")
        assert Damage(**fields, compressed=compressed and tuple(compressed)) == one


def test_every_kind_has_a_name_of_its_own():
    kinds = [value for name, value in vars(damage).items() if name.isupper()]
    assert len(set(kinds)) == len(kinds) == 12
