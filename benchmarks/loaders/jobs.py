"""The jobs of the race, as a table. This module knows neither the sides nor how content is made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """Load ``rows`` records of one kind of content in batches.

    A side that would take too long for ``rows`` loads ``fewer`` records instead: the first ones.
    """

    name: str
    title: str
    kind: str
    batch: int
    rows: int
    fewer: int
    shuffled: bool = False
    decoded: bool = False  # JPEGs to pictures of SIZE x SIZE
    single: bool = False  # parsed record by record, then batched, as in the tutorials of TensorFlow

    def sizes(self, divisor: int) -> tuple[int, int]:
        """``fewer`` and ``rows``, divided; still so many batches that there is something to measure."""
        least = MIN_BATCHES * self.batch
        return max(self.fewer // divisor, least), max(self.rows // divisor, least)


SIZE = 224
MIN_BATCHES = 16

JOBS = {
    job.name: job
    for job in (
        Job("images", "image bytes of 20 to 100 kB and a label, batches of 64", "img", 64, 6144, 1024),
        Job(
            "pictures",
            "JPEGs decoded to 224 x 224 pictures, batches of 16",
            "jpeg",
            16,
            320,
            320,
            decoded=True,
        ),
        Job("columns", "40 numeric columns, batches of 1024", "ctr", 1024, 98_304, 16_384),
        Job(
            "shuffled",
            "records of 40 numbers in random order, batches of 64",
            "ctr",
            64,
            49_152,
            4096,
            shuffled=True,
        ),
        Job("tutorial-tab", "map(parse_single_example).batch(64), tab", "tab", 64, 49_152, 8192, single=True),
        Job("tutorial-ctr", "map(parse_single_example).batch(64), ctr", "ctr", 64, 49_152, 4096, single=True),
        Job("tutorial-emb", "map(parse_single_example).batch(64), emb", "emb", 64, 12_288, 4096, single=True),
        Job("tutorial-img", "map(parse_single_example).batch(64), img", "img", 64, 6144, 1024, single=True),
    )
}
MAIN = tuple(name for name, job in JOBS.items() if not job.single)
QUICK = 8  # --quick divides the numbers of records by this
