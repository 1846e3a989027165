"""The settings in which several runs differ, and scores against those that are numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from itersel.report.runs_content import RunsSettings, VariedNumber, VariedPoint, VariedSeries
from itersel.report.settings import as_texts, compare_keys, leaves
from itersel.report.table_content import Score
from itersel.storage.text_table import Content

# The number of training pairs, which is not a key, but follows from keys and files.
PAIRS = "training pairs"
# Keys of the place of a run.
LOCATION_KEYS = ("name", "output", "cache")
# The settings of experiments, and packages with other versions.
EXPERIMENTS_KEY, VERSIONS = "experiments", "versions"
# Keys that explain no difference: they change no score of an experiment, or only the number of its repeats.
NO_REASON = re.compile(
    r"report\..*|evaluation\.(trials|outputs|user_scores)(\..*)?|data\.max_line_bytes|repeats"
)
# Numbers that are not amounts.
NO_AMOUNT = re.compile(r"(.*\.)?seed|data\.(?!max_length$|max_ratio$).*")
# Keys that determine the number of training pairs: runs on parts of a text name other files.
OF_PAIRS = re.compile(r"data\.max_train|data\.train\..*")
# Keys of the preparation, which change the number of training pairs, too.
OF_TEXT = re.compile(r"data\..*")


class RunSettings(NamedTuple):
    """The settings of a finished run, and what is known of the scores of its experiments."""

    settings: Content  # what the run `recorded`
    versions: Mapping[str, str]  # of packages
    training_pairs: int | None  # `None` if unknown
    scores: Mapping[str, Score]  # of its experiments


def compare_settings(runs: Sequence[RunSettings], shared: Sequence[str]) -> RunsSettings:
    """Return the keys in which runs differ, with the values in each run, and the others with their value.

    The settings of the `shared` experiments are included; ``experiments`` are those of the first run. Other
    systems that runs share have no settings.
    """
    shared = _with_settings(runs, shared)
    columns = []
    for run in runs:
        of_experiments = {name: _with_own_seed(run, _experiment(run, name)) for name in shared}
        versions = {f"{VERSIONS}.{name}": one for name, one in run.versions.items()}
        columns.append(as_texts(_of_run(run)) | versions | as_texts({EXPERIMENTS_KEY: of_experiments}))

    differing, common = compare_keys(columns)
    texts = [as_texts(_experiment(runs[0], name)) for name in shared]
    keys, same = compare_keys(texts)

    return {
        "differing": differing,
        "common": [row for row in common if not row[0].startswith(f"{EXPERIMENTS_KEY}.")],
        "experiments": {"systems": list(shared), "differing": keys, "common": same},
    }


def _of_run(run: RunSettings) -> dict[str, Any]:
    return {key: one for key, one in run.settings.items() if key not in (*LOCATION_KEYS, EXPERIMENTS_KEY)}


def _with_settings(runs: Collection[RunSettings], names: Sequence[str]) -> list[str]:
    """Return the experiments among systems that all runs have; the runs did not train the others."""
    return [name for name in names if any(_experiment(run, name) for run in runs)]


def _experiment(run: RunSettings, name: str) -> Content:
    found: Content = run.settings.get(EXPERIMENTS_KEY, {}).get(name, {})
    return found


def varied_numbers(runs: Mapping[str, RunSettings], shared: Sequence[str]) -> list[VariedNumber]:
    """Return the numbers in which runs or experiments differ, each with series of scores.

    All other settings of a series are the same.
    """
    shared = _with_settings(runs.values(), shared)
    of_runs = {name: _reasons(_of_run(run)) | {PAIRS: run.training_pairs} for name, run in runs.items()}
    found: list[VariedNumber] = [
        {"key": key, "series": [series for name in shared for series in _over_runs(runs, name, groups)]}
        for key, groups in _groups(of_runs)
    ]

    first = next(iter(runs.values()))
    of_experiments = {name: _reasons(_experiment(first, name)) for name in shared}
    for key, groups in _groups(of_experiments):
        series = [
            one for name, run in runs.items() for one in _over_experiments(name, run, groups, len(runs))
        ]
        found.append({"key": key, "series": series})

    return found


def differing_keys(settings: Content, others: Content, experiment: str) -> list[tuple[str, list[str]]]:
    """Return the keys of results in which an experiment differs between two runs, with both values as text.

    Its seed, and the number of its repeats, may differ. That it uses no templates is null in runs of earlier
    versions.
    """
    columns = [as_texts(one[EXPERIMENTS_KEY].get(experiment, {})) for one in (settings, others)]
    differing, _ = compare_keys(columns)
    return [
        (key, values)
        for key, values in differing
        if key not in ("seed", "repeats") and not (key == "templates" and {*values} == {"null", "[]"})
    ]


def _with_own_seed(run: RunSettings, experiment: Content) -> dict[str, Any]:
    """Return the settings of an experiment, with a seed only if it is not that of the run."""
    has_own = experiment.get("seed") != run.settings.get("seed")
    return {key: one for key, one in experiment.items() if key != "seed" or has_own}


def _reasons(settings: Content) -> dict[str, Any]:
    return {key: value for key, value in leaves(settings) if not NO_REASON.fullmatch(key)}


Groups = list[dict[str, float]]


def _groups(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Groups]]:
    """Yield each number in which columns differ, and its values by column for groups that agree otherwise."""
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    for key in keys:
        known: dict[str, float] = {
            name: column[key] for name, column in columns.items() if _is_number(column.get(key))
        }
        if NO_AMOUNT.fullmatch(key) or len({*known.values()}) < 2:
            continue

        groups: dict[str, dict[str, float]] = {}
        for name, value in known.items():
            others = {other: setting for other, setting in columns[name].items() if not _follows(other, key)}
            groups.setdefault(repr(sorted(others.items())), {})[name] = value

        varied = [group for group in groups.values() if len({*group.values()}) > 1]
        if varied:
            yield key, [dict(sorted(group.items(), key=lambda item: item[1])) for group in varied]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _follows(other: str, key: str) -> bool:
    """Return whether another key follows from the one whose numbers are compared, or the other way round."""
    if key == PAIRS:
        return other == PAIRS or bool(OF_PAIRS.fullmatch(other))
    return other == key or (other == PAIRS and bool(OF_TEXT.fullmatch(key)))


def _over_runs(runs: Mapping[str, RunSettings], experiment: str, groups: Groups) -> Iterator[VariedSeries]:
    for group in groups:
        label = f"{experiment}: {', '.join(group)}" if len(groups) > 1 else experiment
        yield _series(label, [(value, run, experiment) for run, value in group.items()], runs)


def _over_experiments(
    run: str, settings: RunSettings, groups: Groups, number_of_runs: int
) -> Iterator[VariedSeries]:
    for group in groups:
        label = common_name(list(group))
        label = f"{run}: {label}" if number_of_runs > 1 else label
        yield _series(label, [(value, run, name) for name, value in group.items()], {run: settings})


def _series(
    label: str, points: Sequence[tuple[float, str, str]], runs: Mapping[str, RunSettings]
) -> VariedSeries:
    described: list[VariedPoint] = []
    for value, run, experiment in points:
        scores = runs[run].scores[experiment]
        point: VariedPoint = {
            "value": value,
            "run": run,
            "experiment": experiment,
            "score": scores.mean,
            "interval": scores.interval,
        }
        described.append(point)
    return {"name": label, "points": described}


def common_name(names: Sequence[str]) -> str:
    """Return what names have in common, with "…" for other parts; all names if that is nothing.

    >>> common_name(["train-rate-0.1-k-50", "train-rate-0.3-k-50"])
    'train-rate-…-k-50'
    """
    parts = [name.split("-") for name in names]
    if len({*map(len, parts)}) == 1:
        shared = [same[0] if len({*same}) == 1 else "…" for same in zip(*parts, strict=True)]
        if any(part != "…" for part in shared):
            return "-".join(shared)
    return ", ".join(names)
