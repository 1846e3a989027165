"""Names that users give: of experiments, other systems, corpora, test sets and labels."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from itersel.config.messages import show, wrong
from itersel.corpus.text_names import TEST_SET_PATTERN

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
# Translations and references are in the same folder.
EXPERIMENT_PATTERN = rf"(?!reference\.[0-9]+$){NAME_PATTERN}"
# The name of one of the user's own scores. Columns of TSV files have further words after "_".
SCORE_PATTERN = r"[A-Za-z0-9][A-Za-z0-9.-]*"
# A label is one word in a file of labels and must be usable on the command line.
LABEL_PATTERN = r"[^\s=,{}\x00-\x1f\x7f-\x9f-][^\s=,{}\x00-\x1f\x7f-\x9f]*"

LABEL = "a label: one word without '=', ',' and braces that does not begin with '-'"

# Keys that were renamed (CHANGELOG.md), and their new names, of which a section has one.
RENAMED_KEYS: Mapping[str, tuple[str, ...]] = {
    "bleu": ("sentence_bleu",),
    "cut": ("division",),
    "dense": ("dense_names", "groups"),
    "density": ("forest_density",),
    "directions": ("random_directions",),
    "held_out": ("retune",),
    "held_out_modules": ("held_out_labels",),
    "hypotheses": ("list_numbers",),
    "jobs": ("pieces",),
    "language_model_names": ("user_model_names",),
    "language_models": ("user_models",),
    "minimum": ("minimum_threshold", "minimum_sentences"),
    "modules": ("only_labels",),
    "scores": ("user_scores",),
    "sentences": ("derivations",),
    "shard": ("shard_number", "file_number"),
    "shard_number": ("file_number",),
    "sharding": ("division",),
    "shards": ("files",),
    "shards_per_job": ("shards_per_array_task",),
    "size": ("size_of_one_task",),
    "split": ("cut",),
    "start": ("next_epoch_from",),
    "strength": ("strength_per_epoch",),
    "sum_sparse": ("retune",),
    "systems": ("system_numbers",),
    "task": ("labels", "label"),
    "threshold": ("first_threshold",),
    "tokenize": ("retokenize",),
    "translations": ("list_numbers",),
}


class Names(NamedTuple):
    """A section of values by name: what messages call its content, a check of names, and the least number."""

    content: str
    check: Callable[[object, str], None]  # raises an InputError for a wrong name; the second is the full key
    least: int = 0
    # keys of a value that may lack a name if it is the only one; they cannot be names
    keys_of_single: tuple[str, ...] = ()


def check_name(of: str, name: object, key: str) -> None:
    """Reject a name that cannot name a translation file."""
    if not isinstance(name, str) or not re.fullmatch(EXPERIMENT_PATTERN, name):
        allowed = "letters, digits, '.', '_' and '-', and must not be like reference.0"
        raise wrong(key, f": the name of {of} may contain {allowed}{quotes(name)}")


def check_text_name(of: str, excluded: Collection[str], name: object, key: str) -> None:
    """Reject a name of a corpus or test set that cannot be part of a file name, or is a key."""
    if not isinstance(name, str):
        raise wrong(key, f": the name of a {of} must be text, not {show(name)}{quotes(name)}")
    if name and (name in excluded or not re.fullmatch(TEST_SET_PATTERN, name)):
        allowed = f"letters, digits, '_' and '-', and must not be one of {', '.join(excluded)}"
        raise wrong(key, f": the name of a {of} may contain {allowed}")


def check_label(label: object, key: str) -> None:
    """Reject the name of a key that should be a label; values are checked in `allowed_values`."""
    if not isinstance(label, str):
        raise wrong(key, f": the name must be text, not {show(label)}{quotes(label)}")
    if not re.fullmatch(LABEL_PATTERN, label):
        raise wrong(key, f": the name must be {LABEL}")


def quotes(value: object) -> str:
    """Return advice on text that YAML takes for something else."""
    if isinstance(value, bool):
        words = "yes, on and true" if value else "no, off and false"
        return f"; YAML reads {words} in this way: put the word in quotes, as in '{'yes' if value else 'no'}'"
    if isinstance(value, int | float | datetime.date):
        return f"; put it in quotes: '{value}'"
    return ""
