"""``itersel step resources`` and ``reranker``: describe what a system needs besides its weights."""

from __future__ import annotations

import argparse
from dataclasses import replace

from itersel.cli.arguments import add_feature_models, add_options, add_output
from itersel.cli.mbr import add_chosen_mbr, chosen_mbr
from itersel.cli.settings import add_settings
from itersel.config.list_steps import RerankerSettings
from itersel.config.search import TranslationSettings
from itersel.config.settings import read_settings

# See `add_command`.
RUNS_KERNELS = False


def _add_resources(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, TranslationSettings)
    model = {"--language-model": "compiled language model"}
    add_options(parser, model, required=True)
    files = {
        "--index": "index of the training corpus",
        "--preparation": "preparation.json of 'itersel corpus prepare'",
        "--recaser": "recaser.json of 'itersel corpus prepare'",
    }
    add_options(parser, files, required=True)
    add_chosen_mbr(parser)
    add_output(parser, "resources.json in the folder of the system", "--output")


def _resources(options: argparse.Namespace) -> None:
    from itersel.system.resources import TranslatorFiles, TranslatorResources, write_resources

    settings = read_settings(TranslationSettings, options.settings)
    settings = replace(settings, mbr=chosen_mbr(options, settings.mbr))
    files = TranslatorFiles(options.language_model, options.index, options.preparation, options.recaser)
    write_resources(options.output, TranslatorResources(settings, files))


def _add_reranker(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, RerankerSettings)
    lists = "output of 'itersel step divide --nbest' for the text that the system was trained on"
    add_options(parser, {"--divided-lists DIR": lists}, required=True)
    add_feature_models(parser, "lists.user_model_names")
    add_chosen_mbr(parser)
    add_output(parser, "resources.json in the folder of the system", "--output")


def _reranker(options: argparse.Namespace) -> None:
    from itersel.lists.dividing import DENSE_FILE
    from itersel.storage.declared import DeclaredFolder
    from itersel.storage.files import read_lines
    from itersel.system.resources import RerankerFiles, RerankerResources, write_resources

    settings = read_settings(RerankerSettings, options.settings)
    settings = replace(settings, mbr=chosen_mbr(options, settings.mbr))
    training_dense_names = tuple(read_lines(DeclaredFolder(options.divided_lists).checked(DENSE_FILE)))
    files = RerankerFiles(tuple(options.aligner), options.text_models, tuple(options.user_model))
    write_resources(options.output, RerankerResources(settings, training_dense_names, files))
