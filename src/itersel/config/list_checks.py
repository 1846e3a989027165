"""Check that the keys of a config with ``data.kind: lists`` are complete, and have an effect."""

from __future__ import annotations

import re
from functools import partial

from itersel.config.data import ReferencedText, TestSet, TrainingText
from itersel.config.messages import reject, wrong
from itersel.config.names import NAME_PATTERN
from itersel.config.score_checks import check_scores_of_lists
from itersel.config.splits import texts_by_key
from itersel.config.tuners import ALL_TUNERS, EPOCH_STEP
from itersel.config.values import Config
from itersel.errors import attempt_all
from itersel.evaluate.names import QUALITY
from itersel.keys import changed, name_in
from itersel.vectors.feature_names import DENSE

# The only keys of these sections that have an effect, and the keys of texts.
USED = {
    "data": (
        *("kind", "source_language", "target_language", "tokenized", "protected", "lowercase"),
        "dense_names",
        *("train", "dev", "devtest", "test"),
    ),
    "decoder": ("k_best", "pieces"),
}
OF_TEXTS = ("lists", "target", "quality", "labels")
# How the keys of texts end if epochs are chosen on them.
DEVTEST = ".devtest"
NO_EFFECT = "has no effect with data.kind: lists; remove it"


def check_lists(config: Config) -> None:
    """Reject missing keys, and keys that need a decoder."""
    checks = [partial(_check_text, config, text, key) for key, text in texts_by_key(config.data).items()]
    checks += [partial(_check_experiment, config, name) for name in config.experiments]
    attempt_all([partial(_check_unused, config), *checks, partial(check_scores_of_lists, config)])


def _check_text(config: Config, text: TrainingText | ReferencedText, key: str) -> None:
    """Reject a text that lacks files which lists need, or names some that have no effect with them."""
    has_features, choose_by = not config.text_features.is_empty, config.evaluation.choose_by
    allowed = (*OF_TEXTS, *(("source", "devtest") if isinstance(text, TestSet) else ()))
    if has_features:
        allowed += ("source",)
    for name in changed(text):
        if name not in allowed:
            raise wrong(f"{key}.{name}", NO_EFFECT)

    if not text.lists:
        raise wrong(f"{key}.lists", "is missing; data.kind: lists needs it")

    if has_features and not text.source:
        raise wrong(f"{key}.source", "is missing; text_features need it")
    for name, content in (("source", "source"), ("labels", "label")):
        if (count := len(getattr(text, name))) > 1:
            raise wrong(
                f"{key}.{name}", f"names {count} files; name one, with the {content} of each sentence"
            )
    if key == "data.train" and config.text_features.needs_models and not text.target:
        raise wrong(f"{key}.target", "is missing; models of text_features are estimated on it")

    is_learned_from = key in ("data.train", "data.dev")
    if not text.target and not (is_learned_from and text.quality):
        why = ", or 'quality'; give one of them" if is_learned_from else "; its translations are scored by it"
        raise wrong(f"{key}.target", f"is missing{why}")
    if key.endswith(DEVTEST):
        _check_quality_of_devtest(text, f"{key}.quality", choose_by)
    elif text.quality and not is_learned_from:
        raise wrong(f"{key}.quality", "has no effect: nothing is learned from this text; remove it")

    if isinstance(text, TrainingText) and key != "data.train":
        raise wrong(key, ": lists are not of named corpora; name all files in data.train.lists")


def _check_quality_of_devtest(text: TrainingText | ReferencedText, key: str, choose_by: str) -> None:
    """Reject a quality by which no epoch is chosen, and a missing one."""
    if text.quality and choose_by != QUALITY:
        raise wrong(
            key, f"has no effect with evaluation.choose_by: {choose_by}; choose by {QUALITY}, or remove it"
        )
    if choose_by == QUALITY and not text.quality:
        raise wrong(key, f"is missing; evaluation.choose_by: {QUALITY} needs it")


def _check_unused(config: Config) -> None:
    """Reject settings of steps that lists replace."""
    features = config.text_features
    used = {**USED, "language_model": ("order",) if features.needs_models else ()}
    for section in ("data", "align", "language_model", "grammar", "decoder", "report"):
        for name in changed(getattr(config, section)):
            if name not in used.get(section, ()):
                raise wrong(f"{section}.{name}", NO_EFFECT)

    for name in ("source", "target", "folds"):
        if name in changed(features) and not features.needs_models:
            raise wrong(f"text_features.{name}", "has no effect: no feature needs a model; remove it")
    if len(features.source) != len(features.target):
        why = f"names {len(features.target)} files, but source {len(features.source)}"
        raise wrong("text_features.target", f"{why}; give one for each")
    names = features.user_model_names
    for name, path in zip(names, features.user_models, strict=True):
        key = "text_features.user_models"
        if not re.fullmatch(NAME_PATTERN, name):
            why = f"names {path}, but '{name}' cannot be the name of a feature"
            raise wrong(key, f"{why}; use letters, digits, '.', '_' and '-' in its name")
        if names.count(name) > 1:
            raise wrong(key, f"has two files of the name '{name}'; rename one, as features are called by it")
    if features.minimum_count > 1 and not features.templates:
        raise wrong(
            "text_features.minimum_count", "has no effect without 'text_features.templates'; remove it"
        )


def _check_experiment(config: Config, name: str) -> None:
    experiment = config.experiments[name]
    key = f"experiments.{name}"

    for template in experiment.templates or ():
        if template not in config.text_features.templates:
            raise wrong(f"{key}.templates", f": '{template}' is not in text_features.templates; add it there")
    if experiment.tasks.language_model_folds not in (None, 1):
        raise wrong(f"{key}.tasks.language_model_folds", NO_EFFECT)

    learner = experiment.shard_learner
    if learner is not None and (forest_key := learner.forest_key):
        value = getattr(learner, forest_key)
        raise wrong(f"{key}.learner.{forest_key}", f"is {value}, but lists have no forests; remove it")
    for place, tuner in (
        ("learner", experiment.batch_tuner),
        ("retune.tuner", experiment.retune.batch_tuner),
    ):
        if tuner is not None and tuner.reads_forests:
            given = name_in(ALL_TUNERS, tuner)
            raise wrong(f"{key}.{place}.name", f"is {given}, but lists have no forests; use another tuner")

    if experiment.mixing.selects and DENSE in experiment.mixing.keep:
        raise wrong(f"{key}.mixing.keep", f"must name features of the lists one by one, not '{DENSE}'")

    # without `dense_names`, the lists tell which features are dense
    if config.data.dense_names:
        added = config.text_features.dense_features
        allowed = (DENSE, EPOCH_STEP, *config.data.dense_names, *added)
        for direction in experiment.retune.named_directions:
            if direction not in allowed:
                reject(f"{key}.retune.tuner.directions", direction, f"one of {', '.join(allowed)}")
