"""The texts of a run that learns from n-best lists: references as they are, with labels and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from itersel import __version__
from itersel.corpus.columns import read_labels, reference_columns
from itersel.corpus.prepare import Preparation
from itersel.corpus.recase import Recaser
from itersel.corpus.statistics import describe
from itersel.corpus.text import Bitext, check_line_counts, read_text
from itersel.errors import FilePath
from itersel.storage.files import write_lines
from itersel.storage.json_files import write_json


def write_references(
    folder: Path,
    split: str,
    references: Sequence[FilePath],
    languages: tuple[str, str],
    source: FilePath | None = None,
    task: FilePath | None = None,
) -> None:
    """Write the texts of a split under the names that prepared text has.

    Files are ``<split>.{target,target.1,...,source,task}.gz`` (those that are given) and, with references,
    ``<split>.statistics.json``; for train also ``preparation.json`` and ``recaser.json``, which leave
    translations as they are. Without `source`, the statistics count no words of it.
    """
    paths = dict(zip(reference_columns(len(references)), references, strict=True))
    paths |= {"source": source} if source is not None else {}
    texts = {column: read_text(path) for column, path in paths.items()}
    if task is not None:
        texts["task"], paths["task"] = read_labels(task), task
    if texts:
        check_line_counts(*((paths[column], lines) for column, lines in texts.items()))
    for column, lines in texts.items():
        write_lines(folder / f"{split}.{column}.gz", lines)
    if split == "train":
        Preparation(*languages, tokenized=True).write(folder / "preparation.json")
        Recaser({}, {}, {}, capitalizes=False, language=languages[1]).write(folder / "recaser.json")
    if references:
        target = texts["target"]
        pairs = Bitext(texts.get("source", [""] * len(target)), target, texts.get("task"))
        statistics = {"versions": {"itersel": __version__}, "splits": {split: describe(pairs, {})}}
        write_json(folder / f"{split}.statistics.json", statistics, indent=1)
