"""``itersel corpus``: fetch, prepare and describe parallel text, of one or more corpora."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itersel.cli.arguments import add_files, add_jobs, add_options, language, positive, split
from itersel.config.command_line import add_section_arguments, names, refuse, section_of
from itersel.corpus.corpora import (
    DEDUPLICATION,
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
from itersel.corpus.debian import DEBIAN_MIRROR, DEBIAN_RELEASE
from itersel.corpus.text_names import HELD_OUT, TEST_SET_PATTERN, is_test_set_name
from itersel.errors import InputError

if TYPE_CHECKING:
    from itersel.corpus.prepare import Preparation

LONG_LINE = "; break the line, or raise data.max_line_bytes in the config (--max-line-bytes)"

PARTS = {
    "corpus libreoffice-help": "fetch the LibreOffice Help in two languages",
    "corpus fetch": "fetch a corpus with mtdata, or a test set with sacrebleu",
    "corpus prepare": "tokenise, lowercase, split and filter parallel text",
    "corpus references": "copy the references of n-best lists under the names of prepared text",
    "corpus statistics": "print statistics of prepared text as a table",
}


class _OfCorpus(argparse.Action):
    """Add a value to the corpus of the last ``--corpus`` or ``--held-out``.

    The corpora so far are pairs: the name of the held-out set, empty for train, and its files.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        described: list[tuple[str, Corpus]] = namespace.described
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
    """Add the arguments of `corpora_of`."""
    group = parser.add_argument_group("corpora", "Options with FILE may be repeated; files are joined.")
    parser.set_defaults(described=[])
    common: dict[str, Any] = {"action": _OfCorpus, "default": argparse.SUPPRESS}

    corpus = "name, and by default task label, of a corpus of train that the following options describe"
    add_options(group, {"--corpus NAME": corpus}, dest="name", type=_name, **common)

    held_out = "with train: the next options describe this held-out set, whose pairs are dropped from train"
    add_options(group, {"--held-out SPLIT": held_out}, type=split, **common)

    files = {
        "--source FILE": "source text, one sentence per line, UTF-8, plain or compressed (.gz, .xz, .zst)",
        "--target FILE": "its translation, one sentence per line; in a tuning or test set, repeated ones are "
        "additional references",
        "--file FILE": f"file with both sides ({', '.join(FORMATS)}), instead of --source and --target",
        "--task FILE": "task label of each line",
        "--alignment FILE": "word alignment of each line (0-0 1-2 ...); needs --tokenized",
    }
    add_options(group, files, **common)

    columns = "columns of source, target and label in TSV files, and CSV files without header (default: 1,2)"
    add_options(group, {"--columns S,T[,L]": columns}, type=_columns, **common)
    fields = "fields of these in CSV files with a header, JSON lines and Parquet (default: source,target)"
    add_options(group, {"--fields S,T[,L]": fields}, type=_fields, **common)


def corpora_of(options: argparse.Namespace, has_references: bool) -> list[Corpus]:
    """Return the corpora that the options describe; an InputError if they do not go together.

    With `has_references`, there is only one, whose targets are references of one source instead of parts.
    """
    corpora = [corpus for split, corpus in options.described if not split]
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


def held_out_of(options: argparse.Namespace) -> dict[str, Corpus]:
    """Return the held-out sets that the options describe; an InputError as in `corpora_of`."""
    sets = {split: corpus for split, corpus in options.described if split}
    for name in {"train", "hash"} & sets.keys():
        raise InputError(f"--held-out {name} is not a held-out set; give dev, devtest, test or test.NAME")
    return {name: _with_references(corpus) for name, corpus in sets.items()}


def _with_references(corpus: Corpus) -> Corpus:
    """Return a held-out set whose further targets are references instead of parts."""
    if len(corpus.source) > 1:
        raise InputError("only train may have several source files; give one")
    corpus = replace(corpus, target=corpus.target[:1], further=corpus.target[1:])
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
        if given.task and (path := other_than(corpus.file, kinds)):
            raise InputError(f"the file has no labels, but --{option} names one; leave it out", path)

    for option in ("source", "target", "task", "alignment"):
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


def _add_libreoffice_help(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the aligned paragraphs of the LibreOffice Help in two languages: DIR/source.gz, "
        "DIR/target.gz, DIR/task.gz (the module of each) and DIR/statistics.json. The packages "
        "libreoffice-help-LANGUAGE are fetched from a Debian mirror, unless --from names their folder."
    )
    _add_languages(parser, "as in Debian's package names, such as de or en-us")
    folder = "folder with the unpacked help or the two .deb files"
    add_options(parser, {"--from FOLDER": folder}, dest="folder", type=Path)
    add_options(parser, {"--mirror ADDRESS": "Debian mirror (default: %(default)s)"}, default=DEBIAN_MIRROR)
    add_options(parser, {"--release NAME": "Debian release (default: %(default)s)"}, default=DEBIAN_RELEASE)
    _add_folder(parser)


def _add_languages(
    parser: argparse.ArgumentParser, codes: str = "such as de or en", is_required: bool = True
) -> None:
    languages = {"--source-language CODE": codes, "--target-language CODE": codes}
    add_options(parser, languages, required=is_required, type=language)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"--output DIR": "folder to write to"}, required=True, type=Path)


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a corpus that another package downloads: DIR/source.gz, DIR/target.gz, further references as "
        "DIR/target.1.gz and so on, and DIR/statistics.json. These packages cache their downloads."
    )
    package = parser.add_mutually_exclusive_group(required=True)
    mtdata = "dataset of the package mtdata, such as Statmt-europarl-7-deu-eng; may be repeated"
    add_options(package, {"--mtdata ID": mtdata}, action="append")
    add_options(package, {"--sacrebleu NAME": "test set of sacrebleu, such as wmt11"})
    _add_languages(parser)
    _add_folder(parser)


def _add_prepare(parser: argparse.ArgumentParser) -> None:
    from itersel.config.data import Data

    parser.description = (
        "Apply Unicode NFC, Moses punctuation normalisation and tokenisation, and lowercasing. Write "
        "DIR/SPLIT.{source,target,task,alignment}.gz and statistics; for train also preparation.json, for "
        "new text, and recaser.json, for translations; for the other splits also SPLIT.raw.gz and "
        "SPLIT.raw.source.gz, the raw text without entities and invisible characters."
    )
    add_corpora(parser)

    monolingual = "additional target text for the language model; may be repeated"
    add_options(parser, {"--monolingual FILE": monolingual}, action="append", default=[])

    rules = "selects the tokenisation rules, such as de or en"
    _add_languages(parser, rules, is_required=False)
    flags = {
        "--tokenized": "the text is already tokenised, separated by spaces",
        "--split-compounds": "split source compounds, as learned from train",
    }
    add_options(parser, flags, action="store_true")
    protect = "text that is one token, besides addresses, paths, placeholders, tags ...; may be repeated"
    add_options(parser, {"--protect REGEX": protect}, type=_pattern, action="append", default=[])
    preparation = "preparation.json of the training corpus; replaces the five options above"
    add_options(parser, {"--preparation FILE": preparation}, type=Path)

    splits = "train, dev, devtest, test, test.NAME, devtest.NAME, or hash: by a hash of the source (default)"
    add_options(parser, {"--split SPLIT": splits}, type=split, default="hash")
    add_section_arguments(parser, Data, ("max_length", "max_ratio", "max_line_bytes"))

    drop_invalid = "drop pairs with control characters, ||| or words reserved in grammars (default: stop)"
    add_options(parser, {"--drop-invalid": drop_invalid}, action="store_true")
    labels = {
        "--modules NAMES": "keep only pairs with these task labels",
        "--held-out-modules NAMES": "with --split hash: make a test set, test.LABEL, of each of these tasks",
    }
    add_options(parser, labels, type=names, default=())

    deduplicate = (
        "with train: drop pairs with the same source and target, or the same source (default: pairs)"
    )
    add_options(parser, {"--deduplicate": deduplicate}, choices=DEDUPLICATION, default="pairs")
    cut = "with train: cut the N sentences with the smallest hashes for dev, devtest or test; may be repeated"
    add_options(parser, {"--cut SPLIT=N": cut}, type=_cut, action="append", default=[])
    keep_overlap = "keep pairs in train that are also in a --held-out set (default: drop them)"
    add_options(parser, {"--keep-overlap": keep_overlap}, dest="drop_overlap", action="store_false")

    sizes = {
        "--max-train N": "maximum number of pairs in train, chosen by hash",
        "--max-held-out N": "the same for each of the other splits",
    }
    add_options(parser, sizes, type=positive, default=0)
    add_jobs(parser)
    _add_folder(parser)


def _add_references(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write DIR/SPLIT.target.gz, .target.1.gz, ... and, if given, .source.gz and .task.gz, cleaned as all "
        "text that is scored, with their statistics; for train also preparation.json and recaser.json, which "
        "leave translations as they are."
    )
    parser.add_argument("--split", type=split, required=True, help="train, dev, devtest, test or test.NAME")
    target = {"--target FILE": "references, one sentence per line; may be repeated"}
    add_files(parser, target, default=[])
    add_options(parser, {"--source FILE": "source text", "--task FILE": "task label of each line"})
    tokenized = "the text is tokenised: only characters are normalised (NFC)"
    add_options(parser, {"--tokenized": tokenized}, action="store_true")
    _add_languages(parser)
    _add_folder(parser)


def _references(options: argparse.Namespace) -> None:
    from itersel.corpus.pipeline import write_references

    languages = options.source_language, options.target_language
    texts = options.target, languages, options.source, options.task
    write_references(options.output, options.split, *texts, options.tokenized)


def _add_statistics(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"input FILE": "statistics.json of 'itersel corpus prepare'"}, nargs="+")


def _libreoffice_help(options: argparse.Namespace) -> None:
    from itersel.corpus.libreoffice_help import fetch

    languages = options.source_language, options.target_language
    pairs, counts = fetch(*languages, options.output, options.folder, options.mirror, options.release)
    print(f"{pairs:,} unique pairs; {', '.join(f'{name} {count:,}' for name, count in counts.items())}")


def _fetch(options: argparse.Namespace) -> None:
    from itersel.corpus.fetch import fetch_mtdata, fetch_sacrebleu

    place = options.source_language, options.target_language, options.output
    fetch, given = (fetch_mtdata, options.mtdata) if options.mtdata else (fetch_sacrebleu, options.sacrebleu)
    print(f"{fetch(given, *place):,} pairs")


def _prepare(options: argparse.Namespace) -> None:
    from itersel.corpus.blocks import corpus_blocks
    from itersel.corpus.corpora import Reading
    from itersel.corpus.labels import refuse_repeats
    from itersel.corpus.pipeline import CorpusSettings, prepare_corpus, prepare_text, write_corpus
    from itersel.corpus.statistics import format_table
    from itersel.corpus.text import text_blocks

    has_train = options.split in ("train", "hash")
    corpora = corpora_of(options, has_references=not has_train)
    held_out = held_out_of(options)
    preparation = _preparation(options)

    aligned = next((corpus.alignment[0] for corpus in corpora if corpus.alignment), None)
    has_compounds = options.split_compounds or preparation.compounds
    if aligned is not None and (not preparation.tokenized or has_compounds):
        message = "it refers to the tokens of the files: give --tokenized and no compound splitting"
        raise InputError(message, aligned)

    if options.held_out_modules and options.split != "hash":
        raise InputError("--held-out-modules needs --split hash")
    if options.cut and options.split != "train":
        raise InputError("--cut needs --split train")
    if held_out and not has_train:
        raise InputError(f"--held-out is compared with train; it has no effect with --split {options.split}")

    for name in options.held_out_modules:
        if not is_test_set_name(name):
            raise InputError(f"'{name}' cannot be the name of a test set; use letters, digits, '_' and '-'")
    refuse_repeats(options.held_out_modules)
    options.cut = dict(options.cut)

    settings = section_of(CorpusSettings, options)
    languages = preparation.source_language, preparation.target_language
    dropped: Counter[str] | None = Counter() if options.drop_invalid else None
    reading = Reading(*languages, preparation.tokenized, options.max_line_bytes, LONG_LINE, dropped)
    blocks = corpus_blocks(corpora, reading)
    # their own preparation counts what they drop
    of_others = reading._replace(dropped=None if dropped is None else Counter())
    others = {name: corpus_blocks([corpus], of_others) for name, corpus in held_out.items()}

    prepared = prepare_corpus(blocks, preparation, settings, others, options.jobs)
    # of which split they would have been is not known
    next(iter(prepared.splits.values())).statistics["dropped"].update(dropped or {})
    monolingual = None
    if options.monolingual:
        read = partial(text_blocks, limit=reading.limit, advice=reading.advice)
        texts = (read(path, is_tokenized=preparation.tokenized) for path in options.monolingual)
        monolingual = prepare_text(chain.from_iterable(texts), preparation)

    write_corpus(options.output, prepared, preparation, settings, monolingual)
    statistics = {name: split.statistics for name, split in prepared.splits.items()}
    print(format_table(statistics, prepared.overlaps))


def _pattern(text: str) -> str:
    from itersel.corpus.tokenization import check_pattern

    try:
        check_pattern(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' {error}") from None
    return text


def _cut(text: str) -> tuple[str, int]:
    split, _, size = text.partition("=")
    if split not in HELD_OUT or not re.fullmatch("[1-9][0-9]{0,8}", size):
        refuse(text, f"a split and a number, such as {HELD_OUT[0]}=1000")
    return split, int(size)


def _preparation(options: argparse.Namespace) -> Preparation:
    from itersel.corpus.prepare import Preparation, read_preparation

    languages = options.source_language, options.target_language
    if options.preparation is not None:
        if any((*languages, options.tokenized, options.split_compounds, options.protect)):
            raise InputError("--preparation replaces languages, --tokenized, --split-compounds and --protect")
        return read_preparation(options.preparation)
    if not all(languages):
        raise InputError("give --source-language and --target-language, or --preparation")
    if options.split_compounds and options.split not in ("train", "hash"):
        raise InputError("compounds are learned from train: give --preparation of the training corpus")
    return Preparation(*languages, options.tokenized, protected=tuple(options.protect))


def _statistics(options: argparse.Namespace) -> None:
    from itersel.corpus.statistics import format_table, read_statistics

    found = read_statistics(options.input)
    print(format_table(found.splits, found.overlaps))
