"""The one exception for everything a user can mend."""

from __future__ import annotations

import os


class InputError(Exception):
    """Bad input: shown as one line, without a traceback; the exit status is 1.

    Parameters
    ----------
    message
        What is wrong and what to do about it, in one line.
    path
        The file, if there is one.
    line
        The line in that file, counted from 1 as editors do.
    """

    def __init__(
        self, message: str, path: str | os.PathLike[str] | None = None, line: int | None = None
    ) -> None:
        self.message, self.path, self.line = message, path, line
        place = "" if path is None else f"{os.fspath(path)}: "
        if line is not None:
            place = f"{os.fspath(path) if path is not None else '<stdin>'}:{line}: "
        super().__init__(place + message)
