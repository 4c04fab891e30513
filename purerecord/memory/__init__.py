"""Bytes without meaning: how this package copies, allocates and reuses memory.

    copying      many byte ranges, copied from one buffer to another in one call
    malloc       what the C allocator does with memory that is freed, and batches that fit into it
    recycling    buffers that are read into again once no caller can see them any more

Everything above may use this folder. It knows neither files nor frames nor Examples.
"""
