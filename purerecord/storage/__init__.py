"""From a name to plain bytes, and back.

    paths           which files a path, glob, shard pattern or URL means
    opened          one open file as a source of plain bytes, whatever its compression
    file_handles    open descriptors for random access, kept in an LRU cache
    compression     the options of GZIP and ZLIB, and their names
    inflate         compressed bytes to plain bytes
    deflate         plain bytes to compressed bytes

Reading goes ``paths`` → ``opened`` → ``inflate``; writing goes ``compression`` → ``deflate``. This folder
does not know what the bytes mean; ``container`` does.
"""
