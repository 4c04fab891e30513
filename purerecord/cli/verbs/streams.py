"""``Streams``: "-" for stdin and stdout, for commands that need files.

Records are rewritten in several passes, and read back: so stdin is saved to a temporary file first, and what
goes to stdout is written there when it is complete. This module must not know the commands.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from tempfile import mkdtemp

from ...errors import PureRecordError
from ...tools.rewrite.report import Rewritten
from ..exit_status import write

_AT_ONCE = 1 << 20


class Streams:
    """The files that stand for stdin among ``paths``, and for stdout if that is ``out``."""

    def __init__(self, paths: list[str], out: str, temporary: str | None) -> None:
        self._stdin = self._stdout = self._folder = ""
        self.paths, self.out = paths, out
        if "-" not in paths and out != "-":
            return
        if "-" in paths and sys.stdin is None:
            raise ValueError("stdin is closed")
        if temporary is not None:
            os.makedirs(temporary, exist_ok=True)
        self._folder = mkdtemp(prefix="purerecord-", dir=temporary)
        try:
            if "-" in paths:
                self._stdin = os.path.join(self._folder, "stdin")
                self._save_stdin()
                self.paths = [self._stdin if path == "-" else path for path in paths]
            if out == "-":
                self._stdout = self.out = os.path.join(self._folder, "stdout")
        except BaseException:
            self.close()
            raise

    @property
    def to_stdout(self) -> bool:
        """Whether the records go to stdout, so that the report cannot."""
        return bool(self._stdout)

    def _save_stdin(self) -> None:
        try:
            with open(self._stdin, "wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, _AT_ONCE)
        except OSError as error:
            error.filename = error.filename or self._stdin
            raise

    def send(self) -> None:
        """Write to stdout what is to go there."""
        if self._stdout:
            with open(self._stdout, "rb") as file:
                while data := file.read(_AT_ONCE):
                    write(data)

    def named(self, done: Rewritten) -> Rewritten:
        """The report, without the names of temporary files."""
        if not self._folder:
            return done
        return replace(
            done,
            paths=tuple("-" if path == self._stdout else path for path in done.paths),
            inputs=tuple("-" if path == self._stdin else path for path in done.inputs),
            damage=tuple(text.replace(self._stdin or "\0", "stdin") for text in done.damage),
        )

    def name(self, error: BaseException | None) -> None:
        """Name stdin in an error, and not the file that stands for it."""
        if self._stdin and isinstance(error, PureRecordError) and getattr(error, "path", "") == self._stdin:
            error.path = "stdin"  # type: ignore[attr-defined]

    def close(self) -> None:
        """Remove the temporary files."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
