"""Check the scores that users have: the numbers of lists, or of the translations of each system."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from itersel.config.experiments import planned_repeats
from itersel.config.messages import wrong
from itersel.config.splits import test_sets
from itersel.config.values import Config
from itersel.errors import attempt_all, suggest


def check_scores(config: Config) -> None:
    """Reject equal names, and scores without a file for each test set."""
    attempt_all(partial(_check_score, config, name) for name in config.evaluation.user_scores)


def _check_score(config: Config, name: str) -> None:
    score = config.evaluation.user_scores[name]
    key = f"evaluation.user_scores.{name}"
    same = [one for one in config.evaluation.user_scores if one.lower() == name.lower()]
    if len(same) > 1:
        raise wrong(key, f": names of scores must differ in more than case, unlike {' and '.join(same)}")

    sets = test_sets(config)
    named = {"list_numbers": score.list_numbers} if score.list_numbers else {}
    named |= {f"system_numbers.{system}": files for system, files in (score.system_numbers or {}).items()}
    for place, files in named.items():
        if len(files) != len(sets):
            each = f"give one for each test set ({', '.join(sets)})"
            raise wrong(f"{key}.{place}", f"names {len(files)} files; {each}")


def check_scores_of_lists(config: Config) -> None:
    """Reject scores without numbers for the lists, from which all experiments choose."""
    attempt_all(partial(_check_score_of_lists, config, name) for name in config.evaluation.user_scores)


def _check_score_of_lists(config: Config, name: str) -> None:
    score = config.evaluation.user_scores[name]
    key = f"evaluation.user_scores.{name}"
    if not score.list_numbers:
        raise wrong(f"{key}.list_numbers", "is missing; data.kind: lists needs it")

    repeats = _compared_repeats(config)
    for system in score.system_numbers or {}:
        if system in repeats:
            why = f"the numbers of experiments are those in '{key}.list_numbers'"
            raise wrong(f"{key}.system_numbers.{system}", f"has no effect: {why}; remove it")
    _check_systems(f"{key}.system_numbers", score.system_numbers or {}, config.evaluation.outputs or {})


def check_scores_of_systems(config: Config) -> None:
    """Reject scores without numbers for all repeats of an experiment, or for lists."""
    attempt_all(partial(_check_score_of_systems, config, name) for name in config.evaluation.user_scores)


def _check_score_of_systems(config: Config, name: str) -> None:
    score = config.evaluation.user_scores[name]
    key = f"evaluation.user_scores.{name}"
    if score.list_numbers:
        raise wrong(
            f"{key}.list_numbers",
            "needs data.kind: lists; give the numbers of each system in 'system_numbers'",
        )
    if not score.system_numbers:
        raise wrong(key, ": names no file; give the numbers of each system in 'system_numbers'")

    repeats = _compared_repeats(config)
    _check_systems(
        f"{key}.system_numbers", score.system_numbers, [*repeats, *(config.evaluation.outputs or {})]
    )

    for system, experiment in repeats.items():
        given = [repeat for repeat in score.system_numbers if repeats.get(repeat) == experiment]
        if given and system not in score.system_numbers:
            why = f"'{given[0]}' is another repeat of the experiment; give the numbers of all its repeats"
            raise wrong(f"{key}.system_numbers.{system}", f"is missing, but {why}")


def _check_systems(key: str, systems: Iterable[str], known: Collection[str]) -> None:
    for system in systems:
        if system not in known:
            listed = f"; known: {', '.join(known) or 'none'}"
            raise wrong(f"{key}.{system}", f": no system has this name{suggest(system, known)}{listed}")


def _compared_repeats(config: Config) -> dict[str, str]:
    """Return the repeats in the table of the systems, with the experiments that they belong to."""
    repeats = planned_repeats(config).items()
    return {folder: one.experiment for folder, one in repeats if one.label is None}
