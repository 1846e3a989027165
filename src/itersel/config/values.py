"""What can be configured: types, defaults, bounds and explanations. Everything else is made from this.

`reading` checks a config against these classes; `rendering` makes the JSON schema, the documentation and
config.yaml from them; `commands` makes the command lines of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from itersel.config.learners import Learner, Perceptron
from itersel.config.mixing import ALGORITHMS, Mixing, Selection
from itersel.config.options import NAME_PATTERN, explain, option
from itersel.config.tuners import Batch, HeldOut
from itersel.limits import (
    DEFAULT_LINE_BYTES,
    LANGUAGE_PATTERN,
    MAX_K_BEST,
    MAX_NONTERMINALS,
    MAX_ORDER,
    MAX_POP_LIMIT,
    MAX_RAW_LINE_BYTES,
    MAX_SAMPLES,
    MAX_SEED,
    MAX_SPAN,
    MAX_SYMBOLS,
    MIN_RAW_LINE_BYTES,
)

DATA_KINDS = ("libreoffice-help", "files")
ALIGNMENT_MODELS = ("eflomal", "fast_align", "hmm", "ibm4")
SYMMETRIZATIONS = (
    "grow-diag-final-and",
    "grow-diag-final",
    "grow-diag",
    "grow",
    "intersection",
    "union",
    "forward",
    "reverse",
)
TUNING_SETS = ("dev", "train")
FEATURE_SETS = ("dense", "all")
TOKENIZATIONS = ("13a", "none")


@dataclass(frozen=True)
class Split:
    """The files of one split of `data.kind: files`."""

    source: str | None = option("Source side: UTF-8, one sentence a line, plain or .gz.", path=True)
    target: str | None = option("Target side, line by line the translation of the source side.", path=True)
    task: str | None = option("Task label of each line (module, domain, section); optional.", path=True)
    alignment: str | None = option(
        "Word alignment of each line in Pharaoh format, source-target; optional, of train only. "
        "Where it is given, no aligner runs. Needs data.tokenized: true.",
        path=True,
    )


@dataclass(frozen=True)
class Data:
    """Where the text comes from, and how it is prepared."""

    kind: str = option(
        "libreoffice-help: the LibreOffice Help in two languages, from Debian's packages; "
        "files: any parallel text.",
        "libreoffice-help",
        choices=DATA_KINDS,
    )
    source_language: str = option("Language code of the source side.", "de", pattern=LANGUAGE_PATTERN)
    target_language: str = option("Language code of the target side.", "en-us", pattern=LANGUAGE_PATTERN)
    folder: str | None = option(
        "libreoffice-help: a folder that already holds the unpacked help or the two .deb files; "
        "null: fetch them.",
        path=True,
    )
    modules: tuple[str, ...] = option(
        "libreoffice-help: the modules to use (swriter, scalc, shared, ...); empty: all.", ()
    )
    max_train: int | None = option("Use at most this many pairs for training; null: all.", minimum=1)
    max_held_out: int | None = option(
        "Use at most this many pairs for each of dev, devtest and test; null: all.", minimum=1
    )
    train: Split = field(default_factory=Split, metadata=explain("files: the training corpus."))
    dev: Split = field(default_factory=Split, metadata=explain("files: the corpus for tuning."))
    devtest: Split = field(
        default_factory=Split, metadata=explain("files: the corpus on which the epoch is chosen.")
    )
    test: Split = field(
        default_factory=Split, metadata=explain("files: the corpus that is scored at the end.")
    )
    monolingual: str | None = option("Further target text for the language model; optional.", path=True)
    tokenized: bool = option("files: the text is tokenised already; take its tokens as they are.", False)
    max_length: int = option("Drop training pairs with a side of more words than this.", 80, minimum=1)
    max_ratio: float = option(
        "Drop training pairs whose one side is this many times longer than the other.", 9.0, minimum=1
    )
    max_line_bytes: int = option(
        "Refuse text with a line of more bytes than this: it is damaged, or not one sentence a line.",
        DEFAULT_LINE_BYTES,
        minimum=MIN_RAW_LINE_BYTES,
        maximum=MAX_RAW_LINE_BYTES,
    )
    compound_splitting: bool = option("Split compounds of the source side (Koehn & Knight 2003).", False)


@dataclass(frozen=True)
class Align:
    """Word alignment of the training corpus."""

    model: str = option("Alignment model.", "eflomal", choices=ALIGNMENT_MODELS)
    symmetrization: str = option(
        "How the alignments of the two directions become one.",
        "grow-diag-final-and",
        choices=SYMMETRIZATIONS,
    )


@dataclass(frozen=True)
class LanguageModel:
    """Language model of the target side."""

    order: int = option("Length of the longest n-grams.", 3, minimum=1, maximum=MAX_ORDER)
    open_vocabulary: bool = option(
        "Estimate with words outside the target side of the training corpus as `<unk>`; of use with "
        "data.monolingual.",
        False,
    )
    arpa: str | None = option(
        "Use this ARPA file (plain or .gz, of order language_model.order) instead of estimating one.",
        path=True,
    )


@dataclass(frozen=True)
class Grammar:
    """Extraction of the hierarchical rules (Chiang 2007)."""

    max_span: int = option("Longest source span of a rule, in words.", 15, minimum=1, maximum=MAX_SPAN)
    max_symbols: int = option("Most symbols on the source side of a rule.", 5, minimum=1, maximum=MAX_SYMBOLS)
    max_nonterminals: int = option("Most nonterminals in a rule.", 2, minimum=0, maximum=MAX_NONTERMINALS)
    min_gap: int = option(
        "Fewest words that a nonterminal covers in extraction.", 1, minimum=1, maximum=MAX_SPAN
    )
    max_samples: int = option(
        "Occurrences of a source side that are sampled.", 300, minimum=1, maximum=MAX_SAMPLES
    )


@dataclass(frozen=True)
class Decoder:
    """Search, in training and in testing."""

    pop_limit: int = option(
        "Cube pruning: items popped for each span.", 200, minimum=1, maximum=MAX_POP_LIMIT
    )
    k_best: int = option(
        "Different translations in a k-best list of training.", 100, minimum=2, maximum=MAX_K_BEST
    )
    forest_density: int = option(
        "Edges of a forest that tuners of forests keep, for each source word.", 50, minimum=1, maximum=10_000
    )
    jobs: int = option(
        "Jobs in which devtest and test, and dev for held_out, are each extracted and decoded, at most one a "
        "sentence; changes no result.",
        1,
        minimum=1,
        maximum=1000,
    )


@dataclass(frozen=True)
class Evaluation:
    """Scores and tests of significance."""

    tokenize: str = option(
        "sacrebleu's tokenisation: 13a as mteval-v11b does, or none to score the tokens as they are.",
        "13a",
        choices=TOKENIZATIONS,
    )
    trials: int = option("Shufflings of approximate randomization.", 10000, minimum=1)


@dataclass(frozen=True)
class Tasks:
    """What the Z shards are."""

    shards: int = option(
        "Shards Z that the tuning corpus is split into, balanced, after a shuffle; part of the algorithm.",
        1,
        minimum=1,
        maximum=100_000,
    )
    language_model_folds: int | None = option(
        "tune_on train: with N > 1, shards z, z + N, ... are trained with a language model that has not seen "
        "their text, as their grammars have not (docs/workflow.md). 1: all with the model of the whole text. "
        "null: 10, or as many as there are shards.",
        minimum=1,
        maximum=1000,
    )
    shards_per_job: int = option(
        "On a cluster: shards that one task of an array job trains, one after another; changes no result.",
        1,
        minimum=1,
        maximum=100_000,
    )


@dataclass(frozen=True)
class Experiment:
    """One way to learn weights. All experiments share the corpus, its alignment and the models of it."""

    algorithm: str | None = option(
        "sgd, mixsgd, itermixsgd or itersel: algorithms 1 to 4 of Simianer, Riezler & Dyer (2012). A name "
        "for a mixing (docs/learning.md), which need not be given then.",
        choices=tuple(ALGORITHMS),
    )
    tune_on: str = option("The corpus that weights are learned from.", "train", choices=TUNING_SETS)
    features: str = option(
        "dense: the 12 dense features; all: sparse features as well (rule identity, bigrams, shape).",
        "all",
        choices=FEATURE_SETS,
    )
    epochs: int = option("Epochs T; the best on devtest is taken.", 10, minimum=1, maximum=1000)
    k_best: int | None = option(
        "Different translations in a k-best list that is learned from; null: as decoder.k_best.",
        minimum=2,
        maximum=MAX_K_BEST,
    )
    seed: int | None = option(
        "Seed of the shuffle before shards are cut, and of all that is drawn; null: the seed of the run.",
        minimum=1,
        maximum=MAX_SEED,
    )
    repeats: int = option(
        "Times that the experiment is run, with seeds that follow each other; the table has the mean and "
        "the standard deviation. The second is `<name>.repeat-2` everywhere else.",
        1,
        minimum=1,
        maximum=100,
    )
    tasks: Tasks = field(default_factory=Tasks, metadata=explain("What the Z shards are."))
    learner: Learner | Batch = field(
        default_factory=Perceptron,
        metadata=explain(
            "What one shard does with its sentences in one epoch; or, of pro, kbest-mira, mert and "
            "forest-mert, what is made of the k-best lists or forests of all shards and epochs."
        ),
    )
    mixing: Mixing = field(
        default_factory=Selection,
        metadata=explain(
            "What becomes of the Z weight vectors after an epoch; none where one vector is tuned on all "
            "shards."
        ),
    )
    held_out: HeldOut = field(
        default_factory=HeldOut,
        metadata=explain(
            "tune_on train: a step on dev after each epoch, where the dense features are tuned again, and "
            "all sparse ones as one. The epoch is still chosen on devtest."
        ),
    )


@dataclass(frozen=True)
class Config:
    """A run: data, models and experiments."""

    name: str = option("Name of the run; its files are in `<output>/<name>`.", "run", pattern=NAME_PATTERN)
    output: str = option("Folder of all results.", "results", path=True)
    cache: str = option(
        "Folder of compiled kernels, shared by all jobs and all runs; $VARIABLES are filled in where a job "
        "runs.",
        "cache",
        path=True,
    )
    seed: int = option(
        "Seed of everything random: alignment, sharding, sampling of pairs, significance.",
        1,
        minimum=1,
        maximum=MAX_SEED,
    )
    data: Data = field(
        default_factory=Data, metadata=explain("Where the text comes from, and how it is prepared.")
    )
    align: Align = field(default_factory=Align, metadata=explain("Word alignment of the training corpus."))
    language_model: LanguageModel = field(
        default_factory=LanguageModel, metadata=explain("Language model of the target side.")
    )
    grammar: Grammar = field(
        default_factory=Grammar, metadata=explain("Extraction of the hierarchical rules (Chiang 2007).")
    )
    decoder: Decoder = field(default_factory=Decoder, metadata=explain("Search, in training and in testing."))
    evaluation: Evaluation = field(
        default_factory=Evaluation, metadata=explain("Scores and tests of significance.")
    )
    experiments: dict[str, Experiment] = field(
        default_factory=dict,
        metadata=explain("Experiments by name; the table at the end compares all of them."),
    )
