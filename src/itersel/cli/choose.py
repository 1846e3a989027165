"""``itersel step choose``, ``patience``, ``resources``, ``reranker``: choose epochs, describe systems."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from itersel.cli.arguments import Parser, add_files, add_optional_files, add_options, add_output, add_settings
from itersel.config.report_steps import ChooseSettings, PatienceSettings, RerankerSettings, Scoring
from itersel.config.search import TranslationSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError
from itersel.evaluate.names import QUALITY, TOKENIZED_BLEU

MBR = {"--chosen-mbr FILE": "output of 'itersel step scale', if the system chooses by minimum Bayes risk"}

if TYPE_CHECKING:
    from itersel.evaluate.epoch_scores import EpochScores, EpochTexts, Scorer


def _add_choose(parser: Parser) -> None:
    parser.description = (
        "Score the translations of devtest after each epoch, copy the weights of the best epoch (the "
        "earliest in case of ties), and describe the system."
    )
    add_settings(parser, ChooseSettings)
    add_devtest(parser)
    one_each = dict.fromkeys(("--translation FILE", "--weights FILE"), "one file per epoch, in order")
    add_files(parser, one_each, required=True)
    add_output(parser, "copy of the weights of the best epoch", "--output-weights")
    add_output(parser, "description of the system (JSON)", "--output")


def _add_patience(parser: Parser) -> None:
    parser.description = (
        "Score the translations of devtest after an epoch, and decide whether training stops: if none of the "
        "last N epochs is better than all before."
    )
    add_settings(parser, PatienceSettings)
    add_devtest(parser)
    add_options(parser, {"--translation FILE": "translations after the epoch"}, required=True)
    add_optional_files(parser, {"--previous FILE": "output of this command after the previous epoch"})
    add_output(parser, "scores after each epoch, and the decision (JSON)", "--output")


def add_devtest(parser: Parser) -> None:
    """Add the options for the files with which translations of devtest are scored."""
    references = "reference translations of devtest, one sentence per line"
    add_files(parser, {"--reference FILE": references}, required=True)
    raw = "raw reference translations, before preparation; for scores of detokenised text, as the next two"
    add_files(parser, {"--raw-reference FILE": raw}, nargs="*")
    files = {
        "--preparation FILE": "preparation.json of the training corpus",
        "--recaser FILE": "recaser.json of the training corpus",
        "--labels FILE": "label of each line of devtest",
    }
    add_optional_files(parser, files)
    parser.renamed["--task"] = "--labels"
    add_files(parser, {"--nbest FILE": "n-best lists of devtest, for quality"}, nargs="*")
    quality = "a number for each translation in the lists, higher is better; for quality, with --preparation"
    add_optional_files(parser, {"--quality FILE": quality})


def _choose(options: argparse.Namespace) -> None:
    from itersel.system.chosen import choose_system, write_system

    settings = read_settings(ChooseSettings, options.settings)
    count, given = len(options.translation), len(options.weights)
    if count != given:
        raise InputError(f"{count} translations, but {given} weights; give one of each per epoch")

    scores = score_devtest(settings.scoring, options, options.translation)
    write_system(options.output, choose_system(settings, scores, options.weights, options.output_weights))


def score_devtest(scoring: Scoring, options: argparse.Namespace, translations: list[str]) -> EpochScores:
    """Return the scores of each epoch."""
    from itersel.evaluate.epoch_scores import read_epochs, score_epochs

    by = scoring.choose_by
    if (options.labels is None) != (scoring.label is None):
        raise InputError("--labels and the key 'label' need each other; give both or neither")
    if by == QUALITY:
        if not options.nbest or options.quality is None or options.preparation is None:
            raise InputError(f"choose_by: {by} needs --nbest, --quality and --preparation")
    elif by != TOKENIZED_BLEU and not (options.raw_reference and options.preparation and options.recaser):
        raise InputError(f"choose_by: {by} needs --raw-reference, --preparation and --recaser")

    raw = () if by in (TOKENIZED_BLEU, QUALITY) else options.raw_reference
    texts = read_epochs(translations, options.reference, raw, options.labels, scoring.label)
    return score_epochs(texts, scoring.retokenize, _scorer(scoring, options, texts))


def _scorer(scoring: Scoring, options: argparse.Namespace, texts: EpochTexts) -> Scorer | None:
    """Return what an epoch is chosen by, unless that is BLEU, which is computed anyway."""
    from itersel.evaluate.epoch_scores import text_scorer
    from itersel.report.quality import quality_scorer

    if scoring.choose_by == TOKENIZED_BLEU:
        return None
    if scoring.choose_by == QUALITY:
        return quality_scorer(options.nbest, options.quality, options.preparation, texts.lines)
    files = options.preparation, options.recaser
    return text_scorer(texts, scoring.choose_by, scoring.tokenizer, *files)


def _patience(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import next_decision, read_decision, write_decision

    settings = read_settings(PatienceSettings, options.settings)
    before = None if options.previous is None else read_decision(options.previous)
    scoring = settings.scoring
    (score,) = score_devtest(scoring, options, [options.translation]).deciding_scores
    write_decision(options.output, next_decision(before, score, settings.patience, scoring.choose_by))


def _add_resources(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, TranslationSettings)
    model = {"--language-model": "compiled language model"}
    add_options(parser, model, required=True, dest="model")
    files = {
        "--index": "index of the training corpus",
        "--preparation": "preparation.json of 'itersel corpus prepare'",
        "--recaser": "recaser.json of 'itersel corpus prepare'",
    }
    add_options(parser, files, required=True)
    add_optional_files(parser, MBR)
    add_output(parser, "resources.json in the folder of the system", "--output")


def _resources(options: argparse.Namespace) -> None:
    from itersel.system.mbr import read_mbr
    from itersel.system.resources import TranslatorFiles, TranslatorResources, write_resources

    settings = read_settings(TranslationSettings, options.settings)
    if options.chosen_mbr is not None:
        settings = replace(settings, mbr=read_mbr(options.chosen_mbr))
    files = TranslatorFiles(options.model, options.index, options.preparation, options.recaser)
    write_resources(options.output, TranslatorResources(settings, files))


def _add_reranker(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, RerankerSettings)
    lists = "output of 'itersel step shard --nbest' for the text that the system was trained on"
    add_options(parser, {"--folder DIR": lists}, required=True)
    aligners = "models of 'itersel align --save', one of each direction, if features of text need them"
    add_files(parser, {"--aligner FILE": aligners}, nargs="*", default=[])
    models = "output of 'itersel step text-models' for all of train, if features of text need it"
    add_optional_files(parser, {"--models DIR": models})
    models = "your compiled language models, in the order of the key lists.user_model_names"
    add_files(parser, {"--user-model FILE": models}, nargs="*", default=[])
    add_optional_files(parser, MBR)
    add_output(parser, "resources.json in the folder of the system", "--output")


def _reranker(options: argparse.Namespace) -> None:
    from itersel.lists.sharding import DENSE_NAMES
    from itersel.storage.declared import DeclaredFolder
    from itersel.storage.files import read_lines
    from itersel.system.mbr import read_mbr
    from itersel.system.resources import RerankerFiles, RerankerResources, RerankingSettings, write_resources

    given = read_settings(RerankerSettings, options.settings)
    trained_with = tuple(read_lines(DeclaredFolder(options.folder).checked(DENSE_NAMES)))
    mbr = read_mbr(options.chosen_mbr)
    settings = RerankingSettings(given.features, trained_with, given.dense_names, given.lists, mbr)
    files = RerankerFiles(tuple(options.aligner), options.models, tuple(options.user_model))
    write_resources(options.output, RerankerResources(settings, files))
