"""Names of files in a folder of results, ``<output>/<name>``: those that several modules or rules need.

They are relative to that folder, or to the folder that a comment names. Functions also take the wildcards of
rules, such as ``{epoch}``. The comments at the top of the files in workflow/rules show whole paths.
"""

from __future__ import annotations

import re

# Folders.
CORPUS = "corpus"  # prepared text
EXPERIMENTS = "experiments"
EVALUATION = "evaluation"  # translations of the test sets
REPORT = "report"  # tables and pages

# Logs and measurements of jobs, in a folder for each step.
LOGS = "logs"
BENCHMARKS = "benchmarks"

# How train was prepared: the name of the file in the folder of prepared text, and its path in the results.
PREPARATION_FILE = "preparation.json"
PREPARATION = f"{CORPUS}/{PREPARATION_FILE}"
# The recaser learned from train, also as name and path.
RECASER_FILE = "recaser.json"
RECASER = f"{CORPUS}/{RECASER_FILE}"
# The index of the training corpus.
INDEX = "grammar/index"
# The language model of all text: compiled, and as it is estimated.
LANGUAGE_MODEL = "lm/lm.bin"
ARPA = "lm/lm.arpa.gz"

# Written when the workflow starts: the config as given, and versions.
RUN = f"{REPORT}/run.json"
# The tables of the systems and of the corpora, and the sentences that are explained, for the page.
TABLE = f"{REPORT}/table.json"
CORPUS_TABLE = f"{REPORT}/corpus.json"
DERIVATIONS = f"{REPORT}/derivations.json"
# The page of a run; as it is an output of the workflow, the page of an unfinished run has another name.
PAGE = f"{REPORT}/index.html"
PROGRESS_PAGE = f"{REPORT}/progress.html"

# In the folders of divisions, epochs and lists: their manifest, written once all of their files exist.
MANIFEST = "files.txt"
# In the folder of a division: the text of its files.
DIVIDED_TEXT = "text"

# In the folder of an experiment: the best epoch, and the table of what was selected.
BEST = "best"
SELECTION_TABLE = "selection.json"
# In the folder of an epoch, or of the best one: its weights.
WEIGHTS = "weights.h5"
# In the folder of an epoch.
MIXED = "mixed.h5"  # mixed weights that are tuned afterwards
WEIGHT_MATRIX = "matrix.h5"  # the weights of all shards
DECISION = "decision.json"  # whether training stops
TUNING = "tuning"  # the folder of the lists or forests that a tuner reads
# In the folder of the best epoch.
SYSTEM = "system.json"  # what describes the system
RESOURCES = "resources.json"  # what it needs to translate
MBR = "mbr.json"  # its minimum Bayes risk

EPOCH_PREFIX = "epoch-"
_EPOCH = re.compile(rf"{EPOCH_PREFIX}([1-9][0-9]{{0,5}})")


def alignment_file(text: str) -> str:
    """Return the word alignment of train, or in one direction, ``forward`` or ``reverse``."""
    return f"align/{text}.align.gz"


def fold_folder(division: str, folds: int | str) -> str:
    """Return the folder of the language models that each leave out every `folds`-th file of a division."""
    return f"lm/{division}/{folds}-folds"


def fold_model(fold: int | str) -> str:
    """Return the language model without the text of a fold, in that folder."""
    return f"{fold}.bin"


def division_folder(split: str, division: str) -> str:
    """Return the folder of a division of a split."""
    return f"sentences/{split}/{division}"


def sentence_file(file: int | str) -> str:
    """Return a file of sentences with their grammars, or given lists, in the folder of a division."""
    return f"{file}.h5"


def epoch_folder(number: int | str) -> str:
    """Return the folder of an epoch, in that of its experiment."""
    return f"{EPOCH_PREFIX}{number}"


def epoch_of(folder: str) -> int | None:
    """Return the number of the epoch with a folder of this name; None for other folders."""
    match = _EPOCH.fullmatch(folder)
    return None if match is None else int(match[1])


def shard_weights(number: int | str) -> str:
    """Return the weights of a shard, in the folder of an epoch; the number may be ``*``."""
    return f"shard-{number}.h5"


def iteration_folder(number: int | str) -> str:
    """Return the folder of an iteration of retuning that is not the last one, in that of its epoch."""
    return f"iteration-{number}"


def tuning_file(file: int | str) -> str:
    """Return the lists or forests of a file of sentences, in the folder of an epoch or iteration."""
    return f"{TUNING}/{file}.h5"


def best_folder(test_set: str | None = None) -> str:
    """Return the folder of the best epoch; for a test set with its own devtest, of the best one for it."""
    return BEST if test_set is None else f"{BEST}-{test_set}"


def translation_file(split: str) -> str:
    """Return the tokenised translation of a split, in the folder of an epoch, or of the best one."""
    return f"{split}.txt"


def translated_piece(split: str, piece: int | str) -> str:
    """Return the part of this translation that one job writes."""
    return f"{split}/{piece}.txt"


def joined_translation(split: str) -> str:
    """Return the translation of a split by all independent tasks, in the folder of their experiment."""
    return f"tasks/{split}.txt"


def plain_reference(test_set: str, number: int | str) -> str:
    """Return a reference of a test set as plain text."""
    return f"{EVALUATION}/{test_set}/reference.{number}.txt"


def detokenized_text(test_set: str, system: str) -> str:
    """Return the detokenised translations of a test set by a system."""
    return f"{EVALUATION}/{test_set}/{system}.txt"


def counts_file(test_set: str, system: str) -> str:
    """Return the counts from which a system is scored on a test set."""
    return f"{EVALUATION}/{test_set}/counts/{system}.h5"


def rule_counts_file(split: str) -> str:
    """Return the number of rules in the grammars of a split."""
    return f"{REPORT}/rules.{split}.json"
