"""``itersel step words`` and ``text-models``: what features of the text of n-best lists are estimated on."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_files, add_optional_files, add_options
from itersel.cli.folds import check_fold, fold
from itersel.cli.settings import add_settings
from itersel.config.list_steps import TextModelSettings, WordSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError


def _add_words(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prepare parallel text for the models that features of the text of n-best lists need: DIR/source.gz "
        "and DIR/target.gz, tokenised, and lowercased unless case counts. They begin with all lines of the "
        "first pair of files; pairs of further files with a line of the first are left out."
    )
    add_settings(parser, WordSettings)
    texts = {
        "--source FILE": "source text; several files for further text",
        "--target FILE": "its translation, cleaned",
    }
    add_files(parser, texts, required=True)
    texts = {
        "--exclude-source FILE": "source sides of texts that further text must not repeat",
        "--exclude-target FILE": "references of those texts",
    }
    add_files(parser, texts, nargs="*", default=[])
    add_options(parser, {"--output DIR": "folder to write to"}, required=True)


def _words(options: argparse.Namespace) -> None:
    from itersel.rerank.estimate import prepare_words
    from itersel.rerank.preparation import list_preparation

    settings = read_settings(WordSettings, options.settings)
    excluded = options.exclude_source, options.exclude_target
    prepare_words(options.source, options.target, list_preparation(settings), options.output, excluded)


def _add_text_models(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Estimate what features of the text of n-best lists need: DIR/lexicon.h5, how often words are "
        "linked, and DIR/lm.bin, a language model. With --leave-out and --fold, without the sentences of "
        "a fold."
    )
    add_settings(parser, TextModelSettings)
    add_options(parser, {"--words DIR": "output of 'itersel step words'"}, required=True)
    links = "alignments of its lines, one that links each target word at most once, one each source word"
    add_files(parser, {"--alignment FILE": links}, required=True)
    add_optional_files(parser, {"--leave-out DIR": "output of 'itersel step divide --nbest'"})
    add_options(parser, {"--fold F/N": "leave out files F, F+N, F+2N, ..."}, type=fold, nargs="?")
    add_options(parser, {"--output DIR": "folder to write to"}, required=True)


def _text_models(options: argparse.Namespace) -> None:
    from itersel.rerank.estimate import estimate_text_models, lines_of_list_fold

    check_fold(options)
    if len(options.alignment) != 2:
        raise InputError("--alignment takes two files, of both directions")

    settings = read_settings(TextModelSettings, options.settings)
    left_out = lines_of_list_fold(options.words, options.leave_out, *options.fold) if options.fold else set()
    estimate_text_models(options.words, options.alignment, left_out, settings.order, options.output)
