"""From a name to plain bytes, and back.

    paths           the files that a path, glob, shard pattern or URL names
    shard_sets      whether these are all shards of a dataset
    opened          one open file as a source of plain bytes, whatever its compression
    file_handles    open descriptors for random access, kept in an LRU cache
    compression     the options of GZIP and ZLIB, and their names
    inflate         compressed bytes to plain bytes
    bz2_xz_zstd     the same for what other tools write
    deflate         plain bytes to compressed bytes

Reading goes ``paths`` → ``opened`` → ``inflate``; writing goes ``compression`` → ``deflate``. This folder
does not know what the bytes mean; ``container`` does, and tells ``opened`` how to detect a compression.
"""
