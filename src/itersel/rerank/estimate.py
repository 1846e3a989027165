"""The models that features of text need, estimated on prepared parallel text and its alignments."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from itersel.align.sampler import LONGEST
from itersel.align.symmetrize import DEFAULT_HEURISTIC, symmetrize
from itersel.corpus.alignments import Point, read_alignment
from itersel.corpus.prepare import Preparation
from itersel.corpus.text import check_line_counts, read_text, split_words
from itersel.corpus.text_names import IDS, ids_file
from itersel.corpus.vocabulary import WordNumbers, read_side
from itersel.errors import FilePath, InputError
from itersel.lists.importing import read_ids
from itersel.lm.binary import compile_estimate
from itersel.lm.estimate import estimate
from itersel.lm.ngrams import END, START, UNKNOWN
from itersel.lm.numbered_text import read_numbered_text
from itersel.rerank.lexicon import count_lexicon, write_lexicon
from itersel.rerank.models import LANGUAGE_MODEL_FILE, LEXICON_FILE
from itersel.rerank.words import NULL
from itersel.run.atomic import new_folder
from itersel.storage.declared import DeclaredFolder
from itersel.storage.files import read_lines, write_lines

# Files in the folder of prepared text.
SOURCE, TARGET = "source.gz", "target.gz"
RESERVED = {START, END, UNKNOWN}


def prepare_words(
    sources: Sequence[FilePath],
    targets: Sequence[FilePath],
    preparation: Preparation,
    output: FilePath,
    excluded: Sequence[Sequence[FilePath]] = ((), ()),
) -> None:
    """Write the words of parallel text to a new folder, with the lines of the first pair of files.

    The first files have been cleaned. Pairs that models cannot be estimated on, such as those of too many
    words, become empty lines. Pairs of further files follow, unless they share a side with the first files
    or with `excluded` texts (files of the source, and of the target): models must not have seen the
    references of what they score.

    Raises an InputError if files do not have as many lines as their partners.
    """
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} source files, but {len(targets)} target files; give pairs")

    source_lines = read_lines(sources[0])
    target_lines = read_lines(targets[0])
    check_line_counts((sources[0], source_lines), (targets[0], target_lines))
    source_words = preparation.prepare_cleaned_source(source_lines)
    target_words = preparation.prepare_cleaned_target(target_lines)
    kept = [_usable(*pair) for pair in zip(source_words, target_words, strict=True)]

    known_sources = set(source_words)
    known_targets = set(target_words)
    for path in excluded[0]:
        known_sources.update(preparation.prepare_cleaned_source(read_lines(path)))
    for path in excluded[1]:
        known_targets.update(preparation.prepare_cleaned_target(read_lines(path)))

    for source_file, target_file in zip(sources[1:], targets[1:], strict=True):
        source_lines = read_text(source_file)
        target_lines = read_text(target_file)
        check_line_counts((source_file, source_lines), (target_file, target_lines))
        pairs = zip(preparation.source(source_lines), preparation.target(target_lines), strict=True)
        for source, target in pairs:
            is_new = source not in known_sources and target not in known_targets
            if is_new and _usable(source, target)[0]:
                kept.append((source, target))

    with new_folder(output) as folder:
        write_lines(folder / SOURCE, (source for source, _ in kept))
        write_lines(folder / TARGET, (target for _, target in kept))


def _usable(source: str, target: str) -> tuple[str, str]:
    """Return a pair, or two empty lines if it cannot be aligned, or has words reserved in language models."""
    for side in (source, target):
        words = split_words(side)
        if not 0 < len(words) <= LONGEST or not RESERVED.isdisjoint(words):
            return "", ""
    return source, target


def lines_of_list_fold(words: FilePath, divided: FilePath, fold: int, folds: int) -> set[int]:
    """Return the lines, from 0, of files `fold`, `fold` + `folds`, ... of lists, and their copies.

    `divided` is the folder that `itersel.lists.dividing` made; `words` is the folder of `prepare_words` for
    the same text.
    """
    folder = DeclaredFolder(divided)
    names = [name for name in folder.names if name.endswith(IDS)]
    if len(names) < folds:
        raise InputError(f"contains {len(names)} files of lists, too few for {folds} folds", divided)

    pairs = list(zip(*(read_lines(Path(words, side)) for side in (SOURCE, TARGET)), strict=True))
    lines = set[int]()
    for file in range(fold, len(names), folds):
        path = folder.checked(ids_file(file))
        own = read_ids(path)
        lines.update(own)
        if max(own, default=0) >= len(pairs):
            why = f"has the sentence {max(own)}, but {os.fspath(words)} has {len(pairs)} lines"
            raise InputError(f"{why}; they are of different texts", path)

    left_out = {pairs[line] for line in lines}
    return {line for line, pair in enumerate(pairs) if pair in left_out}


def estimate_text_models(
    words: FilePath, alignments: Sequence[FilePath], left_out: Collection[int], order: int, output: FilePath
) -> None:
    """Write a lexicon and a language model to a new folder.

    `words` is the folder of `prepare_words`, `alignments` are those of its lines in both directions, first
    the one that links each target word at most once. Lines in `left_out`, counted from 0, are not used.
    """
    numbers = [WordNumbers({NULL: 0}) for _ in range(2)]
    paths = Path(words, SOURCE), Path(words, TARGET)
    source, target = (read_side(path, one, True) for path, one in zip(paths, numbers, strict=True))
    check_line_counts((paths[0], range(source.sentence_count)), (paths[1], range(target.sentence_count)))

    sides = (source, list(numbers[0])), (target, list(numbers[1]))
    lexicon = count_lexicon(*sides, _symmetrized(alignments), left_out, alignments[0])

    with new_folder(output) as folder:
        write_lexicon(folder / LEXICON_FILE, lexicon)
        model = estimate(read_numbered_text([paths[1]], None, left_out, folder), order)
        compile_estimate(model, folder / LANGUAGE_MODEL_FILE)


def _symmetrized(alignments: Sequence[FilePath]) -> Iterator[list[Point]]:
    sides = map(read_alignment, alignments)
    for number, (forward, reverse) in enumerate(zip_longest(*sides), 1):
        if forward is None or reverse is None:
            shorter = alignments[0 if forward is None else 1]
            raise InputError(f"has no line {number}, but the other alignment does", shorter)
        # as links of translations are symmetrised (`itersel.rerank.link_kernels`)
        yield symmetrize(forward, reverse, DEFAULT_HEURISTIC)
