"""Build the options of `itersel` commands from a config, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import astuple

from itersel.config.data import ReferencedText, Split
from itersel.config.learners import Learner, learner_name
from itersel.config.mixing import EpochsMean, Nothing, PathFollowing, Selection, mixing_name
from itersel.config.options import options_of
from itersel.config.repeats import split_repeat
from itersel.config.search import ForestSettings, ListSettings, Search
from itersel.config.splits import cut_sizes
from itersel.config.tasks import IndependentTask, NaturalTasks, PooledCatTasks, PooledTasks, tasks_name
from itersel.config.tuners import STEP, Batch, ForestMert, LineSearch, NoTuner, tuner_name
from itersel.config.values import Config, Experiment
from itersel.corpus.corpora import TABLES, Corpus, Fields, format_of
from itersel.evaluate.tokenizers import tokenizer_of
from itersel.limits import TOKENIZED_BLEU


def goes_on_alone(experiment: Experiment) -> bool:
    """Tell whether each shard continues from its own weights; mixed weights are then only a result."""
    return not is_batch(experiment) and isinstance(experiment.mixing, Nothing | EpochsMean)


def is_batch(experiment: Experiment) -> bool:
    """Tell whether weights are tuned on the lists of all shards, instead of learned on each shard."""
    return isinstance(experiment.learner, Batch)


def held_out_tuner(experiment: Experiment) -> Batch | None:
    """Return the tuner of mixed weights on dev, if any."""
    tuner = experiment.held_out.tuner
    return None if isinstance(tuner, NoTuner) else tuner


def held_out_iterations(experiment: Experiment) -> int:
    """Return how often dev is decoded and the weights are tuned in an epoch.

    A tuner of all dense weights can go too far on the translations of the mixed weights alone; it needs to
    see those of its own weights, too.
    """
    held_out = experiment.held_out
    return held_out.iterations or (1 if isinstance(held_out.tuner, LineSearch) else 4)


def own_seed(config: Config, experiment: Experiment) -> int:
    """Return the seed of the shuffle and of all random draws of an experiment."""
    return experiment.seed or config.seed


def options(**values: object) -> str:
    """Return keyword arguments as long options.

    ``k_best=5`` becomes ``--k-best 5`` and ``tokenized=True`` becomes ``--tokenized``; `None` and `False` are
    left out; a list repeats the option. A value that begins with a dash would be read as an option, and a
    single dash as standard input, so they become ``--source=-n.de`` and ``--source ./-``.
    """
    words: list[str] = []
    repeated = [
        (name, one)
        for name, value in values.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    for name, value in repeated:
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if isinstance(value, tuple):
            value = ",".join(value)
        if value is True:
            words.append(option)
        elif value == "-":
            words += [option, "./-"]
        elif str(value).startswith("-"):
            words.append(f"{option}={value}")
        else:
            words += [option, str(value)]
    return shlex.join(words)


def help_options(config: Config) -> str:
    """Return the options of `itersel corpus libreoffice-help`."""
    data = config.data
    languages = options(source_language=data.source_language, target_language=data.target_language)
    if data.folder is not None:
        return f"{languages} {options(**{'from': data.folder})}"
    return f"{languages} {options(mirror=data.mirror, release=data.release)}"


def fetch_options(config: Config, text: Split | ReferencedText) -> str:
    """Return the options of `itersel corpus fetch` for a corpus that is downloaded."""
    return options(
        mtdata=list(text.mtdata),
        sacrebleu=getattr(text, "sacrebleu", None),
        source_language=config.data.source_language,
        target_language=config.data.target_language,
    )


def corpora_options(corpora: Iterable[Corpus]) -> str:
    """Return the options of `itersel corpus prepare` that describe corpora."""
    words = []
    for corpus in corpora:
        has_tables = any(format_of(path) in TABLES for path in corpus.file)
        columns = tuple(str(column) for column in astuple(corpus.columns) if column is not None)
        fields = (*corpus.fields.texts, *([corpus.fields.task] if corpus.fields.task else []))
        words.append(
            options(
                corpus=corpus.name or None,
                source=list(corpus.source),
                target=[*corpus.target, *corpus.further],
                file=list(corpus.file),
                columns=columns if has_tables else None,
                fields=fields if corpus.fields != Fields() else None,
                task=list(corpus.task),
                alignment=list(corpus.alignment),
            )
        )
    return " ".join(words)


def held_out_options(sets: Mapping[str, Corpus]) -> str:
    """Return the options of `itersel corpus prepare` that describe held-out sets, for train."""
    words = [f"{options(held_out=split)} {corpora_options([corpus])}" for split, corpus in sets.items()]
    return " ".join(words)


def prepare_options(config: Config, split: str, preparation: str) -> str:
    """Return the options of `itersel corpus prepare` for a split, or for all of them (``hash``).

    Parameters
    ----------
    split
        train, dev, devtest, test, test.NAME, devtest.NAME or hash.
    preparation
        The file that describes how train was prepared; the other splits are prepared in the same way.
    """
    data = config.data
    if split not in ("train", "hash"):
        return options(
            split=split,
            preparation=preparation,
            max_held_out=data.max_held_out,
            max_line_bytes=data.max_line_bytes,
            drop_invalid=data.drop_invalid_pairs,
        )
    cut = [f"{name}={size}" for name, size in cut_sizes(config).items()]
    return options(
        split=split,
        drop_invalid=data.drop_invalid_pairs,
        source_language=data.source_language,
        target_language=data.target_language,
        max_length=data.max_length,
        max_ratio=data.max_ratio,
        deduplicate=data.deduplicate if split == "train" else None,
        cut=cut,
        keep_overlap=not data.drop_overlap,
        max_train=data.max_train,
        # a change of what is not made here does not prepare train again
        max_held_out=data.max_held_out if split == "hash" or cut else None,
        max_line_bytes=data.max_line_bytes,
        modules=",".join(data.modules) or None,
        held_out_modules=",".join(data.held_out_modules) or None,
        tokenized=data.tokenized,
        protect=list(data.protected),
        split_compounds=data.compound_splitting,
    )


def sharding_options(tasks: NaturalTasks | IndependentTask | PooledTasks) -> str:
    """Return the options of `itersel shard` that assign sentences to files by label."""
    if isinstance(tasks, PooledTasks):
        size = "all" if isinstance(tasks, PooledCatTasks) else "one"
        # the order of labels in a pool does not matter
        return f"{options(shards=tasks.parts, size=size)} {shlex.join(['--pool', *sorted(tasks.labels)])}"
    natural = tasks.natural if isinstance(tasks, IndependentTask) else tasks
    labels = [f"{label}={count}" for label, count in (natural.labels or {}).items()]
    return f"{options(others=natural.others, minimum=natural.minimum)} {shlex.join(['--labels', *labels])}"


def estimate_options(config: Config, vocabulary: str) -> str:
    """Return the options of `itersel lm estimate`; an open vocabulary is that of the text `vocabulary`."""
    model = config.language_model
    return options(order=model.order, vocabulary=vocabulary if model.open_vocabulary else None)


def fold_options(config: Config, vocabulary: str, shards: str, fold: str) -> str:
    """Return the options of `itersel lm estimate` for a model that leaves text out.

    Parameters
    ----------
    vocabulary
        See `estimate_options`.
    shards
        The folder of the shards' text.
    fold
        ``F/N``, see `itersel lm estimate`.
    """
    return f"{estimate_options(config, vocabulary)} {options(leave_out=shards, fold=fold)}"


def extract_options(config: Config) -> str:
    """Return the options of `itersel grammar extract`."""
    return options(**options_of(config.grammar))


def search_of(config: Config, experiment: Experiment) -> ListSettings:
    """Return the settings of the search in training: those of the decoder, with the size of its lists."""
    k_best = experiment.k_best or config.decoder.k_best
    return ListSettings(
        experiment.features, experiment.templates, config.decoder.pop_limit, config.grammar.max_span, k_best
    )


def train_options(config: Config, experiment: Experiment) -> str:
    """Return the options of `itersel train`."""
    assert not isinstance(experiment.learner, Batch)
    return options(
        **options_of(search_of(config, experiment)),
        seed=own_seed(config, experiment),
        learner=learner_name(experiment.learner),
        **options_of(experiment.learner),
        measure_loss=isinstance(experiment.mixing, PathFollowing),
    )


def searches_step(tuner: Batch) -> bool:
    """Tell whether a tuner needs the weights of the previous epoch."""
    return isinstance(tuner, LineSearch) and STEP in tuner.directions


def list_command(tuner: Batch) -> str:
    """Return the command that writes the input of a tuner."""
    return "forest" if isinstance(tuner, ForestMert) else "kbest"


def list_options(config: Config, experiment: Experiment, tuner: Batch) -> str:
    """Return the options of `itersel kbest` or `itersel forest`, whichever the tuner needs."""
    search = search_of(config, experiment)
    if list_command(tuner) == "kbest":
        return options(**options_of(search))
    # the sum of sparse features: forests include it with features: all, lists with an option of the rule
    features = "all" if held_out_tuner(experiment) is not None else search.features
    density = config.decoder.forest_density
    return options(**options_of(ForestSettings(features, (), search.pop_limit, search.max_span, density)))


def tune_options(config: Config, experiment: Experiment, tuner: Batch) -> str:
    """Return the options of `itersel tune`."""
    return options(seed=own_seed(config, experiment), tuner=tuner_name(tuner), **options_of(tuner))


def mix_options(experiment: Experiment) -> str:
    """Return the options of `itersel mix`."""
    mixing = experiment.mixing
    chosen = options(mixing=mixing_name(mixing), shards=experiment.tasks.shards)
    if not isinstance(mixing, Selection | PathFollowing):
        return chosen
    if isinstance(mixing, Selection):
        limits = options(**mixing.limits)
    else:
        limits = options(threshold=mixing.threshold, epsilon=mixing.epsilon, minimum=mixing.minimum)
    kept = f" --keep {shlex.join(mixing.keep)}" if mixing.keep else ""
    return f"{chosen} {limits} {options(norm=mixing.norm)}{kept}"


def decode_options(config: Config, experiment: Experiment) -> str:
    """Return the options of `itersel decode`."""
    search = search_of(config, experiment)
    # the weights of other templates are 0
    return options(**options_of(Search(search.features, (), search.pop_limit, search.max_span)))


def explain_options(config: Config) -> str:
    """Return the options of `itersel explain`."""
    return options(
        sentences=config.report.derivations,
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
    )


def resource_options(config: Config, experiment: Experiment) -> str:
    """Return the options of `itersel report resources`."""
    decoder = options(features=experiment.features, pop_limit=config.decoder.pop_limit)
    return f"{decoder} {extract_options(config)}"


def system_options(config: Config, name: str) -> str:
    """Return the options of `itersel report choose`."""
    experiment = config.experiments[name]
    shown, repeat = split_repeat(name)
    return options(
        name=shown,
        repeat=repeat,
        learner=_name(experiment.learner),
        mixing=mixing_name(experiment.mixing),
        tune_on=experiment.tune_on,
        features=", ".join(experiment.templates) or experiment.features,
        tasks=tasks_name(experiment.tasks),
        shards=experiment.tasks.shards,
        tokenize=config.evaluation.tokenize,
        by=config.evaluation.choose_by,
        tokenizer=None if config.evaluation.choose_by == TOKENIZED_BLEU else tokenizer(config),
    )


def _name(learner: Learner | Batch) -> str:
    return tuner_name(learner) if isinstance(learner, Batch) else learner_name(learner)


def table_options(config: Config) -> str:
    """Return the options of `itersel report table`."""
    text = options(stays_tokenized=config.data.tokenized)
    return f"{text} {task_table_options(config)}"


def task_table_options(config: Config) -> str:
    """Return the options of `itersel report tasks`."""
    evaluation = config.evaluation
    return options(tokenize=evaluation.tokenize, trials=evaluation.trials, seed=config.seed)


def tokenizer(config: Config) -> str:
    """Return sacrebleu's tokenizer for detokenised text: the config's, or the default for the language."""
    return config.evaluation.tokenizer or tokenizer_of(config.data.target_language)
