"""The models that features of text need, estimated on prepared parallel text and its alignments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from itersel.align.symmetrize import DEFAULT_HEURISTIC, symmetrize
from itersel.corpus.alignments import Point, read_alignment
from itersel.corpus.prepare import Preparation
from itersel.corpus.text import check_line_counts, read_text
from itersel.corpus.vocabulary import WordNumbers, read_side
from itersel.errors import FilePath, InputError
from itersel.lm.binary import compile_estimate
from itersel.lm.estimate import estimate
from itersel.lm.numbered_text import read_numbered_text
from itersel.rerank.lexicon import count_lexicon, write_lexicon
from itersel.rerank.models import LANGUAGE_MODEL, LEXICON
from itersel.rerank.words import NULL
from itersel.run.atomic import new_folder
from itersel.storage.files import read_lines, write_lines

# Files in the folder of prepared text.
SOURCE, TARGET = "source.gz", "target.gz"


def prepare_words(
    sources: Sequence[FilePath], targets: Sequence[FilePath], preparation: Preparation, output: FilePath
) -> None:
    """Write the words of parallel text to a new folder, with the lines of the first pair of files.

    Pairs of further files follow, unless their source or their target is in the first files. What is
    estimated without some lines of the first files would have seen them otherwise. The first files have
    been cleaned.

    Raises an InputError if files do not have as many lines as their partners.
    """
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} source files, but {len(targets)} target files; give pairs")

    first = sources[0], targets[0]
    pair = read_lines(first[0]), read_lines(first[1])
    check_line_counts((first[0], pair[0]), (first[1], pair[1]))
    words = preparation.cleaned_source(pair[0]), preparation.cleaned_target(pair[1])
    known = set(words[0]), set(words[1])

    for source, target in zip(sources[1:], targets[1:], strict=True):
        text = read_text(source), read_text(target)
        check_line_counts((source, text[0]), (target, text[1]))
        further = preparation.source(text[0]), preparation.target(text[1])
        for left, right in zip(*further, strict=True):
            if left and right and left not in known[0] and right not in known[1]:
                words[0].append(left)
                words[1].append(right)

    with new_folder(output) as folder:
        write_lines(folder / SOURCE, words[0])
        write_lines(folder / TARGET, words[1])


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
        write_lexicon(folder / LEXICON, lexicon)
        model = estimate(read_numbered_text([paths[1]], None, left_out, folder), order)
        compile_estimate(model, folder / LANGUAGE_MODEL)


def _symmetrized(alignments: Sequence[FilePath]) -> Iterator[list[Point]]:
    sides = map(read_alignment, alignments)
    for number, (forward, reverse) in enumerate(zip_longest(*sides), 1):
        if forward is None or reverse is None:
            shorter = alignments[0 if forward is None else 1]
            raise InputError(f"has no line {number}, but the other alignment does", shorter)
        # as links of translations are symmetrised (`itersel.rerank.link_kernels`)
        yield symmetrize(forward, reverse, DEFAULT_HEURISTIC)
