"""The files of n-best lists: a folder stands for all files in it.

Apart from what reads lists, because every job of a run plans, which needs no numpy.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from itersel.errors import FilePath


def find_lists(paths: Sequence[FilePath]) -> list[str]:
    """Return files of lists: the given files, and all files in given folders by name, except hidden files."""
    found = []
    for path in paths:
        inside = [os.fspath(path)]
        if os.path.isdir(path):
            inside = sorted(one.path for one in os.scandir(path) if one.is_file() and one.name[0] != ".")
        found += inside
    return found
