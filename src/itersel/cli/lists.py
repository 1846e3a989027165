"""``itersel step lists``: build a training shard from another decoder's n-best lists."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import (
    add_files,
    add_optional_files,
    add_options,
    add_output,
    add_settings,
    not_negative,
)
from itersel.config.cutting import GivenListSettings
from itersel.config.plain import recorded
from itersel.config.settings import read_settings


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Build a training shard (HDF5) from another decoder's n-best lists, which 'itersel step shard "
        "--nbest' has cut. Translations are cleaned like their references; equal ones of a sentence count "
        "once. Features of their text can be added, for which --aligner and --models may be needed."
    )
    add_options(parser, {"--folder DIR": "output of 'itersel step shard --nbest'"}, required=True)
    add_options(parser, {"--number Z": "number of the shard, from 0"}, type=not_negative, required=True)
    add_settings(parser, GivenListSettings)

    aligners = "models of 'itersel align --save', one of each direction, for features of linked words"
    add_files(parser, {"--aligner FILE": aligners}, nargs="*", default=[])
    models = "output of 'itersel step text-models', for lexical scores and those of the language model"
    add_optional_files(parser, {"--models DIR": models})
    add_output(parser, "lists, .h5")


def _lists(options: argparse.Namespace) -> None:
    from itersel.lists.files import write_list_table
    from itersel.lists.importing import import_lists
    from itersel.rerank.preparation import preparation_of

    settings = read_settings(GivenListSettings, options.settings)
    preparation = preparation_of(settings)

    adder = None
    if settings.dense or settings.templates:
        from itersel.rerank.features import TextFeatureAdder
        from itersel.rerank.models import read_text_models

        models = read_text_models(options.aligner, options.models)
        adder = TextFeatureAdder(preparation, models, settings)

    table = import_lists(options.folder, options.number, preparation, adder)
    write_list_table(options.output, table, options.number, recorded(settings))
