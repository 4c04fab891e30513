"""Arrow tables: ``purerecord.arrow``.

types             which Arrow type a column gets
to_arrow          columns → Arrow arrays
from_arrow        Arrow arrays → columns
growing_column    one Arrow column, built batch by batch
tables            ``read_table``, ``write_table``, ``to_arrow``, ``from_arrow``
"""

from .tables import from_arrow, read_table, to_arrow, write_table

__all__ = ["from_arrow", "read_table", "to_arrow", "write_table"]
