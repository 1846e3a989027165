"""Names of splits, test sets and references; imports little, so that configs and commands load quickly."""

import re

HELD_OUT = ("dev", "devtest", "test")
SPLITS = ("train", *HELD_OUT)
# The text that is split by a hash of its source.
BY_HASH = "hash"
# The column of the raw source, before preparation, and that of the first translations in lists.
RAW_SOURCE, FIRST_COLUMN = "raw.source", "first"
# The columns of the LibreOffice Help.
HELP_COLUMNS = ("source", "target", "labels")
# How a text was collected or prepared.
STATISTICS = "statistics.json"
# How files end that have the numbers of the sentences of a part of a text.
IDS = ".ids"
# In divided lists, the column of the numbers of `data.*.quality`, scaled to 0 to 1.
SCALED_QUALITY = "scaled-quality"
# Further text for the language model.
MONOLINGUAL_FILE = "monolingual.gz"
TEST_SET_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]*"
# The name of the test set without a name, for which no other can be used.
UNNAMED_TEST_SET = "test"
# The name for all test sets together, and the config keys of a single one: not allowed as test set names.
POOLED = "pooled"
NO_TEST_SETS = (
    *(POOLED, "source", "target", "file", "columns", "fields", "mtdata", "sacrebleu", "labels", "devtest"),
    *("lists", "quality"),
)

# What tables call the translations that another decoder ranks first in its n-best lists. It cannot be the
# name of an experiment, which has no spaces.
FIRST_ENTRIES = "first entries"


def is_test_set_name(name: object) -> bool:
    """Return whether this name is valid for a test set: usable in file names and not a reserved key."""
    return isinstance(name, str) and bool(re.fullmatch(TEST_SET_PATTERN, name)) and name not in NO_TEST_SETS


def is_split(text: str) -> bool:
    """Return whether this is the name of a split, such as ``dev`` or ``test.news``, or ``hash``."""
    kind, _, name = text.partition(".")
    is_named = kind in ("test", "devtest") and is_test_set_name(name)
    return text in (*SPLITS, BY_HASH) or is_named


def text_name(split: str, name: str) -> str:
    """Return the name of a text: ``train``, ``train.news``, ``test.wmt11``; its folder if downloaded."""
    return f"{split}.{name}" if name else split


def split_of_test_set(name: str) -> str:
    """Return the split of a test set."""
    return text_name("test", "" if name == UNNAMED_TEST_SET else name)


def statistics_file(split: str) -> str:
    """Return the name of the statistics of preparing a split, or of the text that is split by hash."""
    return STATISTICS if split == BY_HASH else f"{split}.{STATISTICS}"


def column_file(text: str | int, column: str) -> str:
    """Return the file of a column of a text, or of a part of it: ``train.source.gz``, ``0.lists.gz``."""
    return f"{text}.{column}.gz"


def collected_file(column: str) -> str:
    """Return the file of a column in the folder of a text that was downloaded or collected."""
    return f"{column}.gz"


def ids_file(file: str | int) -> str:
    """Return the file with the numbers of the sentences of a part of a text."""
    return f"{file}{IDS}"


def reference_column(number: int) -> str:
    """Return the column of a reference: target, target.1, target.2 and so on."""
    return f"target.{number}" if number else "target"


def reference_columns(count: int) -> list[str]:
    """Return the columns of all references."""
    return [reference_column(number) for number in range(count)]


def raw_columns(count: int) -> list[str]:
    """Return the columns of the raw references: raw, raw.1, raw.2 and so on."""
    return [f"raw.{number}" if number else "raw" for number in range(count)]
