"""The keys of a config about text: corpora, their files and their preparation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

from itersel.config.names import Names, check_text_name
from itersel.corpus.corpora import Columns, Fields
from itersel.corpus.debian import ADDRESS_PATTERN, DEBIAN_MIRROR, DEBIAN_RELEASE, RELEASE_PATTERN
from itersel.corpus.settings import HeldOutSizes, PairFilters, Words
from itersel.corpus.text_names import NO_TEST_SETS, UNNAMED_TEST_SET
from itersel.keys import key, key_of, paths, section
from itersel.storage.files import COMPRESSIONS

# Bounds on the config's limit for lines of raw text; preparation makes a line at most four times as long.
MIN_RAW_LINE_BYTES = 2**10
DEFAULT_LINE_BYTES = 2**20
MAX_RAW_LINE_BYTES = 2**24

DATA_KINDS = ("libreoffice-help", "files", "lists")
SOURCE = f"Source side: UTF-8, one sentence per line, plain or compressed ({', '.join(COMPRESSIONS)})"


@dataclass(frozen=True)
class TrainingText:
    """A training corpus of `data.kind: files` or `lists`."""

    source: tuple[str, ...] = paths(f"{SOURCE}; or a list of files, which are joined.")
    target: tuple[str, ...] = paths(
        "Target side: each line is the translation of the same line of the source side; if a list, one file "
        "for each source file."
    )
    file: tuple[str, ...] = paths(
        "File with both sides (TSV, CSV, TMX, XLIFF, PO, MO, JSON lines or Parquet, by its name, plain or "
        "compressed), or a list of them, instead of source and target (docs/data.md)."
    )
    columns: Columns = section(
        Columns, "Columns of TSV files, and of CSV files without a header, counted from 1."
    )
    fields: Fields = section(
        Fields, "Fields of CSV files with a header, of JSON lines and of Parquet; `a.b` is field b within a."
    )
    mtdata: tuple[str, ...] = key(
        "ID of a dataset that the package mtdata downloads, or a list of them, instead of files; `mtdata "
        "list` shows all IDs.",
        (),
        alone=True,
    )
    labels: tuple[str, ...] = paths(
        "Label of each line (module, domain, section), one file for each source file; optional. Without "
        "labels, the name of a corpus is the label of its lines."
    )
    alignment: tuple[str, ...] = paths(
        "Word alignment of each line in Pharaoh format, source-target, one file for each source file; "
        "optional. If given, no aligner runs. Requires data.tokenized: true."
    )
    lists: tuple[str, ...] = paths(
        "data.kind: lists: n-best lists of the text, a file, a folder of files, or a list of them; target is "
        "then a reference, or a list of several (docs/other-decoders.md)."
    )
    quality: str | None = key(
        "data.kind: lists: file with a number for each translation in the lists, in their order; higher is "
        "better. Learners and tuners use it instead of BLEU, scaled so that the lowest number of the file is "
        "0 and the highest 1. On devtest, evaluation.choose_by: quality uses the numbers as they are.",
        path=True,
    )


@dataclass(frozen=True)
class ReferencedText:
    """The files of a tuning, development or test set."""

    source: tuple[str, ...] = paths(f"{SOURCE}; one file.")
    target: tuple[str, ...] = paths(
        "Reference translation, line by line as in the source side; or a list of several."
    )
    file: tuple[str, ...] = key_of(TrainingText, "file")
    columns: Columns = key_of(TrainingText, "columns")
    fields: Fields = key_of(TrainingText, "fields")
    mtdata: tuple[str, ...] = key_of(TrainingText, "mtdata")
    sacrebleu: str | None = key(
        "Test set that sacrebleu downloads, such as wmt11, instead of files; `sacrebleu --list` shows all."
    )
    labels: tuple[str, ...] = paths("Label of each line (module, domain, section), one file; optional.")
    lists: tuple[str, ...] = key_of(TrainingText, "lists")
    quality: str | None = key_of(TrainingText, "quality")


@dataclass(frozen=True)
class TestSet(ReferencedText):
    """The files of a test set."""

    devtest: ReferencedText = section(
        ReferencedText,
        "Devtest for choosing the epoch for this test set only; optional, named test sets only.",
    )


# Names that no corpus of train can have.
CORPUS_KEYS = tuple(one.name for one in fields(TrainingText))


@dataclass(frozen=True)
class TextSource:
    """The languages, and where the text comes from."""

    kind: str = key(
        "libreoffice-help: the LibreOffice Help in two languages, from Debian's packages; "
        "files: your own parallel text, or corpora that mtdata and sacrebleu download; "
        "lists: n-best lists of another decoder.",
        "libreoffice-help",
        choices=DATA_KINDS,
    )
    source_language: str = key_of(Words, "source_language", default="de")
    target_language: str = key_of(Words, "target_language", default="en-us")
    folder: str | None = key(
        "libreoffice-help: folder that contains the unpacked help or the two .deb files; null: fetch them.",
        path=True,
    )
    mirror: str = key(
        "libreoffice-help: Debian mirror to fetch the packages from.", DEBIAN_MIRROR, pattern=ADDRESS_PATTERN
    )
    release: str = key(
        "libreoffice-help: Debian release of the packages. The text differs between releases.",
        DEBIAN_RELEASE,
        pattern=RELEASE_PATTERN,
    )


@dataclass(frozen=True)
class CorpusKeys(PairFilters):
    """The keys that ``itersel corpus prepare`` has, too: which text is read, and which pairs are used."""

    drop_invalid_pairs: bool = key(
        "Drop pairs with control characters, ||| or, in tokenised text, words that are reserved in grammars "
        "and language models, and count them; false: stop with a list of them.",
        False,
    )
    max_line_bytes: int = key(
        "Reject text that has a line of more bytes than this; it is damaged or not one sentence per line.",
        DEFAULT_LINE_BYTES,
        minimum=MIN_RAW_LINE_BYTES,
        maximum=MAX_RAW_LINE_BYTES,
    )


@dataclass(frozen=True)
class Data(CorpusKeys, TextSource):
    """Where the text comes from and how it is prepared."""

    cut: HeldOutSizes = section(
        HeldOutSizes,
        "files: held-out sets to cut from data.train, instead of data.dev, data.devtest and data.test.",
    )
    train: dict[str, TrainingText] = section(
        lambda: {"": TrainingText()},
        "files, lists: training corpus. files: or several named corpora, which are joined, and whose names "
        "can be the labels of natural tasks.",
        names=Names(
            "files, or corpora by name", partial(check_text_name, "corpus", CORPUS_KEYS), 0, CORPUS_KEYS
        ),
    )
    dev: ReferencedText = section(
        ReferencedText, "files, lists: corpus for tuning; learners and tuners use all references."
    )
    devtest: ReferencedText = section(ReferencedText, "files, lists: corpus on which the epoch is chosen.")
    test: dict[str, TestSet] = section(
        dict,
        "files, lists: corpus that is scored at the end; or several named test sets, scored separately "
        "and pooled. libreoffice-help: further test sets by name.",
        names=Names(
            "files, or test sets by name",
            partial(check_text_name, "test set", (*NO_TEST_SETS, UNNAMED_TEST_SET)),
            keys_of_single=NO_TEST_SETS,
        ),
    )
    monolingual: tuple[str, ...] = paths(
        "Additional target text for the language model: a file or a list of files; optional."
    )
    protected: tuple[str, ...] = key_of(Words, "protected", alone=None)
    tokenized: bool = key("files, lists: the text is already tokenised; use its tokens as they are.", False)
    lowercase: bool = key("lists: learn from lowercased words; false: case counts, as in cased BLEU.", True)
    dense_names: tuple[str, ...] = key(
        "lists: names of the dense features; all others are sparse. Empty: those written `Name= value`; in "
        "lists without any, those of itersel, and words that may end in a number, such as TM_1.",
        (),
    )
