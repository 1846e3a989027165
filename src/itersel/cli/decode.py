"""``itersel decode``, and the steps that decode sentences for batch tuners."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from itersel.cli.arguments import add_optional_files, add_options, add_output
from itersel.cli.decision import add_decision, file_passed_on, training_has_stopped
from itersel.cli.given_lists import add_language_model, has_given_lists, kind_of_settings
from itersel.cli.mbr import add_chosen_mbr, add_mbr, chosen_mbr, mbr_of
from itersel.cli.settings import add_place, add_settings, settings_of
from itersel.cli.shared_options import add_text_output
from itersel.config.command_line import whole
from itersel.config.mbr import MinimumRisk
from itersel.config.search import (
    MAX_K_BEST,
    ForestSettings,
    GivenListFeatures,
    IterationSearch,
    KBestSettings,
    Search,
)
from itersel.config.settings import read_settings
from itersel.config.tuners import START_IN_RUN
from itersel.errors import InputError, located


def _add_decode(parser: argparse.ArgumentParser) -> None:
    files = {
        "--sentences FILE": "sentences with grammars, or with lists of another decoder (.h5)",
        "--weights": "weights: .h5, or text 'name value'",
    }
    add_options(parser, files, required=True)
    add_language_model(parser)
    k_best = (
        "write the K best, 'id ||| text ||| name=value ... ||| score', instead of one translation per line"
    )
    add_options(parser, {"--k-best K": k_best}, type=whole(1, MAX_K_BEST))
    add_settings(parser, Search, with_options=True)
    add_decision(parser, "copy the translations of --passed-on", "translations of the previous epoch")
    add_text_output(parser)
    add_mbr(parser)
    add_chosen_mbr(parser)


def _decode(options: argparse.Namespace) -> None:
    from itersel.storage.files import read_lines, write_lines

    mbr = mbr_of(options, options.k_best or 1, chosen_mbr(options))
    passed_on = file_passed_on(options)
    if passed_on is not None:
        write_lines(options.output, read_lines(passed_on))
        return

    kind = kind_of_settings(options, Search, GivenListFeatures)
    settings = settings_of(kind, options, Search, "with lists of another decoder (no --language-model)")
    with located(options.sentences):
        write_lines(options.output, _translations(options, settings, mbr))


def _translations(
    options: argparse.Namespace, settings: Search | GivenListFeatures, mbr: MinimumRisk | None
) -> Iterator[str]:
    """Yield the best translation of each sentence, one per line, or k-best lists."""
    from itersel.decode.opening import open_grammars, open_lists
    from itersel.decode.output import kbest_lines, text_of
    from itersel.decode.ranking import best_ranks, list_size
    from itersel.rerank.mbr import ranking_of
    from itersel.run.progress import progress
    from itersel.vectors.weights import read_itersel_weights

    weights = read_itersel_weights(options.weights)
    if not isinstance(settings, Search):
        if options.k_best is not None:
            raise InputError(
                "--k-best needs a decoder, and so --language-model; reorder lists with 'itersel rescore'"
            )
        list_table = open_lists(options.sentences, settings, has_text=True)
        yield from list_table.best_texts(weights, ranking_of(mbr))
        return

    k_best = options.k_best or 1
    grammars, [decoder] = open_grammars(options.sentences, options.language_model, settings)
    vectors = decoder.weight_vectors(weights)
    words = grammars.vocabulary.to_list()

    for sentence in progress(range(grammars.sentence_count), "decode"):
        kbest = decoder.decode(sentence, vectors, k=list_size(k_best, mbr))
        best = best_ranks(kbest, words, k_best, mbr)
        if options.k_best is not None:
            yield from kbest_lines(sentence, kbest, best, words, decoder.dense_names, grammars.feature_name)
        else:
            yield text_of(kbest, best[0], words)


def _add_kbest(parser: argparse.ArgumentParser) -> None:
    parser.description = "Decode sentences and write n-gram matches, length and features of each translation."
    _add_decoding(parser, "tuning file with k-best lists, .h5", KBestSettings)


def _kbest(options: argparse.Namespace) -> None:
    from itersel.tune.generate_lists import generate_lists

    _generate(options, KBestSettings, generate_lists)


def _add_forest(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Decode sentences and write the best edges of their forests: rules, their dense features and "
        "words, and the contribution of the language model."
    )
    _add_decoding(parser, "tuning file with forests, .h5", ForestSettings)


def _forest(options: argparse.Namespace) -> None:
    from itersel.tune.generate_forests import generate_forests

    _generate(options, ForestSettings, generate_forests)


def _add_decoding(parser: argparse.ArgumentParser, output: str, kind: type) -> None:
    inputs = {"--sentences FILE": "sentences with references and grammars (.h5)"}
    add_options(parser, inputs, required=True)
    add_language_model(parser)
    start = f"start weights, .h5 or text (default, in the first iteration only: {START_IN_RUN})"
    add_optional_files(parser, {"--start FILE": start})
    add_decision(parser, "write an empty tuning file")
    add_settings(parser, kind)
    add_place(parser, kind)
    add_output(parser, output)


def _generate(options: argparse.Namespace, kind: type[IterationSearch], generate: Callable[..., Any]) -> None:
    from itersel.decode.opening import open_grammars
    from itersel.lists.files import write_empty_tuning_file
    from itersel.tune.start_weights import start_weights_of_iteration
    from itersel.vectors.weights import read_itersel_weights

    settings = read_settings(kind, options.settings, vars(options))
    if training_has_stopped(options):
        write_empty_tuning_file(options.output, settings.iteration, settings.file_number)
        return

    if has_given_lists(options):
        raise InputError(
            "needs the decoder's language model; name it with --language-model", options.sentences
        )

    grammars, [decoder] = open_grammars(options.sentences, options.language_model, settings)
    if not grammars.can_be_learned_from:
        raise InputError("has no references to tune on; extract it with --reference", options.sentences)

    given = None if options.start is None else read_itersel_weights(options.start)
    weights = start_weights_of_iteration(given, settings.iteration, decoder.dense_names)
    generate(options.output, grammars, decoder, weights, settings)
