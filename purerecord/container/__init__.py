"""The TFRecord format: from plain bytes to ``Records``, and back.

The format itself, without I/O:

    checksum          masked CRC32C, for one value or many
    frames            the layout of a frame; headers, footers and CRCs of many frames at once
    frame_chain       finds the whole frames in a buffer
    damage            the kinds of damage, and the range of bytes that each covers
    resync            finds the next frame after damage
    looks_like        what a file is, judged by its first bytes

Reading, from the simplest source to the most capable:

    frame_buffer      a part of a file in memory and a cursor over its frames, shared by the two readers below
    small_frames      the fast path for runs of small frames
    frame_stream      the frames of any source, forward, past damage on request
    seekable_file     the frames of an uncompressed local file, with skipping
    reader            ``read_records`` and ``read_batches``
    byte_range        the records in a part of a file
    index             where every record of a file is, and the index file
    record_file       ``RecordFile``: random access over one file or many

Writing:

    writer            ``TFRecordWriter``
    sharded_writer    ``ShardedWriter``
    record_digest     a checksum of many records, made of their CRCs
    manifest          the list of a dataset's files, with their records and checksums

This folder does not know what a payload means; ``payload`` does.
"""
