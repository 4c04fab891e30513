"""What is compared with what, and how fast it has to be: the targets as a table.

``TABLE`` has one line per comparison and its target on each workload; ``CASES`` is the table spelled
out. Memory and import time need fresh processes and stand in ``benchmarks.fresh``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

PARTS = (
    "read", "columns", "parse", "decode", "encode", "write", "index", "gzip", "validate", "memory", "import",
)  # fmt: skip


class Case(NamedTuple):
    """One comparison. Without a peer, the target is in million records per second."""

    part: str
    workload: str
    what: str
    ours: str
    peer: str  # "side.action" or ""
    target: float | None  # None: for information
    form: str = "file"
    batch: int = 0
    take: int = 0  # records, where the peer is too slow for all of them

    @property
    def against(self) -> str:
        """The peer's side."""
        return self.peer.split(".")[0]


Targets = dict[str, "float | None"]

FOUR = ("tab", "ctr", "emb", "img")
PAYLOADS = (*FOUR, "shuf", "shuf40", "wide", "wide3", "seq")
SLOW = 20_000


def all_of(names: tuple[str, ...], target: float | None) -> Targets:
    """The same target everywhere."""
    return dict.fromkeys(names, target)


# part, what, our action, peer's action, targets, further fields of the Case
TABLE: list[tuple[str, str, str, str, Targets, Any]] = [
    ("read", "tf_record_iterator", "read", "tensorflow.read", all_of(FOUR, 2.0), {}),
    ("read", "TFRecordDataset.batch(1024)", "read_batches", "tensorflow.read_batches",
     all_of(FOUR, None), {"batch": 1024}),
    ("read", "as_numpy_iterator", "read", "tensorflow.read_as_numpy", all_of(FOUR, None), {"take": SLOW}),
    ("read", "tfrecord_iterator, checks nothing", "read", "tfrecord.read", all_of(FOUR, None), {}),
    ("read", "bare reads and CRCs, two threads", "read", "crc32c.records", {"emb": None, "img": None}, {}),
    ("columns", "best tf.data pipeline", "columns", "tensorflow.columns", all_of(PAYLOADS, 4.0), {}),
    ("columns", "tf.data pipeline of the guide", "columns", "tensorflow.columns_of_the_guide",
     all_of(PAYLOADS, None), {}),
    *(
        ("parse", f"parse_example, batches of {size}", "parse", "tensorflow.parse",
         all_of(PAYLOADS, 1.5), {"batch": size})
        for size in (1024, 4096, 8192)
    ),
    ("parse", "parse_example, batches of 64", "parse", "tensorflow.parse",
     all_of(PAYLOADS, None), {"batch": 64}),
    ("parse", "parse_example to tensors, 4096", "parse", "tensorflow.parse_to_tensors",
     all_of(PAYLOADS, None), {"batch": 4096}),
    ("decode", "tfrecord_loader", "decode", "tfrecord.decode",
     {"tab": 50.0, "ctr": 50.0, "emb": 8.0, "img": 8.0, "shuf": None}, {}),
    ("encode", "tf.train.Example + TFRecordWriter", "encode", "tensorflow.encode",
     {"tab": 30.0, "ctr": 30.0, "emb": None, "img": None, "wide": None}, {}),
    ("encode", "tf.train.Example filled in place", "encode", "tensorflow.encode_filled",
     {"tab": None, "ctr": None}, {}),
    ("write", "TFRecordWriter.write", "write", "tensorflow.write",
     {"tab": 2.0, "ctr": None, "emb": None, "img": 1.5}, {}),
    ("index", "build_index", "index", "", {"tab": 3.0, "ctr": None}, {}),
    ("index", "len(RecordFile)", "count", "", {"tab": 3.0, "ctr": None}, {}),
    ("index", "tfrecord2idx", "index", "tfrecord.index", {"tab": None, "img": None}, {}),
    ("gzip", "tf_record_iterator, GZIP", "read", "tensorflow.read", {"tab": 1.0}, {"form": "gzip"}),
    ("gzip", "tf_record_iterator, blocked GZIP", "read", "tensorflow.read",
     {"tab": 1.7}, {"form": "blocked_gzip"}),
    ("gzip", "best tf.data pipeline, GZIP", "columns", "tensorflow.columns", {"tab": None}, {"form": "gzip"}),
    ("validate", "over the bytes of the file", "validate", "crc32c.checksum",
     {"img": 0.7, "emb": 0.7, "tab": None}, {}),
    ("validate", "one worker, two files", "validate_pair_with_two", "alone.validate_pair", {"img": 1.7}, {}),
]  # fmt: skip

CASES = [
    Case(part, workload, what, ours, peer, target, **more)
    for part, what, ours, peer, targets, more in TABLE
    for workload, target in targets.items()
]
