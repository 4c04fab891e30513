"""Arrow tables: ``purerecord.arrow``.

    types             the Arrow types that an Example can hold
    to_arrow          columns → Arrow arrays
    from_arrow        Arrow arrays → columns
    growing_column    one Arrow column, built batch by batch
    tables            ``read_table``, ``write_table``, ``to_arrow``, ``from_arrow``
    stream            ``open_reader``

This folder must not know how Examples are encoded or frames are read.
"""

from .stream import open_reader
from .tables import from_arrow, read_table, to_arrow, write_table

__all__ = ["from_arrow", "open_reader", "read_table", "to_arrow", "write_table"]
