"""The mean quality of translations chosen from n-best lists, by which an epoch is chosen on devtest."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from itersel.corpus.labels import lines_of, read_labels
from itersel.corpus.prepare import read_preparation
from itersel.errors import FilePath
from itersel.lists.lookup import numbers_of_chosen, rows_of_chosen
from itersel.lists.numbers import read_numbers
from itersel.storage.files import read_lines


def mean_quality(
    translations: Sequence[FilePath],
    lists: Sequence[FilePath],
    quality: FilePath,
    preparation: FilePath,
    labels: FilePath | None = None,
    task: str | None = None,
) -> tuple[float, ...]:
    """Return the mean quality of each translation of a text: of all lines, or of those of a task.

    `quality` is a file with a number for each translation in the `lists`, which are cleaned as the
    `preparation` says.
    """
    texts = {path: dict(enumerate(read_lines(path))) for path in translations}
    if labels is not None and task is not None:
        count = len(texts[translations[0]])
        lines = lines_of(read_labels(labels, count, translations[0]), [task])
        texts = {path: {line: text[line] for line in lines} for path, text in texts.items()}

    # before the lists, which take longest
    numbers, prepared = read_numbers(quality), read_preparation(preparation)
    rows, count = rows_of_chosen(lists, texts, lambda text: prepared.clean([text])[0])
    found = numbers_of_chosen(numbers, rows, count)
    # exact sums: the same on all processors
    return tuple(fmean(found[path].tolist()) for path in translations)
