"""Cut the n-best lists of a text into shards: the lines of the lists, and the numbers of the sentences.

The lists are read twice, and never kept in memory. The first time, every line is parsed, so that errors name
the user's files; the second time, lines are only distributed.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from itersel.corpus.text import check_line_counts
from itersel.corpus.text_names import reference_columns
from itersel.errors import FilePath, InputError
from itersel.lists.lines import LineParser, check_present, translation_lines, value_names
from itersel.lists.numbers import checked_quality
from itersel.run.progress import count_up
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.declared import DeclaredWriter, declared_folder
from itersel.storage.files import read_lines
from itersel.vectors.feature_names import DENSE_FEATURES, DENSE_NAME, MAX_DENSE

# File with the names of the dense features, the same for all shards.
DENSE_NAMES = "dense.txt"
# Characters that wait to be written.
WAITING_CHARACTERS = 1 << 26


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


def find_dense(names: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """Return the dense features: the features whose values follow ``Name=`` (the names in `sizes`).

    In lists without such names, itersel's own features are dense, and words that may end in a number, such as
    TM_1.
    """
    blocks = {one for name, count in sizes.items() for one in value_names(name, count)}
    if blocks:
        return [name for name in names if name in blocks]
    return [name for name in names if name in DENSE_FEATURES or DENSE_NAME.fullmatch(name)]


def summarise(lists: Sequence[FilePath], sentences: int | None = None, dense: Sequence[str] = ()) -> Summary:
    """Check every line of lists; `sentences` is their number, if known, `dense` by default `find_dense`."""
    parser, sentence, paths = LineParser(), array("i"), find_lists(lists)
    if not paths:
        raise InputError("is a folder without files; n-best lists were expected", lists[0])

    for path, number, line in _translations(paths, "read"):
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


def shard_lists(
    lists: Sequence[FilePath],
    cut: Callable[[int], Sequence[Int64s]],
    output: FilePath,
    references: Sequence[FilePath] = (),
    quality: FilePath | None = None,
    dense: Sequence[str] = (),
) -> None:
    """Write shard z as ``z.lists.gz`` and ``z.ids`` into a new folder, and the names of the dense features.

    ``z.ids`` has the numbers of its sentences in training order; its translations are in the order of the
    files. References are ``z.target.gz``, ``z.target.1.gz`` and so on. With `quality`, a file for
    `checked_quality`, ``z.quality.gz`` has a number for each translation. `cut` returns the sentences of each
    shard, given the number of sentences. The folder appears only when it is complete, with a
    declaration of its files.
    """
    texts = [read_lines(path) for path in references]
    if references:
        check_line_counts(*zip(references, texts, strict=True))

    found = summarise(lists, len(texts[0]) if texts else None, dense)
    numbers = None if quality is None else checked_quality(quality, found.sentence.shape[0])

    parts = cut(found.sentences)
    shard_of = np.full(found.sentences, -1)

    with declared_folder(output) as folder:
        folder.write(DENSE_NAMES, found.dense)
        for shard, sentences in enumerate(parts):
            shard_of[sentences] = shard
            ids = sentences.tolist()
            folder.write(f"{shard}.ids", map(str, ids))
            for column, text in zip(reference_columns(len(texts)), texts, strict=True):
                folder.write(f"{shard}.{column}.gz", (text[line] for line in ids))

        _distribute(folder, find_lists(lists), shard_of[found.sentence], numbers)


def _distribute(
    folder: DeclaredWriter, paths: Sequence[str], shards: Int64s, numbers: Float64s | None
) -> None:
    """Write the translations and their numbers to the files of their shards; shard -1 is left out.

    Lines are appended many at a time: a process cannot keep thousands of files open.
    """
    waiting: dict[str, list[str]] = {}
    size = 0
    for row, (_, _, line) in enumerate(_translations(paths, "written")):
        if (shard := int(shards[row])) < 0:
            continue
        waiting.setdefault(f"{shard}.lists.gz", []).append(line)
        if numbers is not None:
            waiting.setdefault(f"{shard}.quality.gz", []).append(repr(float(numbers[row])))
        size += len(line)

        if size > WAITING_CHARACTERS:
            _append(folder, waiting)
            size = 0

    _append(folder, waiting)


def _append(folder: DeclaredWriter, waiting: dict[str, list[str]]) -> None:
    for name, lines in waiting.items():
        folder.append(name, lines)
    waiting.clear()


def _translations(paths: Sequence[str], what: str) -> Iterator[tuple[str, int, str]]:
    lines = ((path, number, line) for path in paths for number, line in translation_lines(path))
    return count_up(lines, f"translations {what}", lambda _: 1)
