"""Suggested commands after a run: translate a sentence, add an experiment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.prepare import Preparation
from itersel.corpus.reading import corpus_blocks
from itersel.corpus.text import read_text, split_words
from itersel.errors import InputError
from itersel.evaluate.epochs import sign_of
from itersel.report.system import read_system

# Number of words in a sentence that is short, but not a heading.
FEW, MANY = 4, 10


def hints(
    systems: Mapping[str, Path], sentence: str, cache: str | None, tools: str, configs: Sequence[str]
) -> Iterator[str]:
    """Yield lines with commands that can be pasted in the folder of the run.

    `systems` are the folders of the best system of each experiment, `tools` that of the executables, and
    `cache` that of the run's compiled kernels, unless it is the default one. If no `configs` were given on
    the command line, the run uses config.yaml.
    """

    def score(name: str) -> float:
        system = read_system(systems[name] / "system.json")
        return sign_of(system.chosen_by) * system.devtest_scores[system.epoch - 1]

    name = max(systems, key=score)
    itersel = shlex.join([os.path.join(tools, "itersel"), "translate", "--system", str(systems[name])])
    yield f"To translate text with {name}, the best on devtest:"
    # with another cache, the kernels would be compiled again
    environment = "" if cache is None else f"ITERSEL_CACHE={shlex.quote(cache)} "
    # `echo` in some shells interprets backslashes and a leading -n
    yield f"    printf '%s\\n' {shlex.quote(sentence)} | {environment}{itersel}"
    # unlike Snakemake, it also finds the workflow of an installed package
    run = [os.path.join(tools, "itersel"), "run", *(["--configfile", *configs] if configs else [])]
    yield f"To add an experiment, describe it under 'experiments' in {(*configs, 'config.yaml')[0]}, and run:"
    yield f"    {shlex.join(run)}"


def short_sentence(path: Path, corpora: Sequence[Corpus], preparation: Preparation, limit: int) -> str:
    """Return the first short sentence of a text, or the first sentence if none is short, as a user types it.

    The prepared text in `path` was made from `corpora`, which may contain other sentences; these have at most
    `limit` bytes. If the raw text has changed or cannot be read any more, the sentence is the prepared one.
    """
    lines = read_text(path)
    wanted = next((line for line in lines if FEW <= len(split_words(line)) <= MANY), lines[0])
    most = len(split_words(wanted))
    reading = Reading(preparation.source_language, preparation.target_language, preparation.tokenized, limit)
    try:
        for block in corpus_blocks(corpora, reading):
            for line in block.source:
                # tokenisation adds words
                if len(split_words(line)) > most:
                    continue
                if preparation.split_compounds(preparation.source([line])) == [wanted]:
                    return line
    except (InputError, OSError):
        pass
    return wanted
