"""Names of files in a folder of results, ``<output>/<name>``, that several modules write or read.

The inputs and outputs of rules state the same names, so that rules can be read without this module; functions
of the workflow import them.
"""

from __future__ import annotations

import re

# Folders: prepared text, experiments, translations of the test sets, tables and pages.
CORPUS, EXPERIMENTS, EVALUATION, REPORT = "corpus", "experiments", "evaluation", "report"

# Logs and measurements of jobs, in a folder for each step.
LOGS, BENCHMARKS = "logs", "benchmarks"
# How train was prepared, and the recaser learned from it; the index of the training corpus.
PREPARATION, RECASER = f"{CORPUS}/preparation.json", f"{CORPUS}/recaser.json"
INDEX = "grammar/index"
# Written when the workflow starts: the config as given, and versions.
RUN = f"{REPORT}/run.json"
# The tables of the systems and of the corpora, and the sentences that are explained, for the page.
TABLE, CORPUS_TABLE = f"{REPORT}/table.json", f"{REPORT}/corpus.json"
DERIVATIONS = f"{REPORT}/derivations.json"
# Pages. That of an unfinished run has a different name because the other one is an output of the workflow.
PAGE, PROGRESS_PAGE = f"{REPORT}/index.html", f"{REPORT}/progress.html"

# In the folders of divisions, epochs and lists: their manifest, written once all of their files exist.
MANIFEST = "files.txt"
# In the folder of an experiment: the best epoch, and the table of what was selected.
BEST = "best"
SELECTION_TABLE = "selection.json"
# In the folder of an epoch, or of the best one: its weights.
WEIGHTS = "weights.h5"
# In the folder of an epoch: mixed weights that are tuned afterwards, the matrix of the shards' weights, the
# translation of devtest, the decision whether training stops.
MIXED, SELECTION_MATRIX = "mixed.h5", "selection.h5"
DEVTEST, DECISION = "devtest.txt", "decision.json"
# In the folder of the best epoch: what describes the system, and what it needs to translate.
SYSTEM, RESOURCES, MBR = "system.json", "resources.json", "mbr.json"

EPOCH_PREFIX = "epoch-"
_EPOCH = re.compile(rf"{EPOCH_PREFIX}([1-9][0-9]{{0,5}})")


def epoch_folder(number: int) -> str:
    """Return the folder of an epoch, in that of its experiment."""
    return f"{EPOCH_PREFIX}{number}"


def epoch_of(folder: str) -> int | None:
    """Return the number of the epoch with a folder of this name; None for other folders."""
    match = _EPOCH.fullmatch(folder)
    return None if match is None else int(match[1])


def shard_weights(number: int | str) -> str:
    """Return the weights of a shard, in the folder of an epoch; the number may be ``*``."""
    return f"shard-{number}.h5"


def detokenized_text(test_set: str, system: str) -> str:
    """Return the detokenised translations of a test set by a system."""
    return f"{EVALUATION}/{test_set}/{system}.txt"


def counts_file(test_set: str, system: str) -> str:
    """Return the counts from which a system is scored on a test set."""
    return f"{EVALUATION}/{test_set}/counts/{system}.h5"


def best_folder(test_set: str | None = None) -> str:
    """Return the folder of the best epoch; for a test set with its own devtest, of the best one for it."""
    return BEST if test_set is None else f"{BEST}-{test_set}"
