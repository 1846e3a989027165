"""n-best lists as users name them: files, or folders of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from itersel.errors import FilePath, InputError
from itersel.lists.lines import Line, translation_lines


def find_lists(paths: Sequence[FilePath]) -> list[str]:
    """Return files of lists: the given files, and all files in given folders by name, except hidden files."""
    found = []
    for path in paths:
        inside = [os.fspath(path)]
        if os.path.isdir(path):
            inside = sorted(one.path for one in os.scandir(path) if one.is_file() and one.name[0] != ".")
        found += inside
    return found


def listed_translations(paths: Sequence[FilePath]) -> Iterator[Line]:
    """Yield the lines of lists; there must be a file."""
    if isinstance(paths, str) or not paths:
        raise InputError("the names of one or more n-best lists were expected")

    files = find_lists(paths)
    if not files:
        raise InputError("is a folder without files; n-best lists were expected", paths[0])
    for path in files:
        for number, line in translation_lines(path):
            yield path, number, line
