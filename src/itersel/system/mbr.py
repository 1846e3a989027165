"""The minimum Bayes risk of a system: with the scale that was chosen on devtest."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.mbr import MinimumRisk
from itersel.errors import FilePath, checked
from itersel.storage.json_files import as_content, from_content, read_json, write_json


@dataclass(frozen=True)
class ChosenMbr:
    """What a system does, and how its scale was chosen."""

    mbr: MinimumRisk
    devtest: str  # the split on which the scale was chosen
    chosen_by: str  # the score by which it was chosen
    scales: tuple[float, ...]  # to choose from
    devtest_scores: tuple[float, ...]  # that score with each of them


def write_mbr(path: FilePath, chosen: ChosenMbr) -> None:
    """Write what was chosen as JSON."""
    write_json(path, as_content(chosen), indent=2)


def read_mbr(path: FilePath) -> MinimumRisk:
    """Return what a file written by `write_mbr` says."""
    with checked(path, "is not a minimum Bayes risk; make it with 'itersel step scale'"):
        return from_content(ChosenMbr, read_json(path)).mbr
