"""Compare all systems on one or more test sets and, if there are several, on all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np

from itersel.config.experiments import repeat_name
from itersel.config.report_steps import ScoredTestSet
from itersel.corpus.prepare import read_preparation
from itersel.corpus.text_names import FIRST_ENTRIES, POOLED
from itersel.errors import FilePath, InputError
from itersel.evaluate.compare import own_metric
from itersel.evaluate.counts import Counts, pool_counts, read_counts_of
from itersel.evaluate.metrics import Metric, ReferenceText, Sums, read_references, read_translations
from itersel.evaluate.names import DEFAULT_TOKENIZER, TOKENIZED_BLEU, TRIALS
from itersel.report.own_scores import Text, read_own_scores
from itersel.report.scores import (
    ExperimentScore,
    describe_score,
    describe_test,
    numbers_of,
    score_counts,
    score_tokens,
    summarize,
)
from itersel.system.chosen import OF_ALL_REPEATS, ChosenSystem, differing_attribute, read_system

Item = TypeVar("Item")


@dataclass(frozen=True)
class Output:
    """The output of another system, of which only the name is known."""

    name: str
    repeat: int = 1


class Translations(NamedTuple):
    """The translations of a test set by all systems."""

    name: str
    systems: Sequence[
        ChosenSystem | Output
    ]  # experiments at the epochs chosen for this test set, then others
    translations: Sequence[Sequence[str]]
    references: Sequence[ReferenceText]
    counts: Sequence[Counts] = ()  # of the detokenised translations; empty if these are not scored
    # of the user's own scores that a system has, by name; empty if there are none
    own: Sequence[Mapping[str, Sums]] = ()


def read_test_set(name: str, files: ScoredTestSet, preparation: FilePath | None = None) -> Translations:
    """Read a test set and its translations by all systems.

    Those of other systems are plain text, which has been cleaned, and needs the `preparation` of the training
    corpus.
    """
    if not files.references:
        raise InputError(f"test set '{name}' has no reference; name its file")
    if len(files.systems) != len(files.translations):
        given = f"{len(files.systems)} systems, but {len(files.translations)} translations"
        raise InputError(f"{given}; give one of each")
    count = len(files.systems) + len(files.outputs)
    if files.counts and count != len(files.counts):
        raise InputError(f"{count} systems, but {len(files.counts)} counts; give one of each")

    systems = [read_system(path) for path in files.systems]
    for (experiment, repeat), count in Counter((one.name, one.repeat) for one in systems).items():
        if count > 1:
            raise InputError(f"{count} systems are repeat {repeat} of '{experiment}'; compare different ones")

    first: dict[str, ChosenSystem] = {}
    for system in systems:
        one = first.setdefault(system.name, system)
        if key := differing_attribute(one, system):
            raise InputError(f"repeats of '{one.name}' differ in {key}; compare repeats of one experiment")

    others = _others(files.outputs, first)
    references = read_references(files.references)
    paths = [*files.translations, *files.outputs.values()]
    texts = [read_translations(path, references, files.references[0]) for path in paths]
    counted = read_counts_of(files.counts, texts, paths, len(references)) if files.counts else []

    every: list[ChosenSystem | Output] = [*systems, *others]
    own: list[dict[str, Sums]] = []
    if files.scores:
        names = [repeat_name(one.name, one.repeat) for one in every]
        found = read_own_scores(files, dict(zip(names, map(Text, paths, texts), strict=True)), preparation)
        own = [found[name] for name in names]

    if preparation is not None:
        prepare = read_preparation(preparation).cleaned_target
        texts[len(systems) :] = map(prepare, texts[len(systems) :])

    # what has to be beaten comes first
    order = sorted(range(len(every)), key=lambda place: every[place].name != FIRST_ENTRIES)
    return Translations(
        name,
        [every[place] for place in order],
        [texts[place] for place in order],
        references,
        [counted[place] for place in order if counted],
        [own[place] for place in order if own],
    )


def _others(names: Collection[str], experiments: Collection[str]) -> list[Output]:
    """Return the other systems, which must have names of their own."""
    for name in names:
        if not name.isprintable():
            raise InputError(f"outputs: {name!a} has control characters; choose another name")
        if name in experiments:
            raise InputError(f"outputs: '{name}' is the name of an experiment; choose another")
    return [Output(name) for name in names]


def compare_systems(
    test_sets: Sequence[Translations],
    *,
    tokenize: str = DEFAULT_TOKENIZER,
    trials: int = TRIALS,
    seed: int = 1,
) -> dict[str, Any]:
    """Compare systems on one or more test sets, and on all sentences together, which weigh the same.

    All test sets have the same systems in the same order; those with the same name are repeats of one
    experiment. Returns the content of table.json, see docs/formats.md. Raises an `InputError` if two test
    sets have the same name, or different systems.
    """
    first, repeats = test_sets[0], [(system.name, system.repeat) for system in test_sets[0].systems]

    for number, one in enumerate(test_sets):
        if one.name in {other.name for other in test_sets[:number]}:
            raise InputError(f"two test sets are named '{one.name}'; rename one of them")
        if [(system.name, system.repeat) for system in one.systems] != repeats:
            raise InputError(
                f"test sets '{first.name}' and '{one.name}' have different systems; give the same systems in "
                "the same order"
            )

    how = (tokenize, trials, seed)
    return {
        "significance": describe_test(trials, seed),
        "test_sets": [_score(one, *how) for one in test_sets],
        "pooled": _score(_pool(test_sets), *how) if len(test_sets) > 1 else None,
    }


def _score(test_set: Translations, tokenize: str, trials: int, seed: int) -> dict[str, Any]:
    """Return the content of table.json for a test set, or for all of them together."""
    systems = test_set.systems
    texts = _by_name(systems, test_set.translations)
    metric, of_tokens = score_tokens(texts, test_set.references, tokenize, trials, seed)

    scores = {metric: of_tokens}
    if test_set.counts:
        scores |= score_counts(_by_name(systems, test_set.counts), trials, seed)
    if test_set.own:
        scores |= _own_scores(_by_name(systems, test_set.own), trials, seed)

    numbers = numbers_of(texts)
    described = []
    for name, repeats in _by_name(systems, systems).items():
        row = {
            "system": numbers[name],
            **{key: getattr(repeats[0], key, None) for key in OF_ALL_REPEATS},
            **_describe_repeats(repeats, is_pooled=test_set.name == POOLED),
            "scores": {
                metric.name: describe_score(of_systems, name, metric.name, numbers)
                for metric, of_systems in scores.items()
                if name in of_systems
            },
        }
        described.append(row)

    return {
        "name": test_set.name,
        "sentences": len(test_set.references[0]),
        "references": len(test_set.references),
        "signatures": {metric.name: metric.signature for metric in scores},
        "systems": described,
    }


def _own_scores(
    own: Mapping[str, Sequence[Mapping[str, Sums]]], trials: int, seed: int
) -> dict[Metric, dict[str, ExperimentScore]]:
    """Compare the systems that have them by each of the user's own scores."""
    found: dict[Metric, dict[str, ExperimentScore]] = {}
    for score in dict.fromkeys(chain.from_iterable(one for repeats in own.values() for one in repeats)):
        metric = own_metric(score)
        counted = {
            name: [{metric: one[score]} for one in repeats]
            for name, repeats in own.items()
            if all(score in one for one in repeats)
        }
        if counted:
            found |= score_counts(counted, trials, seed)
    return found


def _describe_repeats(repeats: Sequence[ChosenSystem | Output], is_pooled: bool) -> dict[str, Any]:
    """Return what a row of table.json says of the repeats of a system, and of their scores on devtest."""
    if is_pooled:
        # epochs may differ between test sets
        return {"repeats": [{"repeat": one.repeat} for one in repeats]}

    described = [
        {key: value for key, value in asdict(one).items() if key not in (*OF_ALL_REPEATS, "settings")}
        for one in repeats
    ]
    chosen = [one for one in repeats if isinstance(one, ChosenSystem)]
    return {"devtest": _describe_devtest(chosen) if chosen else None, "repeats": described}


def _describe_devtest(repeats: Sequence[ChosenSystem]) -> dict[str, Any]:
    """Return the scores of an experiment on devtest at the chosen epochs, by metric."""
    reached = {
        TOKENIZED_BLEU: [one.devtest_bleu[one.epoch - 1] for one in repeats],
        repeats[0].chosen_by: [one.devtest_scores[one.epoch - 1] for one in repeats],
    }
    return {metric: summarize(scores)._asdict() for metric, scores in reached.items()}


def _by_name(systems: Sequence[ChosenSystem | Output], items: Sequence[Item]) -> dict[str, list[Item]]:
    """Group the items, one per system, by the name of the experiment."""
    by_name: dict[str, list[Item]] = {}
    for system, item in zip(systems, items, strict=True):
        by_name.setdefault(system.name, []).append(item)
    return by_name


def _pool(test_sets: Sequence[Translations]) -> Translations:
    return Translations(
        POOLED,
        test_sets[0].systems,
        [list(chain(*texts)) for texts in zip(*(one.translations for one in test_sets), strict=True)],
        _joined_references([one.references for one in test_sets]),
        [pool_counts(counts) for counts in zip(*(one.counts for one in test_sets), strict=True)],
        [_pool_own(own) for own in zip(*(one.own for one in test_sets), strict=False)],
    )


def _pool_own(parts: Sequence[Mapping[str, Sums]]) -> dict[str, Sums]:
    """Concatenate the counts of the scores that a system has for all test sets."""
    return {
        name: np.vstack([part[name] for part in parts])
        for name in parts[0]
        if all(name in part for part in parts)
    }


def _joined_references(sets: Sequence[Sequence[ReferenceText]]) -> list[list[str | None]]:
    """Return the references of all test sets; `None` where a test set has fewer than others."""
    joined: list[list[str | None]] = [[] for _ in range(max(map(len, sets)))]
    for references in sets:
        for lines, own in zip_longest(joined, references):
            lines.extend(own or [None] * len(references[0]))
    return joined
