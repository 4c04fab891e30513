"""Statistics as a page: every feature is in it, and nothing of the data is more than text."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord import tools
from tests.test_markup import Tags
from tests.tools.inspect.test_ends import written

HOSTILE = "<script>alert(1)</script>\"'&\x1b\u202e"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    payloads = [
        pr.encode_example(
            {
                HOSTILE: HOSTILE,
                "score": np.linspace(0, n, n % 5, dtype=np.float32),
                "label": n % 3,
                "nothing": [],
                "odd": np.float32("nan"),
                "long": b"\x89PNG\r\n\x1a\n" + bytes(300),
            }
        )
        for n in range(30)
    ]
    payloads += [pr.encode_sequence_example({}, {HOSTILE: [[n]] * n}) for n in range(4)]
    return tools.stats(written(folder / "a<b>c", [*payloads, b"junk"]), on_error="skip")


def test_the_page_has_every_feature_and_no_element_of_the_data(found):
    html = found.as_html()
    tags = Tags(html.replace("<!doctype html>", ""))
    assert tags.seen.count("section") == tags.seen.count("h2") - 1 == len(found.features) == 7
    assert not {"script", "b"} & set(tags.seen)
    assert all(word in tags.text for word in ("label", "score", "a<b>c", "PNG", "NaN", "<script>alert(1)"))
    assert not set(html) & set("\x1b\u202e")
    assert "http" not in html.replace('http-equiv="', "")


def test_links_lead_to_features(found):
    html = found.as_html()
    anchors = [part.partition('"')[0] for part in html.split('href="#')[1:]]
    assert len(set(anchors)) == len(found.features)
    assert all(f'id="{anchor}"' in html for anchor in anchors)


def test_a_notebook_gets_a_part_that_is_bounded(tmp_path):
    payload = pr.encode_example({f"feature/{n}": n for n in range(200)})
    html = tools.stats(written(tmp_path / "file", [payload]))._repr_html_()
    tags = Tags(html)
    assert tags.seen.count("tr") == 51
    assert "and 150 more features" in tags.text


def test_nothing_has_a_page_too(tmp_path):
    Tags(tools.stats(written(tmp_path / "file", [])).as_html().replace("<!doctype html>", ""))
