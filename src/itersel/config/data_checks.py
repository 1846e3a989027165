"""Check that a config's keys about text are complete and consistent, also with `kind: lists`."""

from __future__ import annotations

import re
from functools import partial

from itersel.config.data import Data, ReferencedText, TestSet, TrainingText
from itersel.config.options import changed, check_unique, name_in, reject, wrong
from itersel.config.splits import as_files, cut_sizes, texts_by_key
from itersel.config.tuners import HELD_OUT_TUNERS, Batch, NoTuner
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
from itersel.corpus.text_names import NO_TEST_SETS, is_test_set_name
from itersel.errors import InputError, attempt_all
from itersel.evaluate.names import QUALITY
from itersel.storage.files import suffixes

# The forms of a text: parallel files, or exactly one of the others.
PARALLEL = ("source", "target")
FORMS = (*PARALLEL, "file", "mtdata", "sacrebleu")
# Group, name, version and two languages.
MTDATA_PATTERN = r"[^\s-]+-[^\s-]+-[^\s-]+-[A-Za-z_]+-[A-Za-z_]+"
# With `kind: lists`, the only keys of these sections that have an effect, and the keys of texts.
USED = {
    "data": (
        *("kind", "source_language", "target_language", "tokenized", "protected", "dense"),
        *("train", "dev", "devtest", "test"),
    ),
    "decoder": ("k_best", "jobs"),
}
OF_TEXTS = ("lists", "target", "quality", "task")
# How the keys of texts end on which epochs are chosen.
DEVTEST = ".devtest"
NO_EFFECT = "has no effect with data.kind: lists; remove it"


def check_data(config: Config) -> None:
    """Reject missing keys of `data`, and keys for another kind of data."""
    data = config.data
    if data.kind == "lists":
        check_lists(config)
    else:
        refuse_lists(config)
        if "" in data.test and data.test[""].devtest != ReferencedText():
            raise wrong("data.test.devtest", "needs a named test set; use data.devtest instead")
        attempt_all(partial(_check_text, config, *one) for one in texts_by_key(data).items())
        _check_alignment(data)
        _check_kind(data)
        _check_held_out_modules(data)

    _check_protected(data)


def _check_kind(data: Data) -> None:
    """Reject keys for another kind of data."""
    of_help = {"folder", "mirror", "release", "modules", "held_out_modules"}
    misplaced = of_help if data.kind == "files" else {"tokenized", "split"}
    for name in changed(data):
        if name in misplaced:
            other = "libreoffice-help" if name in of_help else "files"
            raise wrong(f"data.{name}", f"needs data.kind: {other}")
        if name in ("mirror", "release") and data.folder is not None:
            raise wrong(f"data.{name}", "has no effect with data.folder; remove one of them")


def _check_text(config: Config, key: str, text: TrainingText | ReferencedText) -> None:
    """Reject files if the text comes from elsewhere, missing files, and keys without effect."""
    split, is_test_set = key.removeprefix("data."), key.startswith("data.test.")
    given = changed(text)

    if split in cut_sizes(config):
        if given:
            raise wrong(key, f"names files, but data.split.{split} cuts it from train; remove one")
    # with the LibreOffice Help, only test sets with names are not taken from the help
    elif config.data.kind == "files" or is_test_set:
        _check_forms(text, key)
        _check_tables(text, key)
        _check_fields(text, key)
        _check_names(config.data, text, key)
    elif given:
        raise wrong(f"{key}.{given[0]}", "needs data.kind: files")


def _check_forms(text: TrainingText | ReferencedText, key: str) -> None:
    """Reject missing files, and keys that conflict or have no effect."""
    forms = [name for name in FORMS if getattr(text, name, None)]
    form = next((name for name in forms if name not in PARALLEL), "source")

    if form != "source":
        for name in forms:
            if name != form:
                raise wrong(f"{key}.{name}", f"cannot be combined with '{key}.{form}'; remove one of them")
        for name in ("task", "alignment"):
            if getattr(text, name, None):
                advice = "; use columns.task" if form == "file" and name == "task" else ""
                why = f"it has no effect with {form}{advice}"
                raise wrong(f"{key}.{name}", f"needs source and target, {why}")
        return

    for name in PARALLEL:
        if not getattr(text, name):
            kind = "devtest" if key.endswith(".devtest") else "test set"
            of_set = f"a {kind} needs source text and a reference translation"
            why = of_set if key.startswith("data.test.") else "data.kind: files needs it"
            raise wrong(f"{key}.{name}", f"is missing; {why}")
        for path in as_files(getattr(text, name)):
            if format_of(path) is not None:
                raise wrong(f"{key}.{name}", f"names {path}, which is not plain text; use '{key}.file'")

    if isinstance(text, TrainingText):
        for name in ("target", "task", "alignment"):
            count, sources = len(getattr(text, name)), len(text.source)
            if count and count != sources:
                others = f"'{key}.source' has {_files(sources)}; give one for each"
                raise wrong(f"{key}.{name}", f"has {_files(count)}, but {others}")


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
        if given.task and unlabelled is not None:
            message = f"{unlabelled} has no labels; remove the key or the file"
            raise wrong(f"{key}.{name}.task", f": {message}")
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
    for name in (given.source, given.target, given.task):
        if name is not None and "," in name:
            raise wrong(f"{key}.fields", f": '{name}' has a comma; rename the field")

    kinds = {format_of(path) for path in text.file}
    if kinds & {PO, MO} and (given.task not in (None, CONTEXT) or (given.source and kinds <= {PO, MO})):
        raise wrong(f"{key}.fields", f": catalogues have only the field {CONTEXT}, for task")


def _check_names(data: Data, text: TrainingText | ReferencedText, key: str) -> None:
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
            reserved = ", ".join(NO_TEST_SETS)
            reject(key, name, f"a name of letters, digits, '_' and '-', and none of {reserved}")
        if name in data.test or name in names[:number]:
            raise wrong(key, f": two test sets are named '{name}'; remove or rename one")
        if name in data.modules:
            raise wrong(key, f": '{name}' is in data.modules, too; remove one of them")


def check_lists(config: Config) -> None:
    """Reject missing keys, and keys that need a decoder."""
    by = config.evaluation.choose_by
    checks = [partial(_check_text_of_lists, text, key, by) for key, text in texts_by_key(config.data).items()]
    checks += [partial(_check_experiment_of_lists, config, name) for name in config.experiments]
    attempt_all([partial(_check_unused, config), *checks])


def refuse_lists(config: Config) -> None:
    """Reject keys of lists with another kind of data."""
    data = config.data
    for key, text in texts_by_key(data).items():
        for name in ("lists", "quality"):
            if getattr(text, name):
                raise wrong(f"{key}.{name}", "needs data.kind: lists")
    if data.dense:
        raise wrong("data.dense", "needs data.kind: lists")
    if config.evaluation.choose_by == QUALITY:
        raise wrong("evaluation.choose_by", f"is {QUALITY}, which needs data.kind: lists")


def _check_text_of_lists(text: TrainingText | ReferencedText, key: str, choose_by: str) -> None:
    allowed = (*OF_TEXTS, *(("source", "devtest") if isinstance(text, TestSet) else ()))
    for name in changed(text):
        if name not in allowed:
            raise wrong(f"{key}.{name}", NO_EFFECT)

    if not text.lists:
        raise wrong(f"{key}.lists", "is missing; data.kind: lists needs it")

    is_learned_from = key in ("data.train", "data.dev")
    if not text.target and not (is_learned_from and text.quality):
        why = ", or 'quality'; give one of them" if is_learned_from else "; its translations are scored by it"
        raise wrong(f"{key}.target", f"is missing{why}")
    if key.endswith(DEVTEST):
        _check_quality_of_devtest(text, f"{key}.quality", choose_by)
    elif text.quality and not is_learned_from:
        raise wrong(f"{key}.quality", "has no effect: nothing is learned from this text; remove it")

    if isinstance(text, TrainingText) and key != "data.train":
        raise wrong(key, ": lists are not of named corpora; name all files in data.train.lists")
    if isinstance(text, TrainingText) and len(text.task) > 1:
        raise wrong(f"{key}.task", f"names {len(text.task)} files; name one, with the label of each sentence")


def _check_quality_of_devtest(text: TrainingText | ReferencedText, key: str, choose_by: str) -> None:
    """Reject a quality by which no epoch is chosen, and a missing one."""
    if text.quality and choose_by != QUALITY:
        raise wrong(
            key, f"has no effect with evaluation.choose_by: {choose_by}; choose by {QUALITY}, or remove it"
        )
    if choose_by == QUALITY and not text.quality:
        raise wrong(key, f"is missing; evaluation.choose_by: {QUALITY} needs it")


def _check_unused(config: Config) -> None:
    """Reject settings of steps that lists replace."""
    for section in ("data", "align", "language_model", "grammar", "decoder", "report"):
        for name in changed(getattr(config, section)):
            if name not in USED.get(section, ()):
                raise wrong(f"{section}.{name}", NO_EFFECT)


def _check_experiment_of_lists(config: Config, name: str) -> None:
    experiment, key = config.experiments[name], f"experiments.{name}"
    learner, tuner = experiment.learner, experiment.held_out.tuner

    if experiment.templates:
        raise wrong(f"{key}.templates", NO_EFFECT)
    if experiment.k_best is not None and isinstance(learner, Batch):
        raise wrong(f"{key}.k_best", "has no effect: a batch tuner reads whole lists; remove it")
    if experiment.tasks.language_model_folds not in (None, 1):
        raise wrong(f"{key}.tasks.language_model_folds", NO_EFFECT)

    if not isinstance(learner, Batch) and (forest_key := learner.forest_key):
        value = getattr(learner, forest_key)
        raise wrong(f"{key}.learner.{forest_key}", f"is {value}, but lists have no forests; remove it")
    for place, one in (("learner", learner), ("held_out.tuner", tuner)):
        if isinstance(one, Batch) and one.reads_forests:
            given = name_in(HELD_OUT_TUNERS, one)
            raise wrong(f"{key}.{place}.name", f"is {given}, but lists have no forests; use another tuner")

    is_named = not isinstance(tuner, NoTuner) and tuner.named_directions is not None
    if is_named and "directions" not in changed(tuner):
        message = "is missing; name dense features of the lists, or 'dense' for all of them"
        raise wrong(f"{key}.held_out.tuner.directions", message)
