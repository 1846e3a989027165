"""Divide the n-best lists of a text into files: the lines of the lists, and the numbers of the sentences.

The lists are read twice, and never kept in memory. The first time, every line is parsed, so that errors name
the user's files; the second time, lines are only distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from itersel.corpus.text import check_line_counts
from itersel.corpus.text_names import SCALED_QUALITY, column_file, ids_file, reference_columns
from itersel.errors import FilePath
from itersel.lists.lines import listed_translations
from itersel.lists.numbers import read_numbers
from itersel.lists.summary import summarise
from itersel.run.progress import count_up
from itersel.storage.arrays import Float64s, Int64s
from itersel.storage.declared import DeclaredWriter, declared_folder
from itersel.storage.files import read_lines

# File with the names of the dense features of all lists.
DENSE_FILE = "dense.txt"
# Characters that wait to be written.
WAITING_CHARACTERS = 1 << 26


def divide_lists(
    paths: Sequence[FilePath],
    divide: Callable[[int], Sequence[Int64s]],
    output: FilePath,
    references: Sequence[FilePath] = (),
    quality: FilePath | None = None,
    dense_names: Sequence[str] = (),
    source: FilePath | None = None,
) -> None:
    """Write file f as ``f.lists.gz`` and ``f.ids`` into a new folder, and the names of the dense features.

    ``f.ids`` has the numbers of its sentences in training order; its translations are in the order of the
    lists in `paths`. References are ``f.target.gz``, ``f.target.1.gz`` and so on; a `source` is
    ``f.source.gz``. With `quality`, a file of numbers, ``f.scaled-quality.gz`` has one for each translation,
    from 0 to 1. `divide` returns the sentences of each file, given the number of sentences. The folder
    appears only when it is complete, with a declaration of its files.
    """
    # everything else is read before the lists, which take longest
    of_sentences = [*([] if source is None else [source]), *references]
    texts = [read_lines(path) for path in of_sentences]
    if texts:
        check_line_counts(*zip(of_sentences, texts, strict=True))
    columns = [*([] if source is None else ["source"]), *reference_columns(len(references))]
    read = None if quality is None else read_numbers(quality)

    found = summarise(listed_translations(paths), paths, len(texts[0]) if texts else None)
    dense = found.features.dense(dense_names, paths[0])
    scaled_quality = None if read is None else read.as_quality(found.sentence.shape[0])
    parts = divide(found.sentence_count)
    file_of_sentence = np.full(found.sentence_count, -1)

    with declared_folder(output) as folder:
        folder.write(DENSE_FILE, dense)
        for file, numbers in enumerate(parts):
            file_of_sentence[numbers] = file
            ids = numbers.tolist()
            folder.write(ids_file(file), map(str, ids))
            for column, text in zip(columns, texts, strict=True):
                folder.write(column_file(file, column), (text[line] for line in ids))

        _distribute(folder, paths, file_of_sentence[found.sentence], scaled_quality)


def _distribute(
    folder: DeclaredWriter, paths: Sequence[FilePath], file_of: Int64s, scaled_quality: Float64s | None
) -> None:
    """Write the translations and their scaled quality to their files; those of file -1 are left out.

    Lines are appended many at a time: a process cannot keep thousands of files open.
    """
    waiting: dict[str, list[str]] = {}
    size = 0
    lines = count_up(listed_translations(paths), "translations written", lambda _: 1)
    for row, (_, _, line) in enumerate(lines):
        if (file := int(file_of[row])) < 0:
            continue
        waiting.setdefault(column_file(file, "lists"), []).append(line)
        if scaled_quality is not None:
            name = column_file(file, SCALED_QUALITY)
            waiting.setdefault(name, []).append(repr(float(scaled_quality[row])))
        size += len(line)

        if size > WAITING_CHARACTERS:
            _append(folder, waiting)
            size = 0

    _append(folder, waiting)


def _append(folder: DeclaredWriter, waiting: dict[str, list[str]]) -> None:
    for name, lines in waiting.items():
        folder.append(name, lines)
    waiting.clear()
