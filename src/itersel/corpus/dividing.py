"""Divide a corpus into files of equal size, by task, or from a pool of tasks; deal files to shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from itersel.corpus.labels import require_label
from itersel.corpus.text import check_line_counts
from itersel.corpus.text_names import column_file, ids_file, reference_columns
from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Int64s
from itersel.storage.declared import declared_folder
from itersel.storage.files import read_lines

# Numbers of the lines that are not in any file.
REST = ids_file("rest")


def equal_groups(count: int, groups: int, seed: int | tuple[int, int] | None) -> list[Int64s]:
    """Return the numbers from 0 to `count` - 1 in groups, shuffled unless `seed` is None.

    The sizes of the groups differ by at most one.
    """
    if seed is None:
        return np.array_split(np.arange(count), groups)
    # The raw bits of a generator are stable across numpy versions; its shuffles may not be.
    bits = np.random.PCG64(seed).random_raw(count)
    shuffled = np.argsort(bits, kind="stable")
    return np.array_split(shuffled, groups)


def natural_lines(
    labels: Sequence[str], shards: Mapping[str, int], has_others: bool, minimum: int, seed: int
) -> list[Int64s]:
    """Return the lines of the shards of natural tasks; the order within one does not depend on others.

    `shards` are their numbers by label, each a file; if `has_others`, sentences with other labels are an
    additional shard.
    """
    (order,) = equal_groups(len(labels), 1, seed)
    label = np.array(labels)[order]
    parts = []

    for name, count in shards.items():
        own = order[label == name]
        require_label(labels, name)
        if own.shape[0] < max(count, minimum):
            why = f"{count} shards" if count > minimum else f"a minimum of {minimum}"
            raise InputError(f"task '{name}' has {own.shape[0]} sentences, too few for {why}")
        parts += np.array_split(own, count)

    if has_others:
        others = order[~np.isin(label, list(shards))]
        if others.shape[0] == 0:
            raise InputError("every sentence has one of the labels that are named; remove others: join")
        parts.append(others)

    return parts


def pooled_lines(
    labels: Sequence[str], names: Sequence[str], files: int, seed: int, size_of_one_task: bool
) -> list[Int64s]:
    """Return the line numbers of the files of a pool of tasks, `names`, given the label of each line.

    With `size_of_one_task`, the pool has the average size of a task, with the same number of lines of each;
    otherwise, all lines.
    """
    (order,) = equal_groups(len(labels), 1, seed)
    label = np.array(labels)[order]
    for name in names:
        require_label(labels, name)

    own = [np.flatnonzero(label == name) for name in dict.fromkeys(names)]
    if size_of_one_task:
        sizes = [rows.shape[0] for rows in own]
        share = max(1, min(*sizes, sum(sizes) // len(sizes) ** 2))
        own = [rows[:share] for rows in own]

    pool = order[np.sort(np.concatenate(own))]
    if pool.shape[0] < files:
        raise InputError(f"the pool of the tasks has {pool.shape[0]} sentences, too few for {files} files")
    return np.array_split(pool, files)


def deal_files(files: int, shards: int, seed: int, epoch: int) -> list[list[int]]:
    """Return the files, as many for each shard, that make up the shards of an epoch, in training order."""
    return [own.tolist() for own in equal_groups(files, shards, (seed, epoch))]


def divide_corpus(
    source: FilePath,
    target: FilePath,
    divide: Callable[[int], Sequence[Int64s]],
    output: FilePath,
    further: Sequence[FilePath] = (),
) -> None:
    """Write the sentences of file f as ``f.source.gz``, ``f.target.gz`` and ``f.ids`` into a new folder.

    ``f.ids`` has the line number of each sentence, followed by the line numbers of its copies: the lines with
    the same source and target, whatever file they are in. If a file has several of them, only the first has
    the list, and ``@4`` in the others means that it is on line 4 of ``f.ids``. Additional references are
    ``f.target.1.gz``, ``f.target.2.gz`` and so on. `divide` returns the line numbers of each file, given the
    number of all; those that are left out are written to ``rest.ids``. The folder appears only when it is
    complete, with a declaration of its files.
    """
    paths = [source, target, *further]
    texts = list(map(read_lines, paths))
    check_line_counts(*zip(paths, texts, strict=True))

    parts = divide(len(texts[0]))
    columns = ["source", *reference_columns(len(texts) - 1)]
    copies = _copies(texts[0], texts[1])
    rest = np.setdiff1d(np.arange(len(texts[0])), np.concatenate(parts))

    with declared_folder(output) as folder:
        for file, numbers in enumerate(parts):
            ids = numbers.tolist()
            for column, text in zip(columns, texts, strict=True):
                folder.write(column_file(file, column), (text[line] for line in ids))
            folder.write(ids_file(file), _with_copies(ids, copies))

        if rest.size:
            folder.write(REST, map(str, rest.tolist()))


def _with_copies(ids: Sequence[int], copies: Mapping[int, Sequence[int]]) -> Iterator[str]:
    """Yield a line for each sentence of a file: its number, and its copies or where these are listed."""
    listed: dict[int, int] = {}
    for number, line in enumerate(ids, 1):
        group = copies.get(line, (line,))
        place = listed.setdefault(group[0], number)
        if len(group) == 1:
            yield str(line)
        elif place == number:
            yield " ".join(map(str, [line, *(copy for copy in group if copy != line)]))
        else:
            yield f"{line} @{place}"


def _copies(source: Sequence[str], target: Sequence[str]) -> dict[int, list[int]]:
    """Return the numbers of all lines with the same pair, for lines that are not the only one."""
    first: dict[tuple[str, str], int] = {}
    groups: dict[int, list[int]] = {}
    for line, pair in enumerate(zip(source, target, strict=True)):
        if (earlier := first.setdefault(pair, line)) != line:
            groups.setdefault(earlier, [earlier]).append(line)
    return {line: group for group in groups.values() for line in group}
