"""The options of minimum Bayes risk, which take precedence over what a system does, and what it does."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from itersel.cli.arguments import add_optional_files, add_options
from itersel.cli.settings import refuse_unused
from itersel.config.command_line import add_key, refuse
from itersel.config.mbr import GAINS, SIMILARITY, MinimumRisk

# The keys with options of their own.
MBR_KEYS = ("scale", "size")


class _UseMbr(argparse.Action):
    """Keep the gain, if one is named, and that minimum Bayes risk is used; the last such option wins."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.uses_mbr = True
        namespace.mbr_gain = values


def add_mbr(parser: argparse.ArgumentParser) -> None:
    """Add the options for minimum Bayes risk, which `mbr_of` reads.

    `options.uses_mbr` is None if neither ``--mbr`` nor ``--no-mbr`` is given.
    """
    group = parser.add_argument_group(
        "minimum Bayes risk",
        "Choose the translation most similar to the others (docs/decoder.md); by default, as the system "
        "does. Defaults below are for systems that choose by score, and for a gain other than the system's.",
    )
    similarity = f"{SIMILARITY[0].lower()}{SIMILARITY[1:]}"
    gain = f"{similarity}; without GAIN, the system's, or {MinimumRisk.gain}"
    add_options(group, {"--mbr GAIN": gain}, dest="mbr_gain", nargs="?", action=_UseMbr, type=_gain)
    by_score = {"--no-mbr": "choose by model score, whatever the system does"}
    add_options(group, by_score, dest="uses_mbr", action="store_false", default=None)
    for name in MBR_KEYS:
        add_key(group, MinimumRisk, name, prefix="mbr-", default=None)


def mbr_of(
    options: argparse.Namespace, k_best: int = 1, of_system: MinimumRisk | None = None
) -> MinimumRisk | None:
    """Return what the options of `add_mbr` say about minimum Bayes risk; None if it is not used.

    `of_system` is what a system does without them. Raises an InputError if it compares fewer than `k_best`.
    """
    given = {name: getattr(options, f"mbr_{name}") for name in MBR_KEYS}
    stated = {name: value for name, value in given.items() if value is not None}
    is_used = of_system is not None if options.uses_mbr is None else options.uses_mbr
    if not is_used:
        refuse_unused(MinimumRisk(**stated), "without --mbr", prefix="mbr-")
        return None

    base = of_system or MinimumRisk()
    if options.mbr_gain is not None and options.mbr_gain != base.gain:
        # the scale and size of a system are for its own gain
        base = MinimumRisk(gain=options.mbr_gain)
    chosen = replace(base, **stated)
    chosen.check_k_best(k_best, "--k-best", "raise --mbr-size")
    return chosen


def add_chosen_mbr(parser: argparse.ArgumentParser) -> None:
    """Add the option with the minimum Bayes risk of a system, which `chosen_mbr` reads."""
    chosen = "output of 'itersel step scale', if the system chooses by minimum Bayes risk"
    add_optional_files(parser, {"--chosen-mbr FILE": chosen})


def chosen_mbr(options: argparse.Namespace, otherwise: MinimumRisk | None = None) -> MinimumRisk | None:
    """Return the minimum Bayes risk in the file of `add_chosen_mbr`, or `otherwise` without a file."""
    from itersel.system.mbr import read_mbr

    return otherwise if options.chosen_mbr is None else read_mbr(options.chosen_mbr)


def _gain(text: str) -> str:
    if text not in GAINS:
        refuse(text, f"{' or '.join(GAINS)}; to choose by model score, give --no-mbr")
    return text
