"""Rough estimates of what a run costs, from the sizes of the texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from itersel.config.experiments import expanded
from itersel.config.splits import test_set_devtests, test_sets
from itersel.config.values import Config, Experiment
from itersel.plan.divisions import division_of
from itersel.plan.requests import TextSizes, rules_per_word
from itersel.run.processor_time import hours_of

if TYPE_CHECKING:
    from itersel.config.file_checks import Size

# The rates are from benchmarks/README.md.
# Decoding takes this many seconds per source word, times the length of the sentence up to LONG words.
WORD_SECONDS = 0.00005
LONG = 20
# Decoding time is linear in the pop limit; WORD_SECONDS is for POP_LIMIT.
POP_BASE = 3.6
POP_SLOPE = 0.045
POP_LIMIT = 200
RULES_PER_SECOND = 430_000
BYTES_PER_RULE = 4
ALIGNMENT_WORD_SECONDS = 0.00005
START_SECONDS = 1.5  # to start a job
TUNE_SECONDS = 20  # for a batch tuner


class Estimate(NamedTuple):
    """The cost of a run."""

    jobs: int  # without short jobs
    hours: float  # of processor time
    disk: float  # bytes of all grammars
    memory: float  # bytes: the most that indexing, extraction or training requests


def estimate_cost(config: Config, sizes: Mapping[str, Size]) -> Estimate | None:
    """Estimate the cost of a run, without language models; None if the size of a split is not known."""
    tested = list(test_sets(config).values())
    held_out = ["devtest", *test_set_devtests(config).values(), *tested]
    experiments = list(expanded(config).experiments.values())
    tuned = {experiment.tune_on for experiment in experiments}
    translated = [*held_out, "dev"] if any(one.retune.batch_tuner for one in experiments) else held_out
    if not {"train", *translated, *tuned} <= sizes.keys():
        return None

    seconds = {split: _decoding_seconds(config, size) for split, size in sizes.items()}
    per_word = rules_per_word(sizes["train"].total())
    rules = {split: per_word * size.words for split, size in sizes.items()}

    # grammars: once for each way to divide a tuning corpus, and for each text that is translated
    divisions: dict[tuple[str, str, int | None], tuple[str, int, float]] = {}
    for one in experiments:
        tasks = one.tasks.divided_together
        division = one.tune_on, division_of(tasks), one.seed
        divisions[division] = one.tune_on, tasks.file_count, tasks.share
    files = [*divisions.values(), *((split, config.decoder.pieces, 1.0) for split in translated)]
    all_rules = sum(rules[split] * share for split, _, share in files)
    jobs = sum(count for _, count, _ in files)

    total = all_rules / RULES_PER_SECOND + ALIGNMENT_WORD_SECONDS * sizes["train"].words
    for experiment in experiments:
        count, time = _experiment_cost(config, experiment, seconds, tested)
        jobs += count
        total += time

    if config.mbr.gain is not None:
        # one job chooses a scale for each experiment and devtest
        devtests = {"devtest", *test_set_devtests(config).values()}
        jobs += len(experiments) * len(devtests)
        total += len(experiments) * sum(seconds[split] for split in sorted(devtests))

    words = sizes["train"].words
    grammars = max(sizes[split].words * share / count for split, count, share in files)
    text = TextSizes(train=words, language_model=words, grammars=grammars)
    requests = (text.request_to_index(), text.request_to_extract(), text.request_to_decode(0))

    return Estimate(
        jobs=jobs,
        hours=hours_of(total + START_SECONDS * jobs),
        disk=BYTES_PER_RULE * all_rules,
        memory=1e6 * max(one["mem_mb"] for one in requests),
    )


def _experiment_cost(
    config: Config, experiment: Experiment, seconds: Mapping[str, float], tested: list[str]
) -> tuple[int, float]:
    """Return the number of jobs and the seconds for an experiment's epochs and its translations of test."""
    tasks = experiment.tasks
    epoch_jobs = -(-tasks.shards // tasks.shards_per_array_task) + 1 + config.decoder.pieces
    epoch = seconds[experiment.tune_on] * tasks.share + seconds["devtest"]

    if experiment.batch_tuner is not None:
        epoch += TUNE_SECONDS
    if experiment.retune.batch_tuner is not None:
        iterations = experiment.retune.iteration_count
        epoch += iterations * (seconds["dev"] + TUNE_SECONDS)
        epoch_jobs += iterations * (config.decoder.pieces + 1)

    jobs = experiment.epochs * epoch_jobs + len(tested) * config.decoder.pieces
    return jobs, experiment.epochs * epoch + sum(seconds[split] for split in tested)


def _decoding_seconds(config: Config, size: Size) -> float:
    cost = sum(count * length * min(length, LONG) for length, count in size.items())
    slower = (POP_BASE + POP_SLOPE * config.decoder.pop_limit) / (POP_BASE + POP_SLOPE * POP_LIMIT)
    return WORD_SECONDS * slower * cost
