"""The translations of a test set by all systems that a table compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from itersel.config.experiments import repeat_folder
from itersel.config.report_steps import ScoredTestSet
from itersel.corpus.prepare import read_preparation
from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.errors import FilePath, InputError
from itersel.evaluate.counts import Counts, read_counts_of
from itersel.evaluate.formulas import Sums
from itersel.evaluate.texts import ReferenceText, read_references, read_translations
from itersel.report.user_scores import Text, read_user_scores
from itersel.system.chosen import ChosenSystem, differing_attribute, read_system


@dataclass(frozen=True)
class Output:
    """The output of another system, of which only the name is known."""

    name: str
    repeat: int = 1


class Translations(NamedTuple):
    """The translations of a test set by all systems."""

    name: str
    systems: Sequence[ChosenSystem | Output]  # at the epochs chosen for this test set
    translations: Sequence[Sequence[str]]
    references: Sequence[ReferenceText]
    counts: Sequence[Counts] = ()  # of the detokenised translations; empty if these are not scored
    # of the user's own scores that a system has, by name; empty if there are none
    user_scores: Sequence[Mapping[str, Sums]] = ()


def read_test_set(name: str, files: ScoredTestSet, preparation: FilePath | None = None) -> Translations:
    """Read a test set and its translations by all systems.

    Those of other systems are plain text, which has been cleaned, and needs the `preparation` of the training
    corpus.
    """
    _check_numbers_of_files(name, files)
    repeats = _read_repeats(files.systems)
    _check_names(files.outputs, repeats)
    systems: list[ChosenSystem | Output] = [*repeats, *map(Output, files.outputs)]

    references = read_references(files.references)
    paths = [*files.translations, *files.outputs.values()]
    texts = [read_translations(path, references, files.references[0]) for path in paths]
    counts = read_counts_of(files.counts, texts, paths, len(references)) if files.counts else []

    user_scores: list[Mapping[str, Sums]] = []
    if files.user_scores:
        names = [repeat_folder(system.name, system.repeat) for system in systems]
        found = read_user_scores(files, dict(zip(names, map(Text, paths, texts), strict=True)), preparation)
        user_scores = [found[name] for name in names]

    if preparation is not None:
        prepare = read_preparation(preparation).prepare_cleaned_target
        texts[len(repeats) :] = map(prepare, texts[len(repeats) :])

    # the first entries, which other systems should beat, come first
    order = sorted(range(len(systems)), key=lambda place: systems[place].name != FIRST_ENTRIES)
    return Translations(
        name,
        [systems[place] for place in order],
        [texts[place] for place in order],
        references,
        [counts[place] for place in order if counts],
        [user_scores[place] for place in order if user_scores],
    )


def _check_numbers_of_files(name: str, files: ScoredTestSet) -> None:
    if not files.references:
        raise InputError(f"test set '{name}' has no reference; name its file")
    if len(files.systems) != len(files.translations):
        given = f"{len(files.systems)} systems, but {len(files.translations)} translations"
        raise InputError(f"{given}; give one of each")
    count = len(files.systems) + len(files.outputs)
    if files.counts and count != len(files.counts):
        raise InputError(f"{count} systems, but {len(files.counts)} counts; give one of each")


def _read_repeats(paths: Sequence[FilePath]) -> list[ChosenSystem]:
    """Read the descriptions of repeats; those of an experiment must be different repeats of the same one."""
    repeats = [read_system(path) for path in paths]
    for (name, number), count in Counter((one.name, one.repeat) for one in repeats).items():
        if count > 1:
            raise InputError(f"{count} systems are repeat {number} of '{name}'; compare different ones")

    first: dict[str, ChosenSystem] = {}
    for repeat in repeats:
        key = differing_attribute(first.setdefault(repeat.name, repeat), repeat)
        if key:
            raise InputError(f"repeats of '{repeat.name}' differ in {key}; compare repeats of one experiment")
    return repeats


def _check_names(outputs: Mapping[str, FilePath], repeats: Sequence[ChosenSystem]) -> None:
    """Raise an InputError unless other systems have names of their own."""
    experiments = {repeat.name for repeat in repeats}
    for name in outputs:
        if not name.isprintable():
            raise InputError(f"outputs: {name!a} has control characters; choose another name")
        if name in experiments:
            raise InputError(f"outputs: '{name}' is the name of an experiment; choose another")
