"""Several runs, for example of other language pairs: each experiment against a baseline, over all runs."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from itersel.config.experiments import expanded, repeat_name
from itersel.config.options import for_results, show
from itersel.config.reading import read_config
from itersel.config.values import Config, Experiment
from itersel.corpus.prepare import read_preparation
from itersel.errors import InputError, checked, located, suggest
from itersel.evaluate.counts import pool_counts, read_counts
from itersel.evaluate.metrics import (
    Metric,
    ReferenceText,
    Sums,
    TextMetric,
    make_bleu,
    read_references,
    read_translations,
)
from itersel.evaluate.names import TOKENIZED_BLEU, TRIALS, sign_of
from itersel.evaluate.significance import (
    SEED,
    Bootstrap,
    Differences,
    Interval,
    mean_difference,
    paired_differences,
    sign_test,
)
from itersel.report.baseline import best_on_devtest, is_experiment
from itersel.report.corpus import read_corpus
from itersel.report.description import read_run, settings_of
from itersel.report.folder import references_of, split_of_test_set, translation_of
from itersel.report.runs_settings import RunSettings, compare_settings, varied_numbers
from itersel.report.scores import Scores, better_than, describe_test
from itersel.report.systems import read_table
from itersel.results import CORPUS, EVALUATION, EXPERIMENTS, PREPARATION, RUN, TABLE
from itersel.storage.arrays import Float64s
from itersel.storage.files import read_lines
from itersel.storage.text_table import Content

# Scores that are recomputed from the counts differ from those in the table by rounding at most.
ROUNDING = 1e-6


class Finished(NamedTuple):
    """A finished run."""

    name: str
    folder: Path
    config: Config
    table: Content
    settings: Content  # what was `recorded` when it last ran
    versions: Mapping[str, str]  # of packages, then
    training_pairs: int | None  # `None` if unknown

    @property
    def scored(self) -> Content:
        """The table of the test set, or of all test sets together."""
        scored: Content = self.table["pooled"] or self.table["test_sets"][0]
        return scored

    @property
    def systems(self) -> dict[str, Content]:
        """The rows of the first test set by name of the experiment."""
        return {system["name"]: system for system in self.table["test_sets"][0]["systems"]}

    def rows(self, by: str) -> dict[str, tuple[Scores, list[str]]]:
        """Return scores and names of the repeats by name of the experiment, or raise an InputError."""
        rows = {row["name"]: row for row in self.scored["systems"]}
        found = {}
        otherwise = f"has no scores by '{by}'; choose another --metric, or run snakemake again"

        with checked(self.folder / TABLE, otherwise):
            for name, row in rows.items():
                score = {"runs": [run["test"]["bleu"] for run in row["runs"]], "p": row["p"]}
                interval = None
                if by != TOKENIZED_BLEU:
                    score = row["scores"][by]
                    interval = Interval(*map(float, score["interval"]))

                p = {other: float(score["p"][other]) for other in rows if other != name}
                repeats = [repeat_name(name, int(run["repeat"])) for run in row["runs"]]
                scores = [float(one) for _, one in zip(repeats, score["runs"], strict=True)]
                found[name] = Scores(tuple(scores), p, interval), repeats
        return found


class Compared(NamedTuple):
    """The experiments of one run, by name, compared with its baseline."""

    baseline: str
    scores: dict[str, Scores]
    differences: dict[str, Differences]  # from the baseline; 0 for itself
    resampled: dict[str, Float64s]  # differences on texts drawn from the test set


def read_runs(folders: Sequence[Path]) -> list[Finished]:
    """Read finished runs from their folders of results.

    A run has the name in its config or, where two names are equal, the path of its folder.
    """
    for number, folder in enumerate(folders):
        if any(folder.resolve() == other.resolve() for other in folders[:number]):
            raise InputError("is given twice; give each run once", folder)

    runs = [_read_run(folder) for folder in folders]
    names = [run.name for run in runs]
    # also different from the titles of the first columns
    if len({*names, "system", "experiment"}) < len(names) + 2:
        names = [str(folder) if len(folder.parts) > 1 else f"./{folder}" for folder in folders]

    for folder, name in zip(folders, names, strict=True):
        if not name.isprintable():
            raise InputError("has control characters in its name; rename the folder", folder)
    return [run._replace(name=name) for run, name in zip(runs, names, strict=True)]


def _read_run(folder: Path) -> Finished:
    table = read_table(folder / TABLE)
    description = read_run(folder)
    if table is None:
        raise InputError(f"has no {TABLE}; name the folder of a finished run, <output>/<name>", folder)
    if not description:
        raise InputError(f"has no {RUN}; run snakemake again to record the config", folder)
    with located(folder / RUN):
        config = expanded(read_config(description["config"]))
        settings = settings_of(description)
    corpus = read_corpus(folder) or {"splits": {}}
    pairs = corpus["splits"].get("train", {}).get("sentences")
    return Finished(config.name, folder, config, table, settings, description.get("versions", {}), pairs)


def compare_runs(
    runs: Sequence[Finished], baselines: Sequence[str], by: str, *, trials: int = TRIALS, seed: int = 1
) -> dict[str, Any]:
    """Compare the experiments that all runs share with a baseline, in each run and over all runs.

    Of several `baselines`, that of a run is the best on its devtest. `by` is `TOKENIZED_BLEU` or one of
    `TABULATED` (`itersel.evaluate.names`). Returns the content of the JSON file, see docs/formats.md.
    """
    shared = _shared_experiments(runs, baselines)
    # the same sentences are exchanged and drawn together: repeating them is no evidence about other text
    texts = _numbers_of_texts(runs)
    compared = [
        _compare(run, shared, baselines, by, trials, (seed, text))
        for run, text in zip(runs, texts, strict=True)
    ]

    everywhere = {name for run in runs for name in run.systems}
    settings = {
        run.name: RunSettings(run.settings, run.versions, run.training_pairs, one.scores)
        for run, one in zip(runs, compared, strict=True)
    }

    return {
        "metric": by,
        "significance": describe_test(trials, seed)
        | {"test": "approximate randomization, two-sided, stratified by run and sentence"},
        "baselines": list(baselines),
        "runs": [
            {
                "name": run.name,
                "sentences": run.scored["sentences"],
                "references": run.scored["references"],
                "signature": run.scored["signature"]
                if by == TOKENIZED_BLEU
                else run.scored["signatures"][by],
                "baseline": one.baseline,
                "text": text,
            }
            for run, one, text in zip(runs, compared, texts, strict=True)
        ],
        "systems": [_describe(number, name, compared, by) for number, name in enumerate(shared, 1)],
        "left_out": {
            name: [run.name for run in runs if name in run.systems] for name in sorted(everywhere - {*shared})
        },
        "settings": compare_settings([*settings.values()], shared),
        "varied": varied_numbers(settings, shared),
    }


def _numbers_of_texts(runs: Sequence[Finished]) -> list[int]:
    """Return a number for each run, the same for runs whose test sets have the same references."""
    digests = [_digest_of_references(run) for run in runs]
    return [digests.index(digest) for digest in digests]


def _digest_of_references(run: Finished) -> bytes:
    """Return a digest of the references of all test sets, however they were tokenised."""
    digest = hashlib.sha256()
    for test_set in run.table["test_sets"]:
        for path in _references(run, test_set["name"]):
            for line in read_lines(path):
                digest.update(f"{''.join(line.split()).lower()}\n".encode())
            digest.update(b"\0")
    return digest.digest()


def _references(run: Finished, test_set: str) -> list[Path]:
    found = references_of(run.folder / CORPUS, split_of_test_set(test_set))
    if not found:
        raise InputError(f"has no references of '{test_set}'; run snakemake again", run.folder)
    return found


def _shared_experiments(runs: Sequence[Finished], baselines: Sequence[str]) -> list[str]:
    """Return the experiments that all runs have, in the order of the first run, with the same settings."""
    first = runs[0]
    shared = [name for name in first.systems if all(name in run.systems for run in runs)]

    for name in baselines:
        if name not in shared:
            known = f"these have {', '.join(shared)}" if shared else "they share no experiment"
            raise InputError(f"not all runs have the baseline '{name}'{suggest(name, shared)}; {known}")
    if len(shared) < 2:
        raise InputError(f"the runs share no experiment other than '{shared[0]}'; compare more experiments")

    for run in runs[1:]:
        for name in shared:
            mine, theirs = (_of_results(one.config.experiments.get(name)) for one in (run, first))
            for key, value, other in _setting_differences(mine, theirs):
                raise InputError(
                    f"'{name}' has other settings than in {first.folder}: {key or 'all'} is {_shown(value)}, "
                    f"there {_shown(other)}; give experiments with other settings other names",
                    run.folder,
                )

    return shared


def _of_results(experiment: Experiment | None) -> Experiment | None:
    """Return an experiment with defaults for what may differ: its seed, and keys that change no result."""
    return None if experiment is None else replace(for_results(experiment), seed=None)


def _setting_differences(one: Any, other: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield key, value and other value of all settings in which two sections differ."""
    if not (is_dataclass(one) and type(one) is type(other)):
        if one != other:
            yield key, one, other
        return
    for item in fields(one):
        value, another = getattr(one, item.name), getattr(other, item.name)
        yield from _setting_differences(value, another, f"{key}.{item.name}" if key else item.name)


def _shown(value: object) -> str:
    return type(value).__name__ if is_dataclass(value) else show(value)


def _compare(
    run: Finished,
    shared: Sequence[str],
    baselines: Sequence[str],
    by: str,
    trials: int,
    seed: tuple[int, int],
) -> Compared:
    """Compare all experiments of a run with its baseline; `seed` includes the number of its text."""
    rows = run.rows(by)
    scores = {name: rows[name][0] for name in shared}

    baseline = baselines[0]
    if len(baselines) > 1:
        candidates = [run.systems[name] for name in baselines]
        if not all(map(is_experiment, candidates)):
            raise InputError("only experiments have scores on devtest to choose a baseline by", run.folder)
        baseline = best_on_devtest(candidates)["name"]

    count: Callable[[str], tuple[Metric, Sums]] = partial(_read_counts, run, name=by)
    if by == TOKENIZED_BLEU:
        # the references are tokenised once for all systems
        count = partial(_count_tokenized, run, test_sets=_tokenized_test_sets(run))
    counted = {name: _counts(run, *rows[name], count) for name in shared}
    metric = counted[baseline][0]
    counts = {name: repeats for name, (_, repeats) in counted.items()}

    pairs = [(name, baseline) for name in counts if name != baseline]
    found = paired_differences([metric], [counts], pairs, trials, seed)
    differences = {name: one for (name, _), [one] in zip(pairs, found, strict=True)}
    bootstrap = Bootstrap(len(counts[baseline][0]), (SEED, seed[1]))
    means = {name: bootstrap.means(metric, repeats) for name, repeats in counts.items()}

    return Compared(
        baseline,
        scores,
        differences | {baseline: Differences(0.0, np.zeros(trials))},
        {name: means[name] - means[baseline] for name in shared},
    )


def _counts(
    run: Finished, scores: Scores, repeats: list[str], count: Callable[[str], tuple[Metric, Sums]]
) -> tuple[Metric, list[Sums]]:
    """Return the metric, and the counts of each repeat of an experiment, which must give its scores."""
    counted = [count(repeat) for repeat in repeats]
    for repeat, (metric, counts), score in zip(repeats, counted, scores.repeats, strict=True):
        if abs(metric.score(counts) - score) > ROUNDING:
            raise InputError(
                f"{repeat} has another score than in the table; run snakemake again", run.folder / TABLE
            )
    return counted[0][0], [counts for _, counts in counted]


def _read_counts(run: Finished, repeat: str, name: str) -> tuple[Metric, Sums]:
    """Return a metric of detokenised text, and the counts of all test sets."""
    folders = [run.folder / EVALUATION / one["name"] / "counts" for one in run.table["test_sets"]]
    counts = pool_counts([read_counts(folder / f"{repeat}.h5").counts for folder in folders])
    return next(item for item in counts.items() if item[0].name == name)


class _TestSet(NamedTuple):
    """A test set with tokenised references."""

    name: str
    metric: TextMetric
    references: Sequence[ReferenceText]
    file: Path  # the first of the references


def _tokenized_test_sets(run: Finished) -> list[_TestSet]:
    """Return the test sets of a run for tokenised BLEU."""
    found = []
    for name in (one["name"] for one in run.table["test_sets"]):
        paths = _references(run, name)
        lines = read_references(paths)
        found.append(_TestSet(name, make_bleu(lines, run.config.evaluation.tokenize), lines, paths[0]))
    return found


def _count_tokenized(run: Finished, repeat: str, test_sets: Sequence[_TestSet]) -> tuple[Metric, Sums]:
    """Return BLEU of tokenised text, and the counts of all test sets."""
    folder = run.folder / EXPERIMENTS / repeat
    counts = []
    is_output = repeat in run.systems and not is_experiment(run.systems[repeat])

    for name, metric, references, file in test_sets:
        plain = run.folder / EVALUATION / name / f"{repeat}.txt"
        path = plain if is_output else translation_of(folder, name)
        if not path:
            raise InputError(f"has no translations of '{name}'; run snakemake again", folder)

        text = read_translations(path, references, file)
        if is_output:
            # it is plain text
            text = read_preparation(run.folder / PREPARATION).cleaned_target(text)
        counts.append(metric.counts(text))

    return test_sets[0].metric, np.vstack(counts)


def _describe(number: int, name: str, compared: Sequence[Compared], by: str) -> dict[str, Any]:
    observed = [run.differences[name].observed for run in compared]
    mean = mean_difference([run.differences[name] for run in compared])
    sign = sign_of(by)
    ahead, behind = sum(sign * one > 0 for one in observed), sum(sign * one < 0 for one in observed)
    is_baseline = [run.baseline == name for run in compared]

    overall = {
        "mean": mean.observed,
        "interval": Interval.of(np.mean([run.resampled[name] for run in compared], axis=0)),
        "error": statistics.stdev(observed) / math.sqrt(len(observed)) if len(observed) > 1 else None,
        "p": mean.p,
        "ahead": ahead,
        "behind": behind,
        "sign_p": sign_test(ahead, behind),
    }

    return {
        "system": number,
        "name": name,
        "runs": [
            {
                **run.scores[name].summary._asdict(),
                "repeats": run.scores[name].repeats,
                "better_than": better_than(run.scores, name, sign),
                "difference": None if is_own else one,
                "interval": None if is_own else Interval.of(run.resampled[name]),
                "p": None if is_own else run.scores[name].p[run.baseline],
            }
            for run, one, is_own in zip(compared, observed, is_baseline, strict=True)
        ],
        "difference": None if all(is_baseline) else overall,
    }
