"""``itersel step lists`` and ``first-entries``: what a run takes from another decoder's n-best lists."""

from __future__ import annotations

import argparse

from itersel.cli.argument_types import not_negative
from itersel.cli.arguments import add_feature_models, add_files, add_options, add_output
from itersel.cli.settings import add_settings
from itersel.cli.shared_options import add_text_output
from itersel.config.list_steps import GivenListSettings
from itersel.config.plain import recorded
from itersel.config.settings import read_settings


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Build a file to train on (HDF5) from another decoder's n-best lists, divided by 'itersel step "
        "divide --nbest'. Translations are cleaned like their references; duplicates within a sentence "
        "are counted once. Features of their text can be added, for which --aligner and --text-models may be "
        "needed."
    )
    lists = {"--divided-lists DIR": "output of 'itersel step divide --nbest'"}
    add_options(parser, lists, required=True)
    add_options(parser, {"--file-number f": "number of the file, from 0"}, type=not_negative, required=True)
    add_settings(parser, GivenListSettings)

    add_feature_models(parser, "user_model_names")
    add_output(parser, "lists, .h5")


def _lists(options: argparse.Namespace) -> None:
    from itersel.lists.files import write_list_table
    from itersel.lists.importing import import_lists
    from itersel.rerank.preparation import list_preparation

    settings = read_settings(GivenListSettings, options.settings)
    preparation = list_preparation(settings)

    adder = None
    if settings.adds_features:
        from itersel.rerank.features import TextFeatureAdder
        from itersel.rerank.models import read_feature_models

        models = read_feature_models(
            aligners=options.aligner,
            folder=options.text_models,
            needed=settings.needed_models,
            user_models=options.user_model,
        )
        adder = TextFeatureAdder(preparation, models, settings)

    list_table = import_lists(options.divided_lists, options.file_number, preparation, adder)
    write_list_table(options.output, list_table, options.file_number, recorded(settings))


def _add_first_entries(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the first translation of each sentence in n-best lists, as their decoder ranked them, as "
        "'itersel rescore --first' does."
    )
    add_files(parser, {"--nbest FILE": "n-best lists, or folders of them"}, required=True)
    add_text_output(parser)


def _first_entries(options: argparse.Namespace) -> None:
    from itersel.lists.rescoring import first_texts
    from itersel.storage.files import write_lines

    write_lines(options.output, first_texts(options.nbest))
