"""Ray and pyarrow themselves, for the other modules of this folder.

Importing this module imports them, or raises an error that says how to install it.
"""

from __future__ import annotations

try:
    import pyarrow as pa
    import ray
    import ray.data
except ImportError as error:
    raise ImportError(f'purerecord.ray needs Ray: pip install "purerecord[ray]" ({error})') from error

__all__ = ["pa", "ray"]
