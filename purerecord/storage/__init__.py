"""From a name to plain bytes, and back.

    url             the name of a remote file, with what opens it and without secrets
    paths           the files that a path, glob, shard pattern or URL names
    shard_sets      whether these are all shards of a dataset
    opened          one open file as a source of plain bytes, whatever its compression
    file_handles    open descriptors for random access, kept in an LRU cache
    stores          the libraries for remote files: obstore and fsspec
    remote_file     remote files by position: read ahead, retried, checked for changes
    local_cache     whole copies of remote files in a local folder of bounded size
    file_lock       a lock that processes share
    whole_file      small files that appear whole or not at all
    sizes           sizes as people write them, like 150MB
    fork_lock       a lock that is free in a forked process, whoever held it in the other one
    compression     the options of GZIP and ZLIB, and their names
    inflate         compressed bytes to plain bytes
    block_search    the blocks of a blocked GZIP file, from anywhere in it
    bz2_xz_zstd     the same for what other tools write
    deflate         plain bytes to compressed bytes

Reading goes ``paths`` → ``opened`` → ``inflate``; writing goes ``compression`` → ``deflate``. This folder
does not know what the bytes mean; ``container`` does, and tells ``opened`` how to detect a compression.
"""
