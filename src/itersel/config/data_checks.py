"""Check that a config's keys about parallel text are complete and consistent."""

from __future__ import annotations

import re
from functools import partial

from itersel.config.data import Data, ReferencedText, TrainingText
from itersel.config.messages import check_unique, reject, wrong
from itersel.config.splits import texts_by_key
from itersel.config.text_steps import check_patterns, check_tokenized
from itersel.config.values import Config
from itersel.corpus.corpora import (
    CONTEXT,
    FORMATS,
    MO,
    PO,
    RECORD_FORMATS,
    TABLE_FORMATS,
    TSV,
    format_of,
    other_than,
)
from itersel.corpus.text_names import NO_TEST_SETS, UNNAMED_TEST_SET, is_test_set_name
from itersel.errors import InputError, attempt_all
from itersel.evaluate.names import QUALITY
from itersel.keys import changed
from itersel.storage.files import suffixes

# The keys that say where a text comes from: parallel files, or exactly one of the others.
PARALLEL = ("source", "target")
ORIGINS = (*PARALLEL, "file", "mtdata", "sacrebleu")
# Group, name, version and two languages.
MTDATA_PATTERN = r"[^\s-]+-[^\s-]+-[^\s-]+-[A-Za-z_]+-[A-Za-z_]+"

# Keys of data that have an effect for one of these kinds only.
OF_HELP = ("folder", "mirror", "release", "only_labels", "held_out_labels")
OF_FILES = ("tokenized", "cut")


def check_parallel_text(config: Config) -> None:
    """Reject missing keys of `data`, and keys for another kind of data."""
    data = config.data
    _refuse_lists(config)
    if "" in data.test and data.test[""].devtest != ReferencedText():
        raise wrong("data.test.devtest", "needs a named test set; use data.devtest instead")
    attempt_all(partial(_check_text, config, *one) for one in texts_by_key(data).items())
    _check_alignment(data)
    _check_kind(data)
    _check_held_out_labels(data)


def check_preparation(config: Config) -> None:
    """Reject invalid patterns, and keys that have no effect on tokenised text."""
    data = config.data
    check_tokenized(data.tokenized, data.protected, data.lowercase, "data")
    check_patterns("data.protected", data.protected)


def _check_kind(data: Data) -> None:
    """Reject keys for another kind of data."""
    misplaced = OF_HELP if data.kind == "files" else OF_FILES
    for name in changed(data):
        if name in misplaced:
            other = "libreoffice-help" if name in OF_HELP else "files"
            raise wrong(f"data.{name}", f"needs data.kind: {other}")
        if name in ("mirror", "release") and data.folder is not None:
            raise wrong(f"data.{name}", "has no effect with data.folder; remove one of them")


def _check_text(config: Config, key: str, text: TrainingText | ReferencedText) -> None:
    """Reject files if the text comes from elsewhere, missing files, and keys without effect."""
    split = key.removeprefix("data.")
    is_test_set = key.startswith("data.test.")
    given = changed(text)

    if split in config.data.cut.by_split:
        if given:
            raise wrong(key, f"names files, but data.cut.{split} cuts it from train; remove one")
    # with the LibreOffice Help, only test sets with names are not taken from the help
    elif config.data.kind == "files" or is_test_set:
        _check_origin(text, key)
        _check_tables(text, key)
        _check_fields(text, key)
        _check_names(config.data, text, key)
    elif given:
        raise wrong(f"{key}.{given[0]}", "needs data.kind: files")


def _check_origin(text: TrainingText | ReferencedText, key: str) -> None:
    """Reject missing files, and keys that conflict or have no effect."""
    origins = [name for name in ORIGINS if getattr(text, name, None)]
    origin = next((name for name in origins if name not in PARALLEL), "source")

    if origin != "source":
        for name in origins:
            if name != origin:
                raise wrong(f"{key}.{name}", f"cannot be combined with '{key}.{origin}'; remove one of them")
        for name in ("labels", "alignment"):
            if getattr(text, name, None):
                advice = "; use columns.label" if origin == "file" and name == "labels" else ""
                why = f"it has no effect with {origin}{advice}"
                raise wrong(f"{key}.{name}", f"needs source and target, {why}")
        return

    for name in PARALLEL:
        if not getattr(text, name):
            kind = "devtest" if key.endswith(".devtest") else "test set"
            of_set = f"a {kind} needs source text and a reference translation"
            why = of_set if key.startswith("data.test.") else "data.kind: files needs it"
            raise wrong(f"{key}.{name}", f"is missing; {why}")
        for path in getattr(text, name):
            if format_of(path) is not None:
                raise wrong(f"{key}.{name}", f"names {path}, which is not plain text; use '{key}.file'")

    if isinstance(text, TrainingText):
        for name in ("target", "labels", "alignment"):
            count, sources = len(getattr(text, name)), len(text.source)
            if count and count != sources:
                others = f"'{key}.source' has {_files(sources)}; give one for each"
                raise wrong(f"{key}.{name}", f"has {_files(count)}, but {others}")
        return

    for name in ("source", "labels"):
        if (count := len(getattr(text, name))) > 1:
            raise wrong(f"{key}.{name}", f"has {_files(count)}; only data.train may have several")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _check_tables(text: TrainingText | ReferencedText, key: str) -> None:
    """Reject files of other formats, and columns or fields that no file has."""
    for path in text.file:
        if format_of(path) is None:
            expected = f"a file whose name ends in {', '.join(FORMATS)}, optionally with {suffixes()}"
            reject(f"{key}.file", path, expected)

    for name, kinds in (("columns", TABLE_FORMATS), ("fields", RECORD_FORMATS)):
        given = getattr(text, name)
        if changed(given) and not any(format_of(path) in kinds for path in text.file):
            raise wrong(f"{key}.{name}", f"needs a file of {', '.join(kinds)} in '{key}.file'")
        unlabelled = other_than(text.file, kinds)
        if given.label and unlabelled is not None:
            message = f"{unlabelled} has no labels; remove the key or the file"
            raise wrong(f"{key}.{name}.label", f": {message}")
        if given.source == given.target is not None:
            message = f"source and target are the same {name[:-1]}, {given.source}"
            raise wrong(f"{key}.{name}", f": {message}")


def _check_fields(text: TrainingText | ReferencedText, key: str) -> None:
    """Reject names of fields that would have no effect, or cannot be passed on."""
    given = text.fields
    if not changed(given):
        return

    if changed(text.columns) and not any(format_of(path) == TSV for path in text.file):
        raise wrong(f"{key}.columns", f"has no effect with '{key}.fields'; remove one of them")
    if bool(given.source) != bool(given.target):
        raise wrong(f"{key}.fields", ": give both source and target, or neither")
    for name in (given.source, given.target, given.label):
        if name is not None and "," in name:
            raise wrong(f"{key}.fields", f": '{name}' has a comma; rename the field")

    kinds = {format_of(path) for path in text.file}
    if kinds & {PO, MO} and (given.label not in (None, CONTEXT) or (given.source and kinds <= {PO, MO})):
        raise wrong(f"{key}.fields", f": catalogues have only the field {CONTEXT}, for label")


def _check_names(data: Data, text: TrainingText | ReferencedText, key: str) -> None:
    for name in text.mtdata:
        if not re.fullmatch(MTDATA_PATTERN, name):
            reject(f"{key}.mtdata", name, "an ID as in `mtdata list`, such as Statmt-europarl-7-deu-eng")
    check_unique(f"{key}.mtdata", text.mtdata)
    if isinstance(text, ReferencedText) and text.sacrebleu is not None:
        _check_language_pair(data, text.sacrebleu, key)


def _check_language_pair(data: Data, test_set: str, key: str) -> None:
    """Reject a test set that sacrebleu does not have in these languages."""
    from itersel.corpus.fetch import language_pair

    try:
        language_pair(test_set, data.source_language, data.target_language)
    except InputError as error:
        raise wrong(f"{key}.sacrebleu", f": {error}") from None


def _check_alignment(data: Data) -> None:
    texts = {key: text for key, text in texts_by_key(data).items() if isinstance(text, TrainingText)}
    aligned = [key for key, text in texts.items() if text.alignment]
    if aligned and (not data.tokenized or data.compound_splitting):
        needed = "data.tokenized: true and data.compound_splitting: false"
        raise wrong(f"{aligned[0]}.alignment", f"needs {needed}: it refers to the tokens of the files")
    for key in texts:
        if aligned and key not in aligned:
            advice = "give one for every corpus, or none"
            raise wrong(f"{key}.alignment", f"is missing, but '{aligned[0]}' has one; {advice}")


def _check_held_out_labels(data: Data) -> None:
    key = "data.held_out_labels"
    names = data.held_out_labels
    if UNNAMED_TEST_SET in names:
        raise wrong(key, f": '{UNNAMED_TEST_SET}' is the test set taken from the help; rename this one")

    for number, name in enumerate(names):
        if not is_test_set_name(name):
            reserved = ", ".join(NO_TEST_SETS)
            reject(key, name, f"a name of letters, digits, '_' and '-', and none of {reserved}")
        if name in data.test or name in names[:number]:
            raise wrong(key, f": two test sets are named '{name}'; remove or rename one")
        if name in data.only_labels:
            raise wrong(key, f": '{name}' is in data.only_labels, too; remove one of them")


def _refuse_lists(config: Config) -> None:
    """Reject keys of lists with another kind of data."""
    data = config.data
    for key, text in texts_by_key(data).items():
        for name in ("lists", "quality"):
            if getattr(text, name):
                raise wrong(f"{key}.{name}", "needs data.kind: lists")
    for name in ("dense_names", "lowercase"):
        if name in changed(data):
            raise wrong(f"data.{name}", "needs data.kind: lists")
    if config.evaluation.choose_by == QUALITY:
        raise wrong("evaluation.choose_by", f"is {QUALITY}, which needs data.kind: lists")
