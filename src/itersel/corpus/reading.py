"""Reading of corpora: parallel files, or files with both sides, in one part or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from itersel.corpus.corpora import (
    CSV,
    FORMATS,
    JSON_LINES,
    MO,
    PARQUET,
    PO,
    TMX,
    TSV,
    XLIFF,
    XML,
    Corpus,
    Reading,
    check_parts,
    format_of,
)
from itersel.corpus.text import Bitext, is_valid, parallel_blocks
from itersel.errors import InputError
from itersel.storage.compression import suffixes

# Columns that all pairs have or none; names for messages.
_OPTIONAL = {"task": "task labels", "alignment": "alignments"}


def corpus_blocks(corpora: Sequence[Corpus], reading: Reading) -> Iterator[Bitext]:
    """Read the pairs of corpora in blocks, one corpus after the other.

    If one corpus has labels, all must have them; pairs without a label get the name of their corpus. If one
    corpus has alignments, all must have them.

    Raises
    ------
    InputError
        See `parallel_blocks` and the reader of each format; also if the sides have different numbers of
        parts, a file has another format, or only some of the pairs have labels or alignments.
    """
    expected: set[str] | None = None
    for corpus in corpora:
        for blocks in _parts(corpus, reading):
            for block in blocks:
                if block.task is None and corpus.name:
                    block = block._replace(task=[corpus.name] * block.size)
                found = {name for name in _OPTIONAL if getattr(block, name) is not None}
                if odd := found ^ (expected := found if expected is None else expected):
                    what = _OPTIONAL[min(odd)]
                    message = f"some pairs have {what}, others have none; give them for all or for none"
                    raise InputError(message, corpus.files[0])
                if reading.dropped is not None:
                    kept = [i for i in range(block.size) if is_valid(block, i, reading.tokenized)]
                    reading.dropped["invalid"] += block.size - len(kept)
                    block = block.take(kept)
                yield block


def _parts(corpus: Corpus, reading: Reading) -> Iterator[Iterator[Bitext]]:
    for path in corpus.file:
        yield _reader(path)(path, corpus, reading)
    if corpus.file:
        return
    check_parts(corpus)
    count = len(corpus.source)
    for number in range(count):
        task, alignment = (files[number] if files else None for files in (corpus.task, corpus.alignment))
        files = corpus.source[number], corpus.target[number], task, alignment
        yield parallel_blocks(
            *files,
            reading.tokenized,
            reading.limit,
            reading.advice,
            further=corpus.further,
            is_checked=reading.dropped is None,
        )


def _reader(path: str) -> Callable[[str, Corpus, Reading], Iterator[Bitext]]:
    """Return the reader for a file according to its name."""
    found = format_of(path)
    if found is None:
        raise InputError(f"the name must end in {', '.join(FORMATS)}, or one of these and {suffixes()}", path)
    # modules are imported as needed: libraries for some formats take long to import
    if found == TSV:
        from itersel.corpus.tsv import tsv_blocks

        return tsv_blocks
    if found == TMX:
        from itersel.corpus.tmx import tmx_blocks

        return tmx_blocks
    if found in XLIFF:
        from itersel.corpus.xliff import xliff_blocks

        return xliff_blocks
    if found in (PO, MO):
        from itersel.corpus.catalogue import catalogue_blocks

        return catalogue_blocks
    if found == XML:
        from itersel.corpus.wmt_xml import wmt_blocks

        return wmt_blocks
    from itersel.corpus import records

    return {CSV: records.csv_blocks, JSON_LINES: records.json_blocks, PARQUET: records.parquet_blocks}[found]
