"""The options of ``itersel corpus prepare`` that describe corpora and held-out sets."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from itersel.cli.argument_types import split
from itersel.cli.arguments import add_options
from itersel.config.command_line import refuse
from itersel.corpus.corpora import (
    FORMATS,
    MAX_COLUMNS,
    RECORD_FORMATS,
    TABLE_FORMATS,
    Columns,
    Corpus,
    Fields,
    check_parts,
    format_of,
    other_than,
)
from itersel.corpus.text_names import BY_HASH, TEST_SET_PATTERN
from itersel.errors import InputError

# What options have described: the name of the held-out set, empty for train, and its files.
Described = Sequence[tuple[str, Corpus]]


class _OfCorpus(argparse.Action):
    """Add a value to the corpus of the last ``--corpus`` or ``--held-out``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        described: Described = namespace.described
        *others, (split, corpus) = described or [("", Corpus())]

        if self.dest == "held_out":
            if any(name == values for name, _ in described):
                raise argparse.ArgumentError(self, f"two sets are named '{values}'")
            namespace.described = [*described, (values, Corpus())]
        elif self.dest == "name":
            if split:
                raise argparse.ArgumentError(self, "a corpus of train cannot follow --held-out")
            named = described if corpus != Corpus() else others
            if any(one.name == values for _, one in named):
                raise argparse.ArgumentError(self, f"two corpora are named '{values}'")
            namespace.described = [*named, ("", Corpus(values))]
        else:
            value: Any = (
                values if self.dest in ("columns", "fields") else (*getattr(corpus, self.dest), values)
            )
            namespace.described = [*others, (split, replace(corpus, **{self.dest: value}))]


def add_corpora(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe corpora and held-out sets; they make the argument of `corpora_of`."""
    group = parser.add_argument_group("corpora", "Options with FILE may be repeated; files are joined.")
    parser.set_defaults(described=[])
    common: dict[str, Any] = {"action": _OfCorpus, "default": argparse.SUPPRESS}

    corpus = "name, and by default label, of a corpus of train that the following options describe"
    add_options(group, {"--corpus NAME": corpus}, dest="name", type=_name, **common)

    held_out = "with train: the next options describe this held-out set, whose pairs are dropped from train"
    add_options(group, {"--held-out SPLIT": held_out}, type=split, **common)

    files = {
        "--source FILE": "source text, one sentence per line, UTF-8, plain or compressed (.gz, .xz, .zst)",
        "--target FILE": "its translation, one sentence per line; in a tuning or test set, repeated ones are "
        "additional references",
        "--file FILE": f"file with both sides ({', '.join(FORMATS)}), instead of --source and --target",
        "--labels FILE": "label of each line",
        "--alignment FILE": "word alignment of each line (0-0 1-2 ...); needs --tokenized",
    }
    add_options(group, files, **common)

    columns = "columns of source, target and label in TSV files, and CSV files without header (default: 1,2)"
    add_options(group, {"--columns S,T[,L]": columns}, type=_columns, **common)
    fields = "fields of these in CSV files with a header, JSON lines and Parquet (default: source,target)"
    add_options(group, {"--fields S,T[,L]": fields}, type=_fields, **common)


def corpora_of(described: Described, has_references: bool) -> list[Corpus]:
    """Return the corpora that options have described; an InputError if they do not go together.

    With `has_references`, there is only one, whose targets are references of one source instead of parts.
    """
    corpora = [corpus for split, corpus in described if not split]
    if not corpora:
        raise InputError("give --source and --target, or --file")

    if has_references:
        if len(corpora) > 1:
            raise InputError("only train may have several corpora; give one")
        corpora = [_with_references(corpora[0])]

    for corpus in corpora:
        _check(corpus)
    for what in ("labels", "alignment"):
        have = [corpus.has_labels if what == "labels" else bool(corpus.alignment) for corpus in corpora]
        if any(have) and not all(have):
            raise InputError(f"some corpora have {what}, others have none; give them for all")

    return corpora


def held_out_of(described: Described) -> dict[str, Corpus]:
    """Return the held-out sets that options have described; an InputError as in `corpora_of`."""
    sets = {split: corpus for split, corpus in described if split}

    not_held_out = sorted(sets.keys() & {"train", BY_HASH})
    if not_held_out:
        message = "is not a held-out set; give dev, devtest, test or test.NAME"
        raise InputError(f"--held-out {not_held_out[0]} {message}")
    return {name: _with_references(corpus) for name, corpus in sets.items()}


def _with_references(corpus: Corpus) -> Corpus:
    """Return a held-out set whose further targets are references instead of parts."""
    if len(corpus.source) > 1:
        raise InputError("only train may have several source files; give one")
    corpus = corpus.with_references()
    _check(corpus)
    return corpus


def _check(corpus: Corpus) -> None:
    formats = {format_of(path) for path in corpus.file}
    for option, default, kinds in (
        ("columns", Columns(), TABLE_FORMATS),
        ("fields", Fields(), RECORD_FORMATS),
    ):
        given = getattr(corpus, option)
        if given != default and formats.isdisjoint(kinds):
            raise InputError(f"--{option} needs a --file of {', '.join(kinds)}")
        if given.label and (path := other_than(corpus.file, kinds)):
            raise InputError(f"the file has no labels, but --{option} names one; leave it out", path)

    for option in ("source", "target", "labels", "alignment"):
        if corpus.file and getattr(corpus, option):
            raise InputError(f"--file replaces --{option}; give only one of them")
        if not corpus.file and option in ("source", "target") and not getattr(corpus, option):
            raise InputError(f"--{option} is missing; give --source and --target, or --file")
    check_parts(corpus)


def _name(text: str) -> str:
    if not re.fullmatch(TEST_SET_PATTERN, text):
        refuse(text, "a name of letters, digits, '_' and '-'")
    return text


def _fields(text: str) -> Fields:
    names = text.split(",")
    if not 2 <= len(names) <= 3 or not all(names) or names[0] == names[1]:
        refuse(text, "different names of fields, such as de,en")
    return Fields(*names)


def _columns(text: str) -> Columns:
    fields = text.split(",")
    columns = [int(field) if re.fullmatch("[1-9][0-9]{0,3}", field) else 0 for field in fields]
    is_known = all(1 <= column <= MAX_COLUMNS for column in columns)
    if not is_known or not 2 <= len(columns) <= 3 or columns[0] == columns[1]:
        refuse(text, f"different columns from 1 to {MAX_COLUMNS}, such as 1,2")
    return Columns(*columns)
