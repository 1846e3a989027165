"""The options of ``itersel corpus prepare``, and the settings that they make."""

from __future__ import annotations

import argparse
import re
from dataclasses import fields
from typing import Any

from itersel.cli.argument_types import split
from itersel.cli.arguments import add_options
from itersel.cli.corpus_files import add_corpora, corpora_of, held_out_of
from itersel.cli.settings import add_settings, refuse_replaced, settings_of
from itersel.config.command_line import add_key, refuse
from itersel.config.settings import read_settings
from itersel.config.text_steps import PreparationSettings, PrepareSettings
from itersel.corpus.settings import HeldOutSizes
from itersel.corpus.text_names import BY_HASH, HELD_OUT
from itersel.errors import InputError

# The keys whose options are made from their declarations: of the preparation, and of all else.
PREPARATION = [item.name for item in fields(PreparationSettings)]
_OTHERS = ("corpora", "held_out", "preparation", "split", "cut")
FILTERS = [item.name for item in fields(PrepareSettings) if item.name not in _OTHERS]
# Explanations of options that differ from those of the keys of a config.
EXPLANATIONS = {
    "only_labels": "Keep only pairs with these labels.",
    "held_out_labels": "With --split hash: make a test set, test.LABEL, of the pairs with each label.",
    "deduplicate": "With train: drop pairs with the same source and target (pairs), or the same source.",
    "drop_invalid_pairs": "Drop pairs with control characters, ||| or reserved words (default: stop).",
    "drop_overlap": "Keep pairs in train that are also in a --held-out set (default: drop them).",
    "max_train": "Maximum number of pairs in train, chosen by hash.",
    "max_held_out": "The same for each of the other splits.",
    "compound_splitting": "Split source compounds, as learned from train.",
}
REPLACED = "--preparation replaces languages, --tokenized, --compound-splitting and --protected"


def add_prepare_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `prepare_settings`."""
    add_settings(parser, PrepareSettings)
    add_corpora(parser)

    # only what is stated is known
    unstated: dict[str, Any] = {"default": argparse.SUPPRESS}
    for name in PREPARATION:
        shown = {"metavar": "REGEX"} if name == "protected" else {}
        add_key(parser, PreparationSettings, name, unless="--settings or --preparation", **unstated, **shown)

    splits = "train, dev, devtest, test, test.NAME, devtest.NAME, or hash: by a hash of the source (default)"
    add_options(parser, {"--split SPLIT": splits}, type=split, **unstated)
    cut = "with train: cut the N sentences with the smallest hashes for dev, devtest or test; may be repeated"
    add_options(parser, {"--cut SPLIT=N": cut}, type=_cut, action="append", **unstated)
    for name in FILTERS:
        add_key(parser, PrepareSettings, name, EXPLANATIONS.get(name, ""), **unstated)


def prepare_settings(options: argparse.Namespace) -> PrepareSettings:
    """Return the settings: those of ``--settings``, or what the other options say.

    An InputError if both are given, or if options do not go together.
    """
    stated = {name: value for name, value in vars(options).items() if name in ("split", "cut", *FILTERS)}
    if "cut" in stated:
        stated["cut"] = HeldOutSizes(**dict(stated["cut"]))
    has_preparation = any(name in options for name in PREPARATION)

    if options.settings is not None:
        if options.described:
            raise InputError("--settings replaces the options for corpora; give only one of the two")
        settings = read_settings(PrepareSettings, options.settings)
        refuse_replaced(settings, argparse.Namespace(**stated))
        if has_preparation and settings.preparation is None:
            raise InputError("--settings says nothing of languages; give its key 'preparation', not options")
        if settings.preparation is not None:
            refuse_replaced(settings.preparation, options)
        return settings

    preparation = None
    if has_preparation and options.preparation is not None:
        raise InputError(REPLACED)
    if has_preparation:
        preparation = settings_of(PreparationSettings, options)

    has_train = stated.get("split", BY_HASH) in ("train", BY_HASH)
    return PrepareSettings(
        corpora=tuple(corpora_of(options.described, has_references=not has_train)),
        held_out=held_out_of(options.described),
        preparation=preparation,
        **stated,
    )


def _cut(text: str) -> tuple[str, int]:
    split, _, size = text.partition("=")
    if split not in HELD_OUT or not re.fullmatch("[1-9][0-9]{0,8}", size):
        refuse(text, f"a split and a number, such as {HELD_OUT[0]}=1000")
    return split, int(size)
