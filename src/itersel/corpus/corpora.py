"""Input corpora: parallel files, or files with both sides, in one part or several, with or without a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from itersel.errors import InputError
from itersel.keys import key
from itersel.storage.files import MAX_LINE_BYTES, without_compression

# Which pairs are duplicates: those with the same source and target, the same source, or none.
DEDUPLICATION = ("pairs", "source", "none")

# The maximum number of columns in a TSV file.
MAX_COLUMNS = 1000

# By suffix: tables with numbered columns, records with named fields, and other files with both languages.
TSV, TMX, CSV = ".tsv", ".tmx", ".csv"
JSON_LINES = ".jsonl"
PARQUET = ".parquet"
PO = ".po"
MO = ".mo"
XLIFF = (".xlf", ".xliff")
# The label of a message in a catalogue.
CONTEXT = "msgctxt"
# A test set of WMT.
XML = ".xml"
TABLE_FORMATS, RECORD_FORMATS = (TSV, CSV), (CSV, JSON_LINES, PARQUET, PO, MO)
FORMATS = (TSV, CSV, TMX, *XLIFF, PO, MO, JSON_LINES, PARQUET, XML)


@dataclass(frozen=True)
class Columns:
    """Column numbers of the texts of a pair in a TSV file, from 1."""

    source: int = key("Column of the source side.", 1, minimum=1, maximum=MAX_COLUMNS)
    target: int = key("Column of the target side.", 2, minimum=1, maximum=MAX_COLUMNS)
    label: int | None = key("Column of the label; optional.", minimum=1, maximum=MAX_COLUMNS)


@dataclass(frozen=True)
class Fields:
    """Fields of a pair; None for the usual ones, or no label. In catalogues, the only label is `CONTEXT`."""

    source: str | None = key("Field of the source side; null: source, or a CSV file without a header.")
    target: str | None = key("Field of the target side; null: target, or a CSV file without a header.")
    label: str | None = key("Field of the label, msgctxt in PO and MO files; optional.")

    @property
    def texts(self) -> tuple[str, str]:
        """The fields of the source and of the target side."""
        return self.source or "source", self.target or "target"


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus; see `corpus_blocks`."""

    name: str = ""  # label of its pairs if they have no labels of their own; "" for none
    # Parallel files: the parts of each side, in order.
    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    # Files with additional references; a corpus that has them consists of one part.
    further: tuple[str, ...] = ()
    file: tuple[str, ...] = ()  # files with both sides (see `FORMATS`), instead of `source` and `target`
    # Columns of TSV files, and of CSV files without a header.
    columns: Columns = field(default_factory=Columns)
    # Fields of CSV files with a header, of JSON lines and of Parquet.
    fields: Fields = field(default_factory=Fields)
    labels: tuple[str, ...] = ()
    alignment: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """All files."""
        return [*self.source, *self.target, *self.further, *self.file, *self.labels, *self.alignment]

    @property
    def has_labels(self) -> bool:
        """Whether its pairs have labels: their own, or the name of the corpus."""
        return bool(self.name or self.labels or self.columns.label or self.fields.label)

    def with_references(self) -> Corpus:
        """Return a corpus whose targets after the first are additional references instead of parts."""
        return replace(self, target=self.target[:1], further=self.target[1:])


class Reading(NamedTuple):
    """How corpora are read."""

    # Codes such as ``de`` and ``en-us``, used to select the two sides of a TMX file.
    source_language: str
    target_language: str
    # The text is tokenised; words that are reserved in grammars and language models are rejected.
    tokenized: bool = False
    # Maximum length of a sentence in bytes, and advice to add to the error for longer ones.
    limit: int = MAX_LINE_BYTES
    advice: str = ""
    # Counts the pairs that are dropped because of control characters, ``|||`` or reserved words, under
    # "invalid"; None: these are errors.
    dropped: Counter[str] | None = None


def format_of(path: str) -> str | None:
    """Return which of `FORMATS` a file has according to its name, compressed or not; None for others."""
    name = without_compression(path).lower()
    return next((suffix for suffix in FORMATS if name.endswith(suffix)), None)


def other_than(files: Sequence[str], formats: Sequence[str]) -> str | None:
    """Return the first of some files that has none of these formats."""
    return next((path for path in files if format_of(path) not in formats), None)


def check_parts(corpus: Corpus) -> None:
    """Raise an InputError unless parallel files have the same number of parts."""
    count = len(corpus.source)
    for what, files in (
        ("target", corpus.target),
        ("labels", corpus.labels),
        ("alignment", corpus.alignment),
    ):
        if len(files) != count and (files or what == "target"):
            of = f"corpus '{corpus.name}'" if corpus.name else "the corpus"
            counts = f"{_files(count, 'source')}, but {_files(len(files), what)}"
            raise InputError(f"{of} has {counts}; give one for each")


def _files(count: int, what: str) -> str:
    return f"{count} {what} file" + ("" if count == 1 else "s")
