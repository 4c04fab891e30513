"""The comparisons and their targets, as a table.

``TABLE`` has one line per comparison, with a target for each workload; ``CASES`` expands it to one ``Case``
per workload. Memory and import time need fresh processes and are in ``benchmarks.fresh``. This module does
not know how an action works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

PARTS = (
    "read", "columns", "parse", "decode", "rows", "one", "encode", "write", "index", "gzip", "validate",
    "memory", "import",
)  # fmt: skip


class Case(NamedTuple):
    """One comparison. Without a peer, the target is in millions of records per second."""

    part: str
    workload: str
    what: str
    ours: str
    peer: str  # "side.action" or ""
    target: float | None  # None: the row is for information
    form: str = "file"
    batch: int = 0
    take: int = 0  # records to read if the peer is too slow for all of them; 0: all

    @property
    def against(self) -> str:
        """The side of the peer."""
        return self.peer.split(".")[0]


Targets = dict[str, "float | None"]

BASIC_WORKLOADS = ("tab", "ctr", "emb", "img")
ALL_WORKLOADS = (*BASIC_WORKLOADS, "shuf", "shuf40", "wide", "wide3", "seq")
SLOW_PEER_RECORDS = 20_000
ROWS, SINGLE_ROWS = 10_000, 1_000  # records that are parsed one by one: through a dataset, and by calls


def same_target(names: tuple[str, ...], target: float | None) -> Targets:
    """The same target for all workloads in ``names``."""
    return dict.fromkeys(names, target)


# part, what, our action, the peer's action, targets, other fields of the Case
TABLE: list[tuple[str, str, str, str, Targets, Any]] = [
    ("read", "tf_record_iterator", "read", "tensorflow.read", same_target(BASIC_WORKLOADS, 2.0), {}),
    ("read", "TFRecordDataset.batch(1024)", "read_batches", "tensorflow.read_batches",
     same_target(BASIC_WORKLOADS, None), {"batch": 1024}),
    ("read", "as_numpy_iterator", "read", "tensorflow.read_as_numpy",
     same_target(BASIC_WORKLOADS, None), {"take": SLOW_PEER_RECORDS}),
    ("read", "tfrecord_iterator, checks nothing", "read", "tfrecord.read",
     same_target(BASIC_WORKLOADS, None), {}),
    ("read", "bare reads and CRCs, two threads", "read", "crc32c.records", {"emb": None, "img": None}, {}),
    ("columns", "best tf.data pipeline", "columns", "tensorflow.columns",
     same_target(ALL_WORKLOADS, 4.0), {}),
    ("columns", "tf.data pipeline of the guide", "columns", "tensorflow.columns_of_the_guide",
     same_target(ALL_WORKLOADS, None), {}),
    ("columns", "best pipeline, BytesColumn", "columns_in_place", "tensorflow.columns",
     {"img": 2.5, "tab": None}, {}),
    ("columns", "best to tensors, BytesColumn", "columns_in_place",
     "tensorflow.columns_to_tensors", {"img": None, "tab": None}, {}),
    *(
        ("parse", f"parse_example, batches of {size}", "parse", "tensorflow.parse",
         same_target(ALL_WORKLOADS, 1.5), {"batch": size})
        for size in (1024, 4096, 8192)
    ),
    ("parse", "parse_example, batches of 64", "parse", "tensorflow.parse",
     same_target(ALL_WORKLOADS, None), {"batch": 64}),
    ("parse", "parse_example to tensors, 4096", "parse", "tensorflow.parse_to_tensors",
     same_target(ALL_WORKLOADS, None), {"batch": 4096}),
    ("decode", "tfrecord_loader", "decode", "tfrecord.decode",
     {"tab": 50.0, "ctr": 50.0, "emb": 8.0, "img": 8.0, "shuf": None}, {}),
    ("rows", "map(parse_single_example).batch(64)", "tutorial", "tensorflow.tutorial",
     {"tab": 3.0, "ctr": 3.0, "emb": 3.0, "img": 1.5}, {"take": ROWS}),
    ("rows", "the same, two features of it", "tutorial_pair", "tensorflow.tutorial_pair",
     same_target(BASIC_WORKLOADS, None), {"take": ROWS}),
    ("rows", "the same, AUTOTUNE and prefetch", "tutorial_tuned", "tensorflow.tutorial_tuned",
     same_target(BASIC_WORKLOADS, None), {"take": ROWS}),
    ("rows", "the same, shuffled before", "tutorial_shuffled", "tensorflow.tutorial_shuffled",
     {"tab": None, "ctr": None}, {"take": ROWS}),
    ("rows", "the core's parse before batch", "parse_rows", "tensorflow.tutorial",
     same_target(BASIC_WORKLOADS, None), {"take": ROWS}),
    ("rows", "the core's map before batch", "map_rows", "tensorflow.tutorial",
     same_target(BASIC_WORKLOADS, None), {"take": ROWS}),
    ("one", "parse_single_example to numpy", "one", "tensorflow.one",
     same_target(BASIC_WORKLOADS, None), {"take": SINGLE_ROWS}),
    ("one", "parse_single_example to tensors", "one_to_tensors", "tensorflow.one_to_tensors",
     same_target(BASIC_WORKLOADS, None), {"take": SINGLE_ROWS}),
    ("one", "Example.FromString, features to arrays", "one_decoded", "tensorflow.one_decoded",
     same_target(BASIC_WORKLOADS, None), {"take": SINGLE_ROWS}),
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
