"""Reading of corpora: parallel files, or files with both sides, in one part or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from itersel.corpus.alignments import format_points, parse_points
from itersel.corpus.corpora import FORMATS, TMX, XML, Corpus, Reading, check_parts, format_of
from itersel.corpus.labels import checked_labels
from itersel.corpus.records import READERS, Pair, pair_blocks
from itersel.corpus.text import Bitext, check_line_counts, is_valid, split_words, text_blocks
from itersel.corpus.text_names import reference_column
from itersel.errors import InputError
from itersel.storage.files import line_blocks, suffixes

# Columns that all pairs have or none; names for messages.
_OPTIONAL = {"labels": "labels", "alignment": "alignments"}


def corpus_blocks(corpora: Sequence[Corpus], reading: Reading) -> Iterator[Bitext]:
    """Read the pairs of corpora in blocks, one corpus after the other.

    If one corpus has labels or alignments, all must; pairs without a label get the name of their corpus.
    """
    expected: set[str] | None = None
    for corpus in corpora:
        for block in _blocks(corpus, reading):
            if block.labels is None and corpus.name:
                block = block._replace(labels=[corpus.name] * block.size)

            given = {name for name in _OPTIONAL if getattr(block, name) is not None}
            if expected is None:
                expected = given
            if given != expected:
                what = _OPTIONAL[min(given ^ expected)]
                message = f"some pairs have {what}, others have none; give them for all or for none"
                raise InputError(message, corpus.files[0])

            if reading.dropped is not None:
                kept = [i for i in range(block.size) if is_valid(block, i, reading.tokenized)]
                reading.dropped["invalid"] += block.size - len(kept)
                block = block.take(kept)

            yield block


def _blocks(corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    for path in corpus.file:
        yield from pair_blocks(_pairs(path, corpus, reading), path, reading)
    if not corpus.file:
        check_parts(corpus)
        columns = {name: getattr(corpus, name) for name in ("source", "target", "labels", "alignment")}
        for number in range(len(corpus.source)):
            paths = {name: files[number] for name, files in columns.items() if files}
            yield from _parallel_blocks(paths, corpus.further, reading)


def _pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read a file with both sides, in the format that its name indicates."""
    found = format_of(path)
    if found is None:
        raise InputError(f"the name must end in {', '.join(FORMATS)}, or one of these and {suffixes()}", path)
    if found in READERS:
        return READERS[found](path, corpus, reading)
    # lxml takes long to import
    from itersel.corpus import xml_formats

    readers = {TMX: xml_formats.tmx_pairs, XML: xml_formats.wmt_pairs}
    return readers.get(found, xml_formats.xliff_pairs)(path, reading)


def _parallel_blocks(paths: dict[str, str], further: Sequence[str], reading: Reading) -> Iterator[Bitext]:
    """Read parallel files, by the name of their column, and further references."""
    references = {reference_column(number): path for number, path in enumerate(further, 1)}
    paths = paths | references

    files = [
        line_blocks(path, reading.limit, reading.advice)
        if name == "alignment"
        else text_blocks(
            path,
            limit=reading.limit,
            advice=reading.advice,
            is_tokenized=reading.tokenized and name != "labels",
            is_checked=reading.dropped is None,
        )
        for name, path in paths.items()
    ]

    # the lines of each file that can be taken now; none at its end
    waiting = [next(file, []) for file in files]
    number = 0
    while count := min(map(len, waiting)):
        columns: dict[str, Any] = dict(zip(paths, [lines[:count] for lines in waiting], strict=True))
        others = [columns.pop(name) for name in references]
        block = Bitext(**columns, further=list(zip(*others, strict=True)) if others else None)
        yield _checked(block, paths, number)
        number += count
        waiting = [lines[count:] or next(file, []) for lines, file in zip(waiting, files, strict=True)]

    rests = [len(lines) + sum(map(len, file)) for lines, file in zip(waiting, files, strict=True)]
    check_line_counts(*zip(paths.values(), [range(number + rest) for rest in rests], strict=True))


def _checked(block: Bitext, paths: dict[str, str], before: int) -> Bitext:
    """Check pairs and return them normalised; `before` is the number of preceding pairs."""
    if block.labels is not None:
        numbers = range(before + 1, before + 1 + block.size)
        block = block._replace(labels=checked_labels(block.labels, paths["labels"], numbers))

    if block.alignment is not None:
        lines = []
        path = paths["alignment"]
        texts = zip(block.alignment, block.source, block.target, strict=True)
        for number, (line, *sides) in enumerate(texts, before + 1):
            points = parse_points(line, path, number)
            words, others = (len(split_words(side)) for side in sides)

            for i, j in points:
                if i >= words or j >= others:
                    pair = f"its sentence pair ({words} and {others} tokens, counted from 0)"
                    why = f"alignment point {i}-{j} is outside {pair}; align this text again"
                    raise InputError(why, path, number)

            lines.append(format_points(points))
        block = block._replace(alignment=lines)

    return block
