"""Bytes without meaning: how this package copies, allocates and reuses memory.

    copying      copies many byte ranges from one buffer to another in one call
    malloc       makes the C allocator keep freed memory, and cuts work into batches that fit into it
    recycling    lends buffers again once nothing refers to their content

Every other folder may use this one. It knows neither files nor frames nor Examples.
"""
