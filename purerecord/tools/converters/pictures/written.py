"""Writing pictures to a folder: what all such formats share.

Pictures get safe names of their own, and the report says which were changed. This module must not know how a
format stores classes and boxes.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ....payload.image_header import ImageHeader
from ..job import Job
from ..outputs import name_of, new_folder
from .new_files import NewFiles
from .picture import Loaded
from .picture_files import is_picture

_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "GIF": ".gif", "BMP": ".bmp", "WebP": ".webp"}
IMAGES = "images"


def write_folder(job: Job, fill: Callable[[NewFiles], None]) -> Callable[[], None]:
    """The work that fills a new folder, which appears when it is complete."""
    name = name_of(job.out)
    if hasattr(job.out, "write") or os.path.splitext(name)[1].lower() in (
        ".json",
        ".xml",
        ".csv",
        ".yaml",
        ".yml",
    ):
        raise ValueError(
            f"{name}: pictures are written to a folder, which the format's files lie in; name one"
        )

    def work() -> None:
        with new_folder(job.out) as folder:
            files = NewFiles(folder)
            fill(files)
            job.report.size = files.size
        for reason, (first, count) in files.changed.items():
            job.report.note(f"{reason}: {count:,}, first {first}")

    return work


def parts_of(files: NewFiles, loaded: Loaded) -> list[str]:
    """The folders and the name of a picture's file, with the suffix of its format if it has none."""
    parts = files.safe(loaded.picture.name)
    if not is_picture(parts[-1]):
        parts[-1] += suffix_of(loaded.header)
    return parts


def suffix_of(header: ImageHeader) -> str:
    """The suffix of files of a picture's format."""
    return _SUFFIX[header.format]


def pixels(fraction: float, side: int) -> int | float:
    """A fraction of a side in pixels, to a thousandth: so what float32 has rounded is as it was before."""
    number = round(fraction * side, 3)
    return int(number) if number == int(number) else number
