"""Read the lists and numbers that a config names, to check and describe them, for ``itersel config check``.

This is above the checks in `itersel.config`, which cannot read lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from itersel.config.file_checks import Size, check_outputs, check_shards, given_splits
from itersel.config.splits import test_sets, texts_of
from itersel.config.values import Config
from itersel.corpus.text import check_line_counts, read_text
from itersel.errors import FilePath
from itersel.lists.lines import listed_translations
from itersel.lists.numbers import read_numbers, read_user_score_numbers
from itersel.lists.summary import summarise
from itersel.plan.list_texts import LEARNED_FROM


def describe_lists(config: Config) -> Iterator[str]:
    """Check all lists and references of a config, and yield a line about each split.

    Raises the first error in them, or an error for an experiment with more shards than sentences, or for an
    output of another system or numbers of a score that do not fit their test set.
    """
    sizes: dict[str, Size] = {}
    sentence_counts: dict[str, int] = {}
    translation_counts: dict[str, int] = {}

    for split in given_splits(config):
        text = texts_of(config, split)[""]
        references: dict[FilePath, list[str]] = {path: read_text(path) for path in text.target}
        if references:
            check_line_counts(*references.items())
        lines = next(map(len, references.values()), None)

        found = summarise(listed_translations(text.lists), text.lists, lines)
        sentences = found.sentence_count
        translations = found.sentence.shape[0]
        sizes[split] = Size({1: sentences})
        sentence_counts[split] = sentences
        translation_counts[split] = translations

        dense = found.features.dense(config.data.dense_names, text.lists[0])
        if text.quality:
            _check_quality(text.quality, split, translations)

        named = f"{len(dense)} dense features ({', '.join(dense)})"
        yield f"{split}: {sentences:,} sentences, {translations:,} translations, {named}"

    for name in config.experiments:
        check_shards(config, name, sizes)
    check_outputs(config, sizes)
    check_user_scores(config, sentence_counts, translation_counts)


def _check_quality(path: str, split: str, translation_count: int) -> None:
    """Reject numbers that do not fit the translations or, if they are learned from, cannot be scaled."""
    numbers = read_numbers(path)
    if split in LEARNED_FROM:
        numbers.check_quality(translation_count)
    else:
        numbers.check_count(translation_count)


def check_user_scores(
    config: Config, sentence_counts: Mapping[str, int], translation_counts: Mapping[str, int] | None = None
) -> None:
    """Reject files without a number for each sentence of a test set, or each translation in its lists.

    Counts are by split; where one is not known yet, only the lines are checked.
    """
    for score in config.evaluation.user_scores.values():
        for place, split in enumerate(test_sets(config).values()):
            if score.list_numbers:
                _check(score.list_numbers[place], (translation_counts or {}).get(split))
            for files in (score.system_numbers or {}).values():
                _check(files[place], sentence_counts.get(split))


def _check(path: str, count: int | None) -> None:
    numbers = read_user_score_numbers(path)
    if count is not None:
        numbers.check_count(count)
