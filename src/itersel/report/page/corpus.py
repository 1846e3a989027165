"""What the pages show of the corpora of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from itersel.report.page.folder import read_optional
from itersel.results import CORPUS_TABLE
from itersel.storage.json_files import check_numbers, check_texts

NO_CORPUS = "is not a table of corpora; make it with 'itersel step corpora'"


def read_corpus(results: Path) -> Any:
    """Return the table of the corpora of a run; None if it does not exist yet."""
    return read_optional(results / CORPUS_TABLE, _check_corpus, NO_CORPUS)


def _check_corpus(corpus: Any) -> None:
    """Raise an error of Python unless this is what the page shows of the corpora."""
    for split in corpus["splits"].values():
        tokens = [split[side]["tokens"] for side in ("source", "target")]
        counts = [split["sentences"], split["rules"], *split["dropped"].values(), *tokens]
        check_numbers(count for count in counts if count is not None)

    for one in corpus["left_out"]:
        check_texts((one["of"], one["why"]))
        check_numbers((one["count"],))
