"""Write corpora and test sets downloaded by other packages as files with one sentence per line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

from itersel.corpus.mtdata_text import fetch_corpus
from itersel.corpus.sacrebleu_text import fetch_test_set
from itersel.corpus.text import Bitext
from itersel.storage.files import open_output, write_lines


def fetch_mtdata(names: Sequence[str], source_language: str, target_language: str, output: Path) -> int:
    """Write mtdata datasets to ``source.gz``, ``target.gz`` and ``statistics.json`` in `output`.

    Returns
    -------
    int
        The number of pairs.

    Raises
    ------
    InputError
        See `fetch_corpus`.
    """
    dropped: Counter[str] = Counter()
    pairs = 0
    blocks: Iterator[Bitext] = fetch_corpus(names, source_language, target_language, dropped)
    with ExitStack() as files:
        # the files are opened only after the first block, which raises if there is nothing to write
        for block in blocks:
            if not pairs:
                source, target = (
                    files.enter_context(open_output(output / f"{side}.gz")) for side in ("source", "target")
                )
            source.writelines(f"{line}\n" for line in block.source)
            target.writelines(f"{line}\n" for line in block.target)
            pairs += block.size
    _write_statistics(output, "mtdata", [*names], pairs, {"dropped": dict(dropped)})
    return pairs


def fetch_sacrebleu(name: str, source_language: str, target_language: str, output: Path) -> int:
    """Write a sacrebleu test set to ``source.gz``, ``target.gz``, ``target.1.gz`` and so on.

    Returns
    -------
    int
        The number of sentences.

    Raises
    ------
    InputError
        See `fetch_test_set`.
    """
    found = fetch_test_set(name, source_language, target_language)
    for column, lines in found.columns().items():
        write_lines(output / f"{column}.gz", lines)
    _write_statistics(output, "sacrebleu", [name], found.size, {})
    return found.size


def _write_statistics(
    output: Path, package: str, names: list[str], pairs: int, further: dict[str, Any]
) -> None:
    with open_output(output / "statistics.json") as stream:
        document = {"packages": {package: version(package)}, "datasets": names, "pairs": pairs, **further}
        json.dump(document, stream, indent=1)
        stream.write("\n")
