"""The values that follow other keys: `resolved` fills in what is still null in a config that has been read.

Before reading, `itersel.config.forms` has filled in the forms of sections.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from itersel.config.splits import has_given_lists
from itersel.config.tasks import DEFAULT_FOLDS, fold_count
from itersel.config.values import Config, Experiment
from itersel.evaluate.tokenizers import tokenizer_of

T = TypeVar("T")


def tokenizer_for_text(config: Config) -> str:
    """Return the tokenizer for BLEU of detokenised text: the stated one, or the target language's."""
    return tokenizer_of(config.data.target_language, config.evaluation.tokenizer)


def estimates_model(config: Config) -> bool:
    """Return whether a language model is estimated: there is none for given lists."""
    return config.language_model.arpa is None and not has_given_lists(config)


def first_seed(config: Config, experiment: Experiment) -> int:
    """Return the seed of the first repeat of an experiment: the stated one, or that of the config."""
    return config.seed if experiment.seed is None else experiment.seed


def available_templates(config: Config) -> tuple[str, ...]:
    """Return the templates of sparse features that experiments can use: of rules, or of the text of lists."""
    return config.text_features.templates if has_given_lists(config) else config.grammar.templates


def used_templates(config: Config, experiment: Experiment) -> tuple[str, ...]:
    """Return the templates of sparse features that an experiment uses: those it states, or all there are.

    They are in the order of `available_templates`, because the stated order affects nothing.
    """
    if not experiment.uses_sparse:
        return ()
    available, stated = available_templates(config), experiment.templates
    return available if stated is None else tuple(one for one in available if one in stated)


def why_no_k_best(config: Config, experiment: Experiment) -> str | None:
    """Return why the `k_best` of an experiment has no effect; None if it learns from lists of this size."""
    tuner = experiment.batch_tuner
    if tuner is None:
        return None
    if tuner.reads_forests:
        return "has no effect with forests"
    return "has no effect: a batch tuner reads whole lists" if has_given_lists(config) else None


def never_null(value: T | None) -> T:
    """Return the value of a key that is never null in a config that is `resolved`."""
    assert value is not None
    return value


def resolved(config: Config) -> Config:
    """Return a config in which values taken from elsewhere are filled in.

    Null then means "none", except for `cache` (the user's cache folder).
    Readers of such a config use its values as they are; `never_null` tells type checkers what cannot be null.
    """
    return replace(
        config,
        evaluation=replace(config.evaluation, tokenizer=tokenizer_for_text(config)),
        experiments={name: _resolved(config, one) for name, one in config.experiments.items()},
    )


def _resolved(config: Config, experiment: Experiment) -> Experiment:
    tasks, retune = experiment.tasks, experiment.retune
    folds = 1
    if experiment.tune_on == "train" and estimates_model(config):
        folds = fold_count(tasks.language_model_folds or DEFAULT_FOLDS, tasks.file_count)
    # every kind has this key
    tasks = replace(cast(Any, tasks), language_model_folds=folds)

    if retune.batch_tuner is not None:
        retune = replace(retune, iterations=retune.iteration_count)

    k_best = None
    if why_no_k_best(config, experiment) is None:
        k_best = config.decoder.k_best if experiment.k_best is None else experiment.k_best

    return replace(
        experiment,
        templates=used_templates(config, experiment),
        k_best=k_best,
        seed=first_seed(config, experiment),
        tasks=tasks,
        retune=retune,
    )
