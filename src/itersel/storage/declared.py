"""Folders of text files that declare what is in them, so that readers notice changed, mixed or lost files.

The declaration is a table with the number of lines and the digest of the text of each file, as the writer
passed them on; compression makes no difference.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import xxhash

from itersel.errors import FilePath, InputError
from itersel.run.atomic import new_folder
from itersel.storage.files import append_lines, byte_blocks, read_lines, write_lines

DECLARATION = "files.tsv"
HEADER = "file\tlines\tdigest"
_ROW = re.compile(r"([^\t/]+)\t([0-9]{1,15})\t([0-9a-f]{32})")
# What to do about a folder that is damaged, or of another version.
DIVIDE_AGAIN = "delete this folder, and run 'itersel step divide' (or the workflow) again"


class DeclaredWriter:
    """Writes text files to a folder, and remembers their lines; see `declared_folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: dict[str, int] = {}
        self._digests: dict[str, xxhash.xxh3_128] = {}

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of lines, compressed according to its name."""
        write_lines(self.folder / name, self._noted(name, lines), durable=False)

    def append(self, name: str, lines: Iterable[str]) -> None:
        """Append lines to a file."""
        append_lines(self.folder / name, self._noted(name, lines))

    def _noted(self, name: str, lines: Iterable[str]) -> Iterator[str]:
        digest = self._digests.setdefault(name, xxhash.xxh3_128())
        self._lines.setdefault(name, 0)
        for line in lines:
            digest.update(f"{line}\n".encode())
            self._lines[name] += 1
            yield line

    def declare(self) -> None:
        """Write the declaration."""
        rows = (f"{name}\t{count}\t{self._digests[name].hexdigest()}" for name, count in self._lines.items())
        write_lines(self.folder / DECLARATION, [HEADER, *sorted(rows)], durable=False)


@contextlib.contextmanager
def declared_folder(path: FilePath) -> Iterator[DeclaredWriter]:
    """Yield a writer of text files; on success, `path` appears with them and their declaration."""
    with new_folder(path) as folder:
        writer = DeclaredWriter(folder)
        yield writer
        writer.declare()


class DeclaredFolder:
    """A folder from `declared_folder`, whose files are checked before they are read.

    Raises an InputError if the declaration is missing or damaged.
    """

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)
        self._declared: dict[str, tuple[int, str]] = {}

        file = self.path / DECLARATION
        if not file.is_file():
            why = f"was not made by 'itersel step divide' of this version: it has no {DECLARATION}"
            raise InputError(f"{why}; {DIVIDE_AGAIN}", path)
        if not is_declaration(file):
            raise InputError(f"is not a table of files; {DIVIDE_AGAIN}", file, 1)

        for number, row in enumerate(read_lines(file)[1:], 2):
            match = _ROW.fullmatch(row)
            if match is None or match[1] in self._declared:
                raise InputError(f"is not a table of files; {DIVIDE_AGAIN}", file, number)
            self._declared[match[1]] = int(match[2]), match[3]

    @property
    def names(self) -> list[str]:
        """Names of the declared files."""
        return list(self._declared)

    def has(self, name: str) -> bool:
        """Return whether a file is declared; an InputError if it is not, but exists."""
        if name not in self._declared and os.path.lexists(self.path / name):
            raise InputError(f"is not named in {DECLARATION}; {DIVIDE_AGAIN}", self.path / name)
        return name in self._declared

    def checked(self, name: str) -> Path:
        """Return the path of a file after comparing it with its declaration; an InputError if they differ."""
        path = self.path / name
        if not self.has(name):
            raise InputError("no such file", path)

        digest = xxhash.xxh3_128()
        lines = 0
        for block in byte_blocks(path):
            digest.update(block)
            lines += block.count(b"\n")

        declared_lines, declared_digest = self._declared[name]
        if lines != declared_lines:
            why = f"has {lines} lines, but {DECLARATION} declares {declared_lines}"
            raise InputError(f"{why}; {DIVIDE_AGAIN}", path)
        if digest.hexdigest() != declared_digest:
            raise InputError(f"is not the text that {DECLARATION} declares; {DIVIDE_AGAIN}", path)
        return path


def is_declaration(file: Path) -> bool:
    """Return whether a file that is called like a declaration is one."""
    with contextlib.suppress(OSError), file.open("rb") as stream:
        return stream.read(len(HEADER) + 1) == f"{HEADER}\n".encode()
    return False


def check_declared(*paths: FilePath | None) -> None:
    """Check files that may be anywhere: those in a folder with a declaration must be as it says."""
    folders: dict[str, DeclaredFolder] = {}
    for path in paths:
        folder, name = os.path.split(path or "")
        # others, such as standard input, cannot be read twice
        if os.path.isfile(path or "") and is_declaration(Path(folder, DECLARATION)):
            if folder not in folders:
                folders[folder] = DeclaredFolder(folder)
            folders[folder].checked(name)
