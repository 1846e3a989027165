"""Check a config with `data.kind: lists`, where n-best lists of another decoder replace decoding."""

from __future__ import annotations

from functools import partial

from itersel.config.data import Data, ReferencedText, Split, TestSet
from itersel.config.learners import Mira
from itersel.config.options import changed, wrong
from itersel.config.splits import texts_by_key
from itersel.config.tuners import Batch, ForestMert, LineSearch
from itersel.config.values import Config
from itersel.errors import attempt_all

# Keys that have an effect: of sections, of which all others have none, and of texts.
USED = {
    "data": (
        *("kind", "source_language", "target_language", "tokenized", "protected", "dense"),
        *("train", "dev", "devtest", "test"),
    ),
    "decoder": ("k_best", "jobs"),
}
OF_TEXTS = ("lists", "target", "quality", "task")
NO_EFFECT = "has no effect with data.kind: lists; remove it"


def check_lists(config: Config) -> None:
    """Reject missing keys, and keys that need a decoder."""
    checks = [partial(_check_text, text, key) for key, text in texts_by_key(config.data).items()]
    checks += [partial(_check_experiment, config, name) for name in config.experiments]
    attempt_all([partial(_check_unused, config), *checks])


def refuse_lists(data: Data) -> None:
    """Reject keys of lists with another kind of data."""
    for key, text in texts_by_key(data).items():
        for name in ("lists", "quality"):
            if getattr(text, name):
                raise wrong(f"{key}.{name}", "needs data.kind: lists")
    if data.dense:
        raise wrong("data.dense", "needs data.kind: lists")


def _check_text(text: Split | ReferencedText, key: str) -> None:
    allowed = (*OF_TEXTS, *(("source", "devtest") if isinstance(text, TestSet) else ()))
    for name in changed(text):
        if name not in allowed:
            raise wrong(f"{key}.{name}", NO_EFFECT)
    if not text.lists:
        raise wrong(f"{key}.lists", "is missing; data.kind: lists needs it")
    is_learned_from = key in ("data.train", "data.dev")
    if not text.target and not (is_learned_from and text.quality):
        why = ", or 'quality'; give one of them" if is_learned_from else "; its translations are scored by it"
        raise wrong(f"{key}.target", f"is missing{why}")
    if text.quality and not is_learned_from:
        raise wrong(f"{key}.quality", "has no effect: nothing is learned from this text; remove it")
    if isinstance(text, Split) and key != "data.train":
        raise wrong(key, ": lists are not of named corpora; name all files in data.train.lists")
    if isinstance(text, Split) and len(text.task) > 1:
        raise wrong(f"{key}.task", f"names {len(text.task)} files; name one, with the label of each sentence")


def _check_unused(config: Config) -> None:
    """Reject settings of what lists replace."""
    for section in ("data", "align", "language_model", "grammar", "decoder", "report"):
        for name in changed(getattr(config, section)):
            if name not in USED.get(section, ()):
                raise wrong(f"{section}.{name}", NO_EFFECT)


def _check_experiment(config: Config, name: str) -> None:
    experiment, key = config.experiments[name], f"experiments.{name}"
    learner, tuner = experiment.learner, experiment.held_out.tuner
    if experiment.templates:
        raise wrong(f"{key}.templates", NO_EFFECT)
    if experiment.tasks.language_model_folds is not None:
        raise wrong(f"{key}.tasks.language_model_folds", NO_EFFECT)
    if isinstance(learner, Mira) and learner.candidates == "forest":
        raise wrong(f"{key}.learner.candidates", "is forest, but lists have no forests; remove it")
    for place, one, split in (("learner", learner, experiment.tune_on), ("held_out.tuner", tuner, "dev")):
        if isinstance(one, ForestMert):
            raise wrong(f"{key}.{place}.name", "is forest-mert, but lists have no forests; use mert")
        text = config.data.dev if split == "dev" else config.data.train.get("", Split())
        if isinstance(one, Batch) and not text.target:
            message = f"tunes for BLEU, but data.{split} has no references"
            raise wrong(f"{key}.{place}.name", f"{message}; give it a target, or choose another")
    if isinstance(tuner, LineSearch) and tuner.directions == LineSearch().directions:
        message = "is missing; name dense features of the lists, or 'dense' for all of them"
        raise wrong(f"{key}.held_out.tuner.directions", message)
