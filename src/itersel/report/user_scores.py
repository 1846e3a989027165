"""The numbers that users have for translations of a test set, such as COMET, as the counts of a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from itersel.config.report_steps import ScoredTestSet, UserScoreNumbers
from itersel.corpus.prepare import read_preparation
from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.errors import FilePath, InputError, suggest
from itersel.evaluate.compare import user_score_counts
from itersel.evaluate.formulas import Sums
from itersel.lists.lookup import find_texts
from itersel.lists.numbers import Numbers, read_user_score_numbers
from itersel.storage.arrays import Float64s


class Text(NamedTuple):
    """A translation of a test set."""

    path: FilePath
    lines: Sequence[str]


def read_user_scores(
    files: ScoredTestSet, texts: Mapping[str, Text], preparation: FilePath | None
) -> dict[str, dict[str, Sums]]:
    """Return the counts of the user's own scores, by system and score; systems may lack some.

    `texts` are the translations by all repeats and other systems, before these are prepared. With lists, the
    repeats and the first entries are choices from them.
    """
    for name, score in files.user_scores.items():
        for system in score.system_numbers:
            if system not in texts:
                why = f"no system has this name{suggest(system, texts)}"
                raise InputError(f"user_scores: {name} has numbers for '{system}', but {why}")

    # numbers are read before the lists, which take longest
    listed = {
        name: read_user_score_numbers(score.list_numbers)
        for name, score in files.user_scores.items()
        if score.list_numbers
    }
    found = {name: _of_systems(score, texts) for name, score in files.user_scores.items()}
    for name, numbers in _of_lists(files, listed, texts, preparation).items():
        found[name] |= numbers

    return {
        system: {
            name: user_score_counts(numbers[system]) for name, numbers in found.items() if system in numbers
        }
        for system in texts
    }


def _of_systems(score: UserScoreNumbers, texts: Mapping[str, Text]) -> dict[str, Float64s]:
    return {
        system: read_user_score_numbers(path).of_translations(len(texts[system].lines))
        for system, path in score.system_numbers.items()
    }


def _of_lists(
    files: ScoredTestSet,
    listed: Mapping[str, Numbers],
    texts: Mapping[str, Text],
    preparation: FilePath | None,
) -> dict[str, dict[str, Float64s]]:
    """Return the numbers of translations that were chosen from lists, by score and system."""
    if not listed:
        return {}
    if not files.lists or preparation is None:
        raise InputError("user_scores: 'list_numbers' need 'lists' and --preparation")

    prepared = read_preparation(preparation)
    others = files.outputs.keys() - {FIRST_ENTRIES}
    chosen = {system: text for system, text in texts.items() if system not in others}
    wanted = {pair for text in chosen.values() for pair in enumerate(text.lines)}
    found = find_texts(files.lists, prepared.clean_line, lambda sentence, line: (sentence, line) in wanted)

    rows = {
        system: found.rows(text.path, range(len(text.lines)), text.lines) for system, text in chosen.items()
    }
    by_score = {name: numbers.of_translations(found.translation_count) for name, numbers in listed.items()}
    return {
        name: {system: numbers[place] for system, place in rows.items()} for name, numbers in by_score.items()
    }
