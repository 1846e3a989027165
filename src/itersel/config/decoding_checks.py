"""Check the keys of runs that decode parallel text: of models, grammars and the features of our decoder."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial

from itersel.config.defaults import used_templates
from itersel.config.messages import reject, wrong
from itersel.config.score_checks import check_scores_of_systems
from itersel.config.splits import is_aligned
from itersel.config.tuners import EPOCH_STEP
from itersel.config.values import Align, Config, Experiment
from itersel.errors import attempt_all
from itersel.keys import changed
from itersel.vectors.feature_names import DENSE, DENSE_FEATURES, TEMPLATES


def check_decoding(config: Config) -> None:
    """Reject features that do not exist, and keys that would have no effect."""
    checks = [partial(_check_experiment, config, name) for name in config.experiments]
    attempt_all([partial(_check_models, config), *checks, partial(check_scores_of_systems, config)])


def _check_models(config: Config) -> None:
    """Reject keys that are set but would have no effect."""
    of_lists = changed(config.text_features)
    if of_lists:
        raise wrong(f"text_features.{of_lists[0]}", "needs data.kind: lists; remove it")
    if is_aligned(config) and config.align != Align():
        raise wrong("align.symmetrization", "has no effect with data.train.alignment; remove one")
    if config.language_model.arpa is not None:
        for section, name in (("language_model", "open_vocabulary"), ("data", "monolingual")):
            if getattr(getattr(config, section), name):
                raise wrong(f"{section}.{name}", "has no effect with language_model.arpa; remove one of them")


def _check_experiment(config: Config, name: str) -> None:
    experiment = config.experiments[name]
    key = f"experiments.{name}"
    _check_templates(config, experiment, name)
    if experiment.mixing.selects:
        _check_kept(config, experiment, experiment.mixing.keep, f"{key}.mixing.keep")
    _check_folds(config, experiment, key)

    allowed = (DENSE, EPOCH_STEP, *DENSE_FEATURES)
    for direction in experiment.retune.named_directions:
        if direction not in allowed:
            reject(f"{key}.retune.tuner.directions", direction, f"one of {', '.join(allowed)}")


def _check_templates(config: Config, experiment: Experiment, name: str) -> None:
    """Reject templates that are not extracted, or not used."""
    key = f"experiments.{name}.templates"
    for template in experiment.templates or ():
        if template not in config.grammar.templates:
            raise wrong(key, f": '{template}' is not in grammar.templates; add it there")
    _check_plugins(config.grammar.templates)
    if experiment.uses_sparse and not config.grammar.templates:
        raise wrong("grammar.templates", f"is empty, but experiment '{name}' has features: all")
    if experiment.templates == () and experiment.uses_sparse:
        raise wrong(key, "is empty: without templates, use features: dense")


def _check_plugins(templates: Collection[str]) -> None:
    """Reject templates of plug-ins that cannot be loaded."""
    for template in templates:
        plugin = TEMPLATES.plugin(template)
        if plugin is not None:
            plugin.load()


def _check_kept(config: Config, experiment: Experiment, names: Collection[str], key: str) -> None:
    """Reject features that no grammar has."""
    templates = used_templates(config, experiment)
    prefixes = tuple(TEMPLATES[template] for template in templates)

    for name in names:
        is_sparse = name.startswith(prefixes) and name not in prefixes and not re.search(r"\s", name)
        if name in (DENSE, *templates, *DENSE_FEATURES) or is_sparse:
            continue
        if not templates:
            reject(key, name, "dense or the name of a dense feature")
        reject(key, name, f"dense, a template ({', '.join(templates)}), or the name of a feature of one")


def _check_folds(config: Config, experiment: Experiment, key: str) -> None:
    folds = experiment.tasks.language_model_folds
    if folds is None or folds == 1:
        return
    key = f"{key}.tasks.language_model_folds"
    if experiment.tune_on != "train":
        raise wrong(key, "needs tune_on: train")
    if config.language_model.arpa is not None:
        raise wrong(key, "has no effect with language_model.arpa; remove one of them")
