"""The models that features of text need, estimated on prepared parallel text and its alignments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from itersel.align.symmetrize import symmetrize
from itersel.corpus.alignments import Point, read_alignment
from itersel.corpus.prepare import Preparation
from itersel.corpus.text import check_line_counts
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
# As links of translations are symmetrised (`itersel.rerank.link_kernels`).
SYMMETRIZATION = "grow-diag-final-and"


def prepare_words(source: FilePath, target: FilePath, preparation: Preparation, output: FilePath) -> None:
    """Write the words of parallel text to a new folder, with the same lines; the target has been cleaned."""
    texts = read_lines(source), read_lines(target)
    check_line_counts((source, texts[0]), (target, texts[1]))
    with new_folder(output) as folder:
        write_lines(folder / SOURCE, preparation.source(texts[0]))
        write_lines(folder / TARGET, preparation.cleaned_target(texts[1]))


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
        yield symmetrize(forward, reverse, SYMMETRIZATION)
