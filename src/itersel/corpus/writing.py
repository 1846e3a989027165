"""Prepared text written to files: the splits of a corpus, or the references of n-best lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from itersel import __version__
from itersel.corpus.labels import read_labels
from itersel.corpus.pipeline import PreparedCorpus
from itersel.corpus.prepare import Preparation, write_preparation
from itersel.corpus.recase import Recaser
from itersel.corpus.settings import CorpusSettings, Words
from itersel.corpus.statistics import count_words, describe
from itersel.corpus.text import Bitext, check_line_counts, read_text
from itersel.corpus.text_names import MONOLINGUAL_FILE, column_file, reference_columns, statistics_file
from itersel.errors import FilePath
from itersel.storage.files import write_lines
from itersel.storage.json_files import write_json


def write_corpus(
    folder: Path,
    prepared: PreparedCorpus,
    preparation: Preparation,
    settings: CorpusSettings,
    monolingual: tuple[list[str], int] | None,
) -> None:
    """Write the splits, their preparation and their statistics to `folder`.

    Files are ``<split>.{source,target,labels,alignment,raw,raw.source}.gz`` (those that exist),
    ``monolingual.gz``, with a training split ``preparation.json`` and ``recaser.json``, and
    ``statistics.json``, or ``<split>.statistics.json`` for one split. The statistics are written last: if
    they exist, so does the rest.
    """
    splits, overlaps, case = prepared
    for name, split in splits.items():
        for column, lines in split.bitext.columns().items():
            write_lines(folder / column_file(name, column), lines)
    if "train" in splits:
        write_preparation(folder, preparation, case.recaser())

    recorded = {item.name: getattr(settings, item.name) for item in fields(CorpusSettings)}
    document: dict[str, Any] = {
        "versions": {"itersel": __version__, "sacremoses": version("sacremoses")},
        "settings": recorded | {"cut": settings.cut.by_split},
        "languages": [preparation.words.source_language, preparation.words.target_language],
        "splits": {name: split.statistics for name, split in splits.items()},
        "overlaps": [overlap._asdict() for overlap in overlaps],
    }

    if monolingual is not None:
        lines, empty = monolingual
        write_lines(folder / MONOLINGUAL_FILE, lines)
        document["monolingual"] = {"sentences": len(lines), **count_words(lines), "dropped": {"empty": empty}}

    write_json(folder / statistics_file(settings.split), document, indent=1)


def write_references(
    folder: Path,
    split: str,
    references: Sequence[FilePath],
    languages: tuple[str, str],
    source: FilePath | None = None,
    labels: FilePath | None = None,
    tokenized: bool = False,
) -> None:
    """Write the texts of a split of n-best lists, cleaned, under the names that prepared text has.

    Files are ``<split>.{target,target.1,...,source,labels}.gz`` (those that are given) and, with references,
    ``<split>.statistics.json``; for train also ``preparation.json`` and ``recaser.json``, which leave
    translations as they are. Without `source`, the statistics count no words of it. For `tokenized` see
    `Words`.
    """
    preparation = Preparation(Words(*languages, tokenized), only_cleaned=True)
    paths = dict(zip(reference_columns(len(references)), references, strict=True))
    paths |= {"source": source} if source is not None else {}
    texts = {column: preparation.clean(read_text(path)) for column, path in paths.items()}
    if labels is not None:
        texts["labels"] = read_labels(labels)
        paths["labels"] = labels
    if texts:
        check_line_counts(*((paths[column], lines) for column, lines in texts.items()))

    for column, lines in texts.items():
        write_lines(folder / column_file(split, column), lines)

    if split == "train":
        recaser = Recaser({}, {}, {}, capitalizes=False, language=languages[1])
        write_preparation(folder, preparation, recaser)

    if references:
        target = texts["target"]
        pairs = Bitext(texts.get("source", [""] * len(target)), target, texts.get("labels"))
        statistics = {"versions": {"itersel": __version__}, "splits": {split: describe(pairs, {})}}
        write_json(folder / statistics_file(split), statistics, indent=1)
