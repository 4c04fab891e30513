"""Processes without meaning: starting them, and moving arrays between them.

    start            how worker processes start and end, whatever the start method
    pool             runs one function over many items, in worker processes, and reports progress
    shared_memory    packs arrays into shared memory in one process and unpacks them in another

``recovery`` checks many files with the pool; ``dataset`` moves batches through shared memory. This folder
does not know what is computed or moved.
"""
