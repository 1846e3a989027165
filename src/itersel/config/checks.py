"""Check that the values of a config are consistent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from itersel.config.data import ReferencedText
from itersel.config.data_checks import check_parallel_text, check_preparation
from itersel.config.decoding_checks import check_decoding
from itersel.config.defaults import estimates_model, first_seed, used_templates, why_no_k_best
from itersel.config.experiments import is_reserved
from itersel.config.learners import LEARNERS
from itersel.config.list_checks import check_lists
from itersel.config.mbr import BLEU_GAIN
from itersel.config.messages import check_unique, reject, wrong
from itersel.config.mixing import ALGORITHMS, MIXINGS, SGD, Nothing
from itersel.config.score_checks import check_scores
from itersel.config.splits import has_given_lists, has_labels, is_help, test_sets
from itersel.config.tasks import TASKS
from itersel.config.tuners import EPOCH_STEP, TUNERS
from itersel.config.values import Config, Experiment
from itersel.corpus.languages import is_unspaced
from itersel.errors import attempt_all
from itersel.keys import MAX_SEED, changed, name_in
from itersel.vectors.feature_names import DENSE

# Labels that are part of the names of experiments.
_TASK = "[A-Za-z0-9_-]{1,60}"
_RESERVED = "names like this are reserved for repeats and independent tasks; choose another"


def check_config(config: Config) -> None:
    """Reject missing keys, keys that conflict, and keys without effect; all of them are reported together."""
    of_kind = [check_lists] if has_given_lists(config) else [check_parallel_text, check_decoding]
    attempt_all(
        partial(check, config) for check in (*of_kind, check_preparation, _check_mbr, _check_experiments)
    )


def _check_mbr(config: Config) -> None:
    """Reject keys of minimum Bayes risk without effect, and BLEU for text without spaces between words."""
    unused = changed(config.mbr)
    if config.mbr.gain is None and unused:
        raise wrong(f"mbr.{unused[0]}", "has no effect without mbr.gain; remove it, or state the gain")

    language = config.data.target_language
    has_no_spaces = is_unspaced(language) and not config.data.tokenized
    if has_given_lists(config) and config.mbr.gain == BLEU_GAIN and has_no_spaces:
        why = f"is {config.mbr.gain}, which compares words between spaces, but '{language}' has none"
        advice = "use chrf, or segment the lists into words and set data.tokenized: true"
        raise wrong("mbr.gain", f"{why}; {advice}")


def _check_experiments(config: Config) -> None:
    """Reject experiments with conflicting keys."""
    if not config.experiments:
        raise wrong("experiments", "is missing or empty; name at least one experiment")
    attempt_all(partial(_check_experiment, config, name) for name in config.experiments)
    _check_compared(config)
    _check_outputs(config)
    check_scores(config)


def _check_experiment(config: Config, name: str) -> None:
    """Reject an experiment whose keys contradict each other or other sections."""
    experiment = config.experiments[name]
    key = f"experiments.{name}"
    mixing = experiment.mixing
    _check_mixing(experiment, key)

    if is_reserved(name):
        raise wrong(key, f": {_RESERVED}")
    if first_seed(config, experiment) + experiment.repeats - 1 > MAX_SEED:
        why = f"the last seed would be larger than {MAX_SEED}"
        raise wrong(f"{key}.repeats", f"is {experiment.repeats}: {why}")

    if experiment.templates and not experiment.uses_sparse:
        raise wrong(f"{key}.templates", "has no effect with features: dense; remove one of them")
    no_effect = why_no_k_best(config, experiment)
    if experiment.k_best is not None and no_effect is not None:
        raise wrong(f"{key}.k_best", f"{no_effect}; remove it")
    if experiment.patience is not None and experiment.patience > experiment.epochs - 2:
        why = f"has no effect with epochs: {experiment.epochs}; raise epochs, or remove this"
        raise wrong(f"{key}.patience", f"is {experiment.patience}, {why}")

    _check_tasks(config, experiment, f"{key}.tasks")
    _check_alone(experiment, f"{key}.tasks")

    if conflict := mixing.conflict():
        raise wrong(f"{key}.mixing.{conflict[0]}", conflict[1])
    if mixing.needs_loss:
        _check_losses(experiment, key)

    learner = experiment.shard_learner
    if learner is not None and (conflict := learner.conflict()):
        raise wrong(f"{key}.learner.{conflict[0]}", conflict[1])

    _check_start(config, name)
    _check_retune(experiment, f"{key}.retune")


def _check_mixing(experiment: Experiment, key: str) -> None:
    """Reject a mixing that does not fit the learner or the algorithm."""
    mixing = name_in(MIXINGS, experiment.mixing)
    algorithm = experiment.algorithm
    tuner = experiment.batch_tuner

    if tuner is not None:
        name = name_in(TUNERS, tuner)
        if algorithm is not None:
            why = f"learner {name} has nothing to mix; remove it"
            raise wrong(f"{key}.algorithm", f"names a mixing, and {why}")
        if not isinstance(experiment.mixing, Nothing):
            why = f"learner {name} tunes one weight vector on all shards; remove the key"
            raise wrong(f"{key}.mixing.name", f"is {mixing}, but {why}")
        if tuner.searches_lines and experiment.uses_sparse:
            wanted = f"dense with learner {name}: it searches along every feature"
            raise wrong(f"{key}.features", f"is {experiment.features}, must be {wanted}")
    elif algorithm is not None and mixing != ALGORITHMS[algorithm]:
        why = f"algorithm: {algorithm} implies mixing {ALGORITHMS[algorithm]}; remove one of them"
        raise wrong(f"{key}.mixing.name", f"is {mixing}, but {why}")


def _check_compared(config: Config) -> None:
    """Reject independent tasks without other experiments to compare with, or with different labels."""
    independent = {
        name: one.tasks.label_names for name, one in config.experiments.items() if one.tasks.are_independent
    }

    for name, labels in independent.items():
        key = f"experiments.{name}.tasks"
        first = next(iter(independent))
        if len(independent) == len(config.experiments):
            raise wrong(key, ": independent tasks need an experiment with other tasks to compare with")
        if set(labels) != set(independent[first]):
            why = "independent tasks must be the same"
            raise wrong(f"{key}.labels", f"differ from those of '{first}'; {why}")


def _check_outputs(config: Config) -> None:
    """Reject outputs of other systems named like an experiment, or without a file for each test set."""
    for name, files in (config.evaluation.outputs or {}).items():
        key = f"evaluation.outputs.{name}"
        sets = test_sets(config)
        if is_reserved(name):
            raise wrong(key, f": {_RESERVED}")
        if name in config.experiments:
            raise wrong(key, ": an experiment has this name; choose another")
        if len(files) != len(sets):
            raise wrong(key, f"names {len(files)} files; give one for each test set ({', '.join(sets)})")


def _check_alone(experiment: Experiment, key: str) -> None:
    """Reject several shards if their weights are not mixed."""
    is_sgd = experiment.algorithm == SGD
    is_alone = isinstance(experiment.mixing, Nothing) and experiment.batch_tuner is None
    if not (is_sgd or is_alone):
        return

    why = "algorithm: sgd" if is_sgd else "mixing: {name: none}"
    if several := experiment.tasks.several():
        raise wrong(f"{key}.{several[0]}", f"{several[1]} with {why}")


def _check_tasks(config: Config, experiment: Experiment, key: str) -> None:
    """Reject tasks without labels, or that the learner cannot use."""
    tasks = experiment.tasks
    if experiment.batch_tuner is not None and not tasks.suit_batch_tuners:
        why = "a batch tuner reads the lists of all shards at once"
        raise wrong(f"{key}.name", f"is {name_in(TASKS, tasks)}, which needs an online learner; {why}")
    if not tasks.needed_labels:
        return

    labels = tasks.label_names
    key = f"{key}.labels"
    if not labels:
        raise wrong(key, f"is missing; {tasks.needed_labels}")
    check_unique(key, labels)

    needed = [experiment.tune_on]
    if tasks.are_independent:
        for label in labels:
            if not re.fullmatch(_TASK, label):
                allowed = "at most 60 letters, digits, '_' and '-'; use other labels"
                raise wrong(f"{key}.{label}", f": labels of independent tasks may have {allowed}")
        _check_scored_by_task(config, key)
        needed.append("devtest")

    for name in [] if is_help(config) else needed:
        if not has_labels(config, name):
            raise wrong(key, f"needs data.{name}.labels, a file with the label of each line")


def _check_scored_by_task(config: Config, key: str) -> None:
    """Reject test sets on which independent tasks cannot be compared."""
    splits = test_sets(config).values()
    if not is_help(config) and not any(has_labels(config, split) for split in splits):
        raise wrong(key, "needs data.test.labels, a file with the label of each line")
    for name, test_set in config.data.test.items():
        if test_set.devtest != ReferencedText():
            why = "which choose their epochs on data.devtest; remove one of them"
            raise wrong(f"data.test.{name}.devtest", f"has no effect with independent tasks, {why}")


def _check_losses(experiment: Experiment, key: str) -> None:
    """Reject path following if the losses of two epochs cannot be compared."""
    learner = experiment.shard_learner
    if learner is not None and not learner.has_loss_at_zero and experiment.start_from is None:
        why = "path following needs another learner, or start_from"
        name = name_in(LEARNERS, learner)
        raise wrong(f"{key}.learner.name", f"is {name}, whose loss is 0 if all weights are 0: {why}")

    if experiment.tasks.are_reshuffled and getattr(learner, "pairs", "") == "pro":
        samples = "samples different pairs when a sentence moves to another shard"
        why = "with resharding, path following cannot compare their losses"
        raise wrong(f"{key}.learner.pairs", f"is pro, which {samples}: {why}")

    if experiment.retune.next_epoch_from == "tuned":
        why = "path following compares the losses of mixed weights"
        raise wrong(f"{key}.retune.next_epoch_from", f"is tuned, but {why}")


def _check_retune(experiment: Experiment, key: str) -> None:
    """Reject retuning if dev is not held out, or if retuning would change nothing."""
    retune = experiment.retune
    tuner = retune.batch_tuner
    if tuner is None:
        unused = changed(retune)
        if unused:
            raise wrong(f"{key}.{unused[0]}", f"has no effect without '{key}.tuner'; remove it")
        return

    if experiment.tune_on != "train":
        raise wrong(f"{key}.tuner", "needs tune_on: train; dev is not held out otherwise")
    if experiment.batch_tuner is not None:
        raise wrong(f"{key}.tuner", "changes mixed weights, but a batch tuner mixes nothing")

    if retune.next_epoch_from == "tuned" and experiment.mixing.shards_continue:
        shards = f"with mixing {name_in(MIXINGS, experiment.mixing)} shards continue from their own weights"
        raise wrong(f"{key}.next_epoch_from", f"is tuned, but {shards}")
    if retune.next_epoch_from == "tuned" and experiment.epochs == 1:
        raise wrong(f"{key}.next_epoch_from", "has no effect with epochs: 1; remove it")

    directions = tuner.named_directions
    if directions is not None:
        _check_directions(directions, f"{key}.tuner.directions", experiment.epochs)


def _check_directions(directions: Sequence[str], key: str, epochs: int) -> None:
    """Reject directions that add nothing."""
    if not directions:
        raise wrong(key, "is empty; name at least one")

    check_unique(key, directions)
    for name in directions:
        if name not in (DENSE, EPOCH_STEP) and DENSE in directions:
            raise wrong(key, f": {DENSE} includes '{name}'; remove one of them")
    if EPOCH_STEP in directions and epochs == 1:
        raise wrong(key, f": {EPOCH_STEP} has no effect with epochs: 1; remove it")


def _check_start(config: Config, name: str) -> None:
    """Reject a start that does not exist, is circular, or has features that the experiment does not use."""
    key = f"experiments.{name}.start_from"
    experiments = config.experiments
    path = [name]
    while (start := experiments[path[-1]].start_from) is not None:
        if start not in experiments:
            there = [other for other in experiments if other != name]
            reject(key, start, f"one of {', '.join(there)}" if there else "another experiment; there is none")
        if start in path:
            raise wrong(key, f"is circular: {', '.join([*path, start])}")
        path.append(start)
        of_start, of_own = (experiments[one].tasks.are_independent for one in (start, path[-2]))
        if of_start and not of_own:
            reject(key, start, "an experiment with one weight vector; it has independent tasks")

    first = experiments[name].start_from
    own = experiments[name]
    if first is None or not experiments[first].uses_sparse:
        return

    if not own.uses_sparse:
        raise wrong(key, f": '{first}' has features: all, but this experiment has features: dense")
    others, used = (set(used_templates(config, one)) for one in (experiments[first], own))
    if others - used:
        listed = ", ".join(sorted(others - used))
        raise wrong(key, f": '{first}' has weights of templates {listed}, which this experiment does not use")


def warnings(config: Config) -> list[str]:
    """Return one line for each setting that is allowed but probably not intended."""
    has_seen = "it is trained with a language model that has seen its text, and will trust it too much"
    found = []
    for name, one in config.experiments.items():
        files = one.tasks.file_count
        if one.tune_on != "train":
            continue
        if estimates_model(config) and one.tasks.language_model_folds == 1:
            folds = "one shard" if files == 1 else "language_model_folds: 1"
            found.append(f"experiments.{name} has {folds}: {has_seen} (docs/workflow.md)")
        if config.text_features.needs_models and files == 1:
            seen = "models of text_features have seen its text, and it will trust them too much"
            found.append(f"experiments.{name} has one shard: {seen} (docs/text-features.md)")
    return found
