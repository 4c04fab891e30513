"""The parts that all transforms share.

node              ``Node`` and ``Cursor``: the description of a transform, and its execution
origins           where an element came from, for the errors of a user's function
structure         nested structures of elements: stacking, slicing, applying a function
lookahead         cursors that work ahead in threads
shares            which elements belong to which worker and rank
states            checkpoints of several workers, merged
worker            the parent's end of a worker process
worker_process    the child's end of it
"""
