"""What to type after a run: translate a sentence, add an experiment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.corpus.text import read_text, split_words
from itersel.report.system import read_system, sign_of

# Words of a sentence that is short, but not a heading.
FEW, MANY = 4, 10


def hints(
    systems: Mapping[str, Path], source: Path, cache: str, tools: str, configs: Sequence[str]
) -> Iterator[str]:
    """Yield lines with commands that work when they are pasted in the folder of the run.

    Parameters
    ----------
    systems
        Folder of the best system of each experiment, by name.
    source
        Text of which a sentence is translated.
    cache
        Folder of the compiled kernels of the run.
    tools
        Folder of the programs.
    configs
        Config files of the command line; none: the run uses config.yaml.
    """
    name = best_system(systems)
    itersel = shlex.join([os.path.join(tools, "itersel"), "translate", "--system", str(systems[name])])
    yield f"To translate text with {name}, the best on devtest:"
    # the kernels of the run: in another cache they would be compiled again
    # `echo` of some shells would read backslashes and a leading -n
    sentence = f"printf '%s\\n' {shlex.quote(short_sentence(source))}"
    yield f"    {sentence} | ITERSEL_CACHE={shlex.quote(cache)} {itersel}"
    snakemake = [os.path.join(tools, "snakemake"), *(["--configfile", *configs] if configs else [])]
    yield f"To add an experiment, describe it under 'experiments' in {(*configs, 'config.yaml')[0]}, and run:"
    yield f"    {shlex.join(snakemake)}"


def best_system(systems: Mapping[str, Path]) -> str:
    """Return the name of the system with the best score on devtest, the first of equal ones."""

    def score(name: str) -> float:
        system = read_system(systems[name] / "system.json")
        return sign_of(system.chosen_by) * system.devtest_scores[system.epoch - 1]

    return max(systems, key=score)


def short_sentence(path: Path) -> str:
    """Return the first short sentence of a text, or else the first one."""
    lines = read_text(path)
    return next((line for line in lines if FEW <= len(split_words(line)) <= MANY), lines[0])
