"""``write_whole``: a small file, such as an index, that appears whole or not at all.

This module does not know what the bytes mean.
"""

from __future__ import annotations

import os
from contextlib import suppress

from .paths import replace, temporary_name, writing
from .stores import Upload
from .url import Url


def write_whole(target: str, data: bytes) -> None:
    """Make ``data`` the content of the file at ``target``, a path or a ``Url``."""
    if isinstance(target, Url):
        upload = Upload(target)
        try:
            upload.write(data)
            upload.commit()
        except BaseException:
            upload.discard()
            raise
        return
    temporary = temporary_name(target)
    try:
        with writing(target):
            with open(temporary, "wb") as file:
                file.write(data)
            replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
