"""``itersel corpus``: fetch, prepare and describe parallel text, of one or more corpora."""

from __future__ import annotations

import argparse
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from itersel.cli.argument_types import split
from itersel.cli.arguments import add_files, add_optional_files, add_options
from itersel.cli.prepare_options import REPLACED, add_prepare_options, prepare_settings
from itersel.cli.settings import add_settings, settings_of
from itersel.cli.shared_options import add_processes
from itersel.config.text_steps import (
    FetchSettings,
    HelpSettings,
    Languages,
    PrepareSettings,
    ReferenceSettings,
)
from itersel.corpus.text_names import BY_HASH, is_test_set_name
from itersel.errors import InputError

if TYPE_CHECKING:
    from itersel.corpus.prepare import Preparation

# See `add_command`.
RUNS_KERNELS = False

LONG_LINE = "; break the line, or raise data.max_line_bytes in the config (--max-line-bytes)"

PARTS = {
    "corpus libreoffice-help": "fetch the LibreOffice Help in two languages",
    "corpus fetch": "fetch a corpus with mtdata, or a test set with sacrebleu",
    "corpus prepare": "tokenise, lowercase, split and filter parallel text",
    "corpus references": "copy the references of n-best lists under the names of prepared text",
    "corpus statistics": "print statistics of prepared text as a table",
}


def _add_libreoffice_help(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the aligned paragraphs of the LibreOffice Help in two languages: DIR/source.gz, "
        "DIR/target.gz, DIR/labels.gz (the module of each) and DIR/statistics.json. The packages "
        "libreoffice-help-LANGUAGE are fetched from a Debian mirror, unless --folder names their folder."
    )
    add_settings(parser, HelpSettings, with_options=True)
    folder = {"--folder FOLDER": "folder with the unpacked help or the two .deb files"}
    add_optional_files(parser, folder, type=Path)
    _add_folder(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"--output DIR": "folder to write to"}, required=True, type=Path)


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a corpus that another package downloads: DIR/source.gz, DIR/target.gz, further references as "
        "DIR/target.1.gz and so on, and DIR/statistics.json. These packages cache their downloads."
    )
    add_settings(parser, FetchSettings, with_options=True)
    _add_folder(parser)


def _add_prepare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Apply Unicode NFC, Moses punctuation normalisation and tokenisation, and lowercasing. Write "
        "DIR/SPLIT.{source,target,labels,alignment}.gz and statistics; for train also preparation.json, for "
        "new text, and recaser.json, for translations; for the other splits also SPLIT.raw.gz and "
        "SPLIT.raw.source.gz, the raw text without entities and invisible characters."
    )
    add_prepare_options(parser)
    preparation = "preparation.json of the training corpus, instead of languages and how text becomes words"
    add_optional_files(parser, {"--preparation FILE": preparation}, type=Path)
    monolingual = {"--monolingual FILE": "additional target text for the language model; may be repeated"}
    add_files(parser, monolingual, nargs="*", default=[])
    add_processes(parser)
    _add_folder(parser)


def _add_references(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write DIR/SPLIT.target.gz, .target.1.gz, ... and, if given, .source.gz and .labels.gz, cleaned as "
        "all text that is scored, with their statistics; for train also preparation.json and recaser.json, "
        "which leave translations as they are."
    )
    add_settings(parser, ReferenceSettings, with_options=True)
    splits = {"--split SPLIT": "train, dev, devtest, test or test.NAME"}
    add_options(parser, splits, type=split, required=True)
    reference = {"--reference FILE": "reference translations, one sentence per line; may be repeated"}
    add_files(parser, reference, nargs="*", default=[])
    files = {"--source FILE": "source text", "--labels FILE": "label of each line"}
    add_optional_files(parser, files)
    _add_folder(parser)


def _references(options: argparse.Namespace) -> None:
    from itersel.corpus.writing import write_references

    settings = settings_of(ReferenceSettings, options)
    write_references(
        options.output,
        options.split,
        references=options.reference,
        languages=(settings.source_language, settings.target_language),
        source=options.source,
        labels=options.labels,
        tokenized=settings.tokenized,
    )


def _add_statistics(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"input FILE": "statistics.json of 'itersel corpus prepare'"}, nargs="+")


def _libreoffice_help(options: argparse.Namespace) -> None:
    from itersel.corpus.libreoffice_help import fetch

    kind: type[Languages] = HelpSettings if options.folder is None else Languages
    settings = settings_of(kind, options, HelpSettings, "with --folder")
    fetch_pairs = partial(
        fetch,
        source_language=settings.source_language,
        target_language=settings.target_language,
        output=options.output,
    )
    if isinstance(settings, HelpSettings):
        pairs, counts = fetch_pairs(mirror=settings.mirror, release=settings.release)
    else:
        pairs, counts = fetch_pairs(folder=options.folder)

    print(f"{pairs:,} unique pairs; {', '.join(f'{name} {count:,}' for name, count in counts.items())}")


def _fetch(options: argparse.Namespace) -> None:
    from itersel.corpus.fetch import fetch_mtdata, fetch_sacrebleu

    settings = settings_of(FetchSettings, options)
    source_language = settings.source_language
    target_language = settings.target_language
    if settings.sacrebleu is None:
        pairs = fetch_mtdata(settings.mtdata, source_language, target_language, options.output)
    else:
        pairs = fetch_sacrebleu(settings.sacrebleu, source_language, target_language, options.output)
    print(f"{pairs:,} pairs")


def _prepare(options: argparse.Namespace) -> None:
    from itersel.corpus.blocks import corpus_blocks
    from itersel.corpus.corpora import Reading
    from itersel.corpus.pipeline import prepare_corpus, prepare_text
    from itersel.corpus.statistics import format_table
    from itersel.corpus.text import text_blocks
    from itersel.corpus.writing import write_corpus

    settings = prepare_settings(options)
    preparation = _preparation(settings, options.preparation)
    _check(settings, preparation)

    words = preparation.words
    languages = words.source_language, words.target_language
    dropped: Counter[str] | None = Counter() if settings.drop_invalid_pairs else None
    reading = Reading(*languages, words.tokenized, settings.max_line_bytes, LONG_LINE, dropped)
    blocks = corpus_blocks(settings.corpora, reading)
    # their own preparation counts what they drop
    of_others = reading._replace(dropped=None if dropped is None else Counter())
    others = {name: corpus_blocks([corpus], of_others) for name, corpus in settings.held_out.items()}

    prepared = prepare_corpus(blocks, preparation, settings, others, options.processes)
    # the split that these pairs would have been in is unknown, so the first one counts them
    next(iter(prepared.splits.values())).statistics["dropped"].update(dropped or {})
    monolingual = None
    if options.monolingual:
        read = partial(text_blocks, limit=reading.limit, advice=reading.advice)
        texts = (read(path, is_tokenized=words.tokenized) for path in options.monolingual)
        monolingual = prepare_text(chain.from_iterable(texts), preparation)

    write_corpus(options.output, prepared, preparation, settings, monolingual)
    statistics = {name: split.statistics for name, split in prepared.splits.items()}
    print(format_table(statistics, prepared.overlaps))


def _preparation(settings: PrepareSettings, path: Path | None) -> Preparation:
    """Return how raw text becomes words: as the settings say, or as the text of train did."""
    from itersel.corpus.prepare import Preparation, read_preparation

    stated = settings.preparation
    if path is not None:
        if stated is not None or settings.compound_splitting:
            raise InputError(REPLACED)
        return read_preparation(path)
    if stated is None:
        raise InputError("give --source-language and --target-language, or --preparation")
    if settings.compound_splitting and settings.split not in ("train", BY_HASH):
        raise InputError("compounds are learned from train: give --preparation of the training corpus")
    return Preparation(stated)


def _check(settings: PrepareSettings, preparation: Preparation) -> None:
    """Reject settings that do not go together."""
    from itersel.corpus.labels import refuse_repeats

    aligned = next((corpus.alignment[0] for corpus in settings.corpora if corpus.alignment), None)
    has_compounds = settings.compound_splitting or preparation.compounds
    if aligned is not None and (not preparation.words.tokenized or has_compounds):
        message = "it refers to the tokens of the files: give --tokenized and no compound splitting"
        raise InputError(message, aligned)

    if settings.held_out_labels and settings.split != BY_HASH:
        raise InputError("--held-out-labels needs --split hash")
    if settings.cut.by_split and settings.split != "train":
        raise InputError("--cut needs --split train")
    if settings.held_out and settings.split not in ("train", BY_HASH):
        message = f"--held-out is compared with train; it has no effect with --split {settings.split}"
        raise InputError(message)

    for name in settings.held_out_labels:
        if not is_test_set_name(name):
            raise InputError(f"'{name}' cannot be the name of a test set; use letters, digits, '_' and '-'")
    refuse_repeats(settings.held_out_labels)


def _statistics(options: argparse.Namespace) -> None:
    from itersel.corpus.statistics import format_table, read_statistics

    found = read_statistics(options.input)
    print(format_table(found.splits, found.overlaps))
