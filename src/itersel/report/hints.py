"""Suggested commands after a run: translate a sentence, add an experiment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.corpus.text import read_text, split_words
from itersel.report.system import read_system, sign_of

# Number of words in a sentence that is short, but not a heading.
FEW, MANY = 4, 10


def hints(
    systems: Mapping[str, Path], source: Path, cache: str | None, tools: str, configs: Sequence[str]
) -> Iterator[str]:
    """Yield lines with commands that can be pasted in the folder of the run.

    Parameters
    ----------
    systems
        Folder of the best system of each experiment, by name.
    source
        Text from which a sentence to translate is taken.
    cache
        Folder of the run's compiled kernels; None if the default one is used.
    tools
        Folder of the executables.
    configs
        Config files on the command line; if empty, the run uses config.yaml.
    """
    name = best_system(systems)
    itersel = shlex.join([os.path.join(tools, "itersel"), "translate", "--system", str(systems[name])])
    yield f"To translate text with {name}, the best on devtest:"
    # with another cache, the kernels would be compiled again
    environment = "" if cache is None else f"ITERSEL_CACHE={shlex.quote(cache)} "
    # `echo` in some shells interprets backslashes and a leading -n
    sentence = f"printf '%s\\n' {shlex.quote(short_sentence(source))}"
    yield f"    {sentence} | {environment}{itersel}"
    # unlike Snakemake, it also finds the workflow of an installed package
    run = [os.path.join(tools, "itersel"), "run", *(["--configfile", *configs] if configs else [])]
    yield f"To add an experiment, describe it under 'experiments' in {(*configs, 'config.yaml')[0]}, and run:"
    yield f"    {shlex.join(run)}"


def best_system(systems: Mapping[str, Path]) -> str:
    """Return the name of the system with the best score on devtest, the first one in case of ties."""

    def score(name: str) -> float:
        system = read_system(systems[name] / "system.json")
        return sign_of(system.chosen_by) * system.devtest_scores[system.epoch - 1]

    return max(systems, key=score)


def short_sentence(path: Path) -> str:
    """Return the first short sentence of a text, or the first sentence if none is short."""
    lines = read_text(path)
    return next((line for line in lines if FEW <= len(split_words(line)) <= MANY), lines[0])
