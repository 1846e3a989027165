"""Check that a config's keys about text are complete and consistent."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial

from itersel.config.data import Data, ReferencedText, Split, TestSet, TextColumns, TextFields
from itersel.config.list_checks import check_lists, refuse_lists
from itersel.config.options import check_unique, join, reject, wrong
from itersel.config.values import Config
from itersel.corpus.corpora import CONTEXT, FORMATS, MO, PO, RECORDS, TABLES, TSV, format_of, other_than
from itersel.errors import InputError, attempt_all
from itersel.limits import NO_TEST_SETS, is_test_set_name
from itersel.storage.files import suffixes

# The forms of a text: parallel files, or just one of the others.
PARALLEL = ("source", "target")
FORMS = (*PARALLEL, "file", "mtdata", "sacrebleu")
# Group, name, version and two languages.
MTDATA_PATTERN = r"[^\s-]+-[^\s-]+-[^\s-]+-[A-Za-z_]+-[A-Za-z_]+"


def check_data(config: Config) -> None:
    """Reject missing keys of `data`, and keys for another kind of data."""
    data = config.data
    if data.kind == "lists":
        check_lists(config)
        _check_protected(data)
        return
    refuse_lists(data)
    is_files = data.kind == "files"
    # with the LibreOffice Help, the test set without a name is taken from the help
    texts: dict[str, Split | ReferencedText] = {_train_key(name): text for name, text in data.train.items()}
    texts |= {"data.dev": data.dev, "data.devtest": data.devtest}
    texts |= {"data.test": data.test.get("", TestSet())} if not is_files or not data.test else {}
    # splits that are cut from train, for which the config must not name files
    given = {"dev": data.dev, "devtest": data.devtest, "test": data.test.get("", TestSet())}
    cut = {f"data.{split}": text for split, text in given.items() if getattr(data.split, split)}
    texts = {key: text for key, text in texts.items() if key not in cut}
    check = partial(_check_text, data, why="data.kind: files needs it") if is_files else _check_not_given
    checks = [partial(check, text, key) for key, text in texts.items()]
    checks += [partial(_check_cut, key, text) for key, text in cut.items()]
    checks += [
        partial(_check_test_set, data, name)
        for name in data.test
        if name or (is_files and "data.test" not in cut)
    ]
    attempt_all(checks)
    _check_alignment(config)
    of_help = ("folder", "mirror", "release", "modules", "held_out_modules")
    misplaced = of_help if is_files else ("tokenized", "split")
    for option in misplaced:
        if getattr(data, option) != getattr(Data(), option):
            other = "libreoffice-help" if is_files else "files"
            raise wrong(f"data.{option}", f"needs data.kind: {other}")
    for option in ("mirror", "release"):
        if data.folder is not None and getattr(data, option) != getattr(Data(), option):
            raise wrong(f"data.{option}", "has no effect with data.folder; remove one of them")
    _check_held_out_modules(data)
    _check_protected(data)


def _check_cut(key: str, text: ReferencedText) -> None:
    if text != type(text)():
        split = key.removeprefix("data.")
        raise wrong(key, f"names files, but data.split.{split} cuts it from train; remove one")


def _train_key(name: str) -> str:
    return join("data.train", name) if name else "data.train"


def _check_not_given(text: Split | ReferencedText, key: str) -> None:
    """Reject files if the text comes from elsewhere."""
    for item in fields(text):
        if getattr(text, item.name) not in (None, (), ReferencedText(), TextColumns(), TextFields()):
            raise wrong(f"{key}.{item.name}", "needs data.kind: files")


def _check_text(data: Data, text: Split | ReferencedText, key: str, *, why: str) -> None:
    """Reject a text with missing files, or with keys that conflict or have no effect."""
    forms = [name for name in FORMS if getattr(text, name, None)]
    form = next((name for name in forms if name not in PARALLEL), "source")
    for name in forms:
        if name != form and form != "source":
            raise wrong(f"{key}.{name}", f"cannot be combined with '{key}.{form}'; remove one of them")
    if form == "source":
        for name in PARALLEL:
            if not getattr(text, name):
                raise wrong(f"{key}.{name}", f"is missing; {why}")
    for name in PARALLEL if form == "source" else ():
        given = getattr(text, name) or ()
        for path in [given] if isinstance(given, str) else given:
            if format_of(path) is not None:
                raise wrong(f"{key}.{name}", f"names {path}, which is not plain text; use '{key}.file'")
    for name in ("task", "alignment"):
        if getattr(text, name, None) and form != "source":
            advice = "; use columns.task" if form == "file" and name == "task" else ""
            raise wrong(f"{key}.{name}", f"needs source and target, it has no effect with {form}{advice}")
    if isinstance(text, Split):
        for name in ("target", "task", "alignment"):
            count, sources = len(getattr(text, name)), len(text.source)
            if count and count != sources:
                raise wrong(
                    f"{key}.{name}",
                    f"has {_files(count)}, but '{key}.source' has {_files(sources)}; give one for each",
                )
    _check_tables(text, key)
    _check_fields(text, key)
    _check_names(data, text, key)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _check_tables(text: Split | ReferencedText, key: str) -> None:
    """Reject files of other formats, and columns or fields that no file has."""
    for path in text.file:
        if format_of(path) is None:
            expected = f"a file whose name ends in {', '.join(FORMATS)}, optionally with {suffixes()}"
            reject(f"{key}.file", path, expected)
    for name, default, kinds in (("columns", TextColumns(), TABLES), ("fields", TextFields(), RECORDS)):
        given = getattr(text, name)
        if given != default and not any(format_of(path) in kinds for path in text.file):
            raise wrong(f"{key}.{name}", f"needs a file of {', '.join(kinds)} in '{key}.file'")
        unlabelled = other_than(text.file, kinds)
        if given.task and unlabelled is not None:
            message = f"{unlabelled} has no labels; remove the key or the file"
            raise wrong(f"{key}.{name}.task", f": {message}")
        if given.source == given.target is not None:
            message = f"source and target are the same {name[:-1]}, {given.source}"
            raise wrong(f"{key}.{name}", f": {message}")


def _check_fields(text: Split | ReferencedText, key: str) -> None:
    """Reject names of fields that would have no effect, or cannot be passed on."""
    given = text.fields
    if given == TextFields():
        return
    if text.columns != TextColumns() and not any(format_of(path) == TSV for path in text.file):
        raise wrong(f"{key}.columns", f"has no effect with '{key}.fields'; remove one of them")
    if bool(given.source) != bool(given.target):
        raise wrong(f"{key}.fields", ": give both source and target, or neither")
    for name in (given.source, given.target, given.task):
        if name is not None and "," in name:
            raise wrong(f"{key}.fields", f": '{name}' has a comma; rename the field")
    kinds = {format_of(path) for path in text.file}
    if kinds & {PO, MO} and (given.task not in (None, CONTEXT) or (given.source and kinds <= {PO, MO})):
        raise wrong(f"{key}.fields", f": catalogues have only the field {CONTEXT}, for task")


def _check_names(data: Data, text: Split | ReferencedText, key: str) -> None:
    """Reject invalid names of datasets."""
    for name in text.mtdata:
        if not re.fullmatch(MTDATA_PATTERN, name):
            reject(f"{key}.mtdata", name, "an ID as in `mtdata list`, such as Statmt-europarl-7-deu-eng")
    check_unique(f"{key}.mtdata", text.mtdata)
    if isinstance(text, ReferencedText) and text.sacrebleu is not None:
        from itersel.corpus.fetch import language_pair

        try:
            language_pair(text.sacrebleu, data.source_language, data.target_language)
        except InputError as error:
            raise wrong(f"{key}.sacrebleu", f": {error}") from None


def _check_alignment(config: Config) -> None:
    data = config.data
    aligned = [_train_key(name) for name, corpus in data.train.items() if corpus.alignment]
    if not aligned:
        return
    if not data.tokenized or data.compound_splitting:
        raise wrong(
            f"{aligned[0]}.alignment",
            "needs data.tokenized: true and data.compound_splitting: "
            "false: it refers to the tokens of the files",
        )
    for key in map(_train_key, data.train):
        if key not in aligned:
            raise wrong(
                f"{key}.alignment",
                f"is missing, but '{aligned[0]}' has one; give one for every corpus, or none",
            )


def _check_test_set(data: Data, name: str) -> None:
    """Reject a test set without source text or reference."""
    test_set, key = data.test[name], f"data.test.{name}" if name else "data.test"
    has_devtest = test_set.devtest != ReferencedText()
    if has_devtest and not name:
        raise wrong(f"{key}.devtest", "needs a named test set; use data.devtest instead")
    _check_text(data, test_set, key, why="a test set needs source text and a reference translation")
    if has_devtest:
        why = "a devtest needs source text and a reference translation"
        _check_text(data, test_set.devtest, f"{key}.devtest", why=why)


def _check_protected(data: Data) -> None:
    if data.protected and data.tokenized:
        raise wrong("data.protected", "has no effect with data.tokenized; remove one of them")
    if data.protected:
        from itersel.corpus.tokenization import check_pattern

        for pattern in data.protected:
            try:
                check_pattern(pattern)
            except ValueError as error:
                raise wrong("data.protected", f": '{pattern}' {error}") from None


def _check_held_out_modules(data: Data) -> None:
    key, names = "data.held_out_modules", data.held_out_modules
    for place, others in (("data.test", data.test), (key, names)):
        if "test" in others and (data.kind != "files" or data.split.test):
            origin = "the help" if data.kind != "files" else "train (data.split)"
            raise wrong(f"{place}", f": 'test' is the test set taken from {origin}; rename this one")
    for number, name in enumerate(names):
        if not is_test_set_name(name):
            reject(
                key, name, f"a name of letters, digits, '_' and '-', and none of {', '.join(NO_TEST_SETS)}"
            )
        if name in data.test or name in names[:number]:
            raise wrong(key, f": two test sets are named '{name}'; remove or rename one")
        if name in data.modules:
            raise wrong(key, f": '{name}' is in data.modules, too; remove one of them")
