"""One file per transform: the node that describes it and the cursor that runs it.

Sources: ``sources`` (Python objects), ``files`` (TFRecord files), ``own_files`` (each worker's own files).
Elements: ``map``, ``filter``, ``enumerate``, ``parse``, ``batch``, ``pack``.
Order: ``shuffle``, ``slice``, ``repeat``, ``concatenate``, ``zip``, ``interleave``, ``sample``.
Execution: ``cache``, ``prefetch``, ``parallel``.
"""
