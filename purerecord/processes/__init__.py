"""Processes without meaning: starting them, and moving arrays between them.

    start            how worker processes start and end, whatever the start method
    pool             runs one function over many items, in worker processes, and reports progress
    shared_memory    packs arrays into shared memory in one process and unpacks them in another
    lent_memory      sends what is pickled in memory that is used again when the receiver has done with it

``recovery`` checks many files with the pool; ``dataset`` moves batches through shared memory, ``torch``
through lent memory. This folder does not know what is computed or moved.
"""
