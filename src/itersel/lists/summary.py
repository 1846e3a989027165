"""What the n-best lists of a text contain: their files, sentences and dense features."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.dense import find_dense
from itersel.lists.lines import LineParser, check_present, translation_lines
from itersel.run.progress import count_up
from itersel.storage.arrays import Int32s
from itersel.vectors.feature_names import MAX_DENSE


class Summary(NamedTuple):
    """What the lists of a text contain."""

    sentences: int
    sentence: Int32s  # of each translation, in the order of the files
    dense: list[str]  # names of the dense features


def find_lists(paths: Sequence[FilePath]) -> list[str]:
    """Return files of lists: the given files, and all files in given folders by name, except hidden files."""
    found = []
    for path in paths:
        inside = [os.fspath(path)]
        if os.path.isdir(path):
            inside = sorted(one.path for one in os.scandir(path) if one.is_file() and one.name[0] != ".")
        found += inside
    return found


def summarise(lists: Sequence[FilePath], sentences: int | None = None, dense: Sequence[str] = ()) -> Summary:
    """Check every line of lists; `sentences` is their number, if known, `dense` by default `find_dense`."""
    parser, sentence, paths = LineParser(), array("i"), find_lists(lists)
    if not paths:
        raise InputError("is a folder without files; n-best lists were expected", lists[0])

    for path, number, line in numbered_translations(paths, "read"):
        sentence.append(parser.parse(line, path, number).sentence)

    names = list(parser.numbers)
    if dense and set(names).isdisjoint(dense):
        raise InputError(f"has none of the dense features, such as '{dense[0]}'", paths[0])
    found = list(dense) or find_dense(names, parser.sizes)
    if len(found) > MAX_DENSE:
        raise InputError(
            f"{len(found)} features look dense, such as '{found[-1]}'; name at most "
            f"{MAX_DENSE} with the key 'dense' (in a config: data.dense)",
            paths[0],
        )

    of_translations = np.array(sentence, np.int32)
    return Summary(check_present(np.unique(of_translations), sentences, paths[0]), of_translations, found)


def numbered_translations(paths: Sequence[str], done: str) -> Iterator[tuple[str, int, str]]:
    """Yield the file, the number and the text of each line; progress tells how many are `done`."""
    lines = ((path, number, line) for path in paths for number, line in translation_lines(path))
    return count_up(lines, f"translations {done}", lambda _: 1)
