"""``itersel corpus``: fetch, prepare and describe parallel text, of one or more corpora."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from itersel.cli.arguments import add_files, add_jobs, add_options, language, split
from itersel.cli.corpus_files import add_corpora, corpora_of, held_out_of
from itersel.config.command_line import add_key, refuse, section_of
from itersel.corpus.text_names import BY_HASH, HELD_OUT, is_test_set_name
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


def _add_libreoffice_help(parser: argparse.ArgumentParser) -> None:
    from itersel.config.data import Data

    parser.description = (
        "Write the aligned paragraphs of the LibreOffice Help in two languages: DIR/source.gz, "
        "DIR/target.gz, DIR/task.gz (the module of each) and DIR/statistics.json. The packages "
        "libreoffice-help-LANGUAGE are fetched from a Debian mirror, unless --folder names their folder."
    )
    _add_languages(parser, "as in Debian's package names, such as de or en-us")
    folder = "folder with the unpacked help or the two .deb files"
    add_options(parser, {"--folder FOLDER": folder}, type=Path)
    add_key(parser, Data, "mirror", "Debian mirror.", metavar="ADDRESS")
    add_key(parser, Data, "release", "Debian release.", metavar="NAME")
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
    add_key(parser, Data, "tokenized", "The text is already tokenised, separated by spaces.")
    add_key(parser, Data, "compound_splitting", "Split source compounds, as learned from train.")
    protected = "text that is one token, besides addresses, paths, placeholders, tags ...; may be repeated"
    # not separated by commas, which patterns may contain
    add_options(parser, {"--protected REGEX": protected}, type=_pattern, action="append", default=[])
    preparation = "preparation.json of the training corpus; replaces the five options above"
    add_options(parser, {"--preparation FILE": preparation}, type=Path)

    splits = "train, dev, devtest, test, test.NAME, devtest.NAME, or hash: by a hash of the source (default)"
    add_options(parser, {"--split SPLIT": splits}, type=split, default=BY_HASH)
    for name in ("max_length", "max_ratio", "max_line_bytes"):
        add_key(parser, Data, name)

    drop_invalid = "Drop pairs with control characters, ||| or words reserved in grammars (default: stop)."
    add_key(parser, Data, "drop_invalid_pairs", drop_invalid)
    add_key(parser, Data, "modules", "Keep only pairs with these task labels.")
    held_out = "With --split hash: make a test set, test.LABEL, of each of these tasks."
    add_key(parser, Data, "held_out_modules", held_out)

    deduplicate = "With train: drop pairs with the same source and target (pairs), or the same source."
    add_key(parser, Data, "deduplicate", deduplicate)
    cut = "with train: cut the N sentences with the smallest hashes for dev, devtest or test; may be repeated"
    add_options(parser, {"--cut SPLIT=N": cut}, type=_cut, action="append", default=[])
    keep_overlap = "Keep pairs in train that are also in a --held-out set (default: drop them)."
    add_key(parser, Data, "drop_overlap", keep_overlap)

    add_key(parser, Data, "max_train", "Maximum number of pairs in train, chosen by hash.")
    add_key(parser, Data, "max_held_out", "The same for each of the other splits.")
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
    from itersel.corpus.writing import write_references

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
    from itersel.corpus.pipeline import CorpusSettings, prepare_corpus, prepare_text
    from itersel.corpus.statistics import format_table
    from itersel.corpus.text import text_blocks
    from itersel.corpus.writing import write_corpus

    has_train = options.split in ("train", BY_HASH)
    corpora = corpora_of(options, has_references=not has_train)
    held_out = held_out_of(options)
    preparation = _preparation(options)

    aligned = next((corpus.alignment[0] for corpus in corpora if corpus.alignment), None)
    has_compounds = options.compound_splitting or preparation.compounds
    if aligned is not None and (not preparation.tokenized or has_compounds):
        message = "it refers to the tokens of the files: give --tokenized and no compound splitting"
        raise InputError(message, aligned)

    if options.held_out_modules and options.split != BY_HASH:
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
    dropped: Counter[str] | None = Counter() if options.drop_invalid_pairs else None
    reading = Reading(*languages, preparation.tokenized, options.max_line_bytes, LONG_LINE, dropped)
    blocks = corpus_blocks(corpora, reading)
    # their own preparation counts what they drop
    of_others = reading._replace(dropped=None if dropped is None else Counter())
    others = {name: corpus_blocks([corpus], of_others) for name, corpus in held_out.items()}

    prepared = prepare_corpus(blocks, preparation, settings, others, options.jobs)
    # the split that these pairs would have been in is unknown, so the first one counts them
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
        if any((*languages, options.tokenized, options.compound_splitting, options.protected)):
            raise InputError(
                "--preparation replaces languages, --tokenized, --compound-splitting and --protected"
            )
        return read_preparation(options.preparation)
    if not all(languages):
        raise InputError("give --source-language and --target-language, or --preparation")
    if options.compound_splitting and options.split not in ("train", BY_HASH):
        raise InputError("compounds are learned from train: give --preparation of the training corpus")
    return Preparation(*languages, options.tokenized, protected=tuple(options.protected))


def _statistics(options: argparse.Namespace) -> None:
    from itersel.corpus.statistics import format_table, read_statistics

    found = read_statistics(options.input)
    print(format_table(found.splits, found.overlaps))
