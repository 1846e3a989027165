"""Suggested commands after a run: translate a sentence, rerank lists, add an experiment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.prepare import Preparation
from itersel.corpus.text import split_words, text_blocks
from itersel.errors import InputError
from itersel.report.baseline import score_on_devtest
from itersel.results import SYSTEM
from itersel.system.chosen import read_system

# Number of words in a sentence that is short, but not a heading.
FEW, MANY = 4, 10
# Number of sentences among which a short one is looked for: these take seconds.
MAX_SENTENCES_READ = 20_000


def hints(
    systems: Mapping[str, Path], sentence: str, cache: str | None, tools: str, configs: Sequence[str]
) -> Iterator[str]:
    """Yield lines with commands that can be pasted in the folder of the run.

    `systems` are the folders of the best system of each experiment, `tools` the folder of the executables,
    and `cache` the folder of the run's compiled kernels, unless it is the default one. If no `configs` were
    given on the command line, the run uses config.yaml.
    """
    name = _best(systems)
    itersel = shlex.join([os.path.join(tools, "itersel"), "translate", "--system", str(systems[name])])
    yield f"To translate text with {name}, the best on devtest:"
    # `echo` in some shells interprets backslashes and a leading -n
    yield f"    printf '%s\\n' {shlex.quote(sentence)} | {_environment(cache)}{itersel}"

    # unlike Snakemake, it also finds the workflow of an installed package
    run = [os.path.join(tools, "itersel"), "run", *(["--configfile", *configs] if configs else [])]
    yield f"To add an experiment, describe it under 'experiments' in {(*configs, 'config.yaml')[0]}, and run:"
    yield f"    {shlex.join(run)}"


def hints_for_lists(
    systems: Mapping[str, Path], options: Sequence[str], cache: str | None, tools: str
) -> Iterator[str]:
    """Yield lines with a command that reranks lists, which `options` name; see `hints`."""
    name = _best(systems)
    itersel = [os.path.join(tools, "itersel"), "rescore", "--system", str(systems[name])]
    yield f"To rerank lists, such as those of test, with {name}, the best on devtest:"
    yield f"    {_environment(cache)}{shlex.join([*itersel, *options])}"


def _best(systems: Mapping[str, Path]) -> str:
    """Return the name of the system that is best on devtest: of the best experiment, the best repeat."""
    repeats = {name: read_system(folder / SYSTEM) for name, folder in systems.items()}
    experiments: dict[str, list[str]] = {}
    for name, repeat in repeats.items():
        experiments.setdefault(repeat.name, []).append(name)

    # as in the table, chance in a single repeat does not decide between experiments
    best = max(experiments.values(), key=lambda names: score_on_devtest(repeats[name] for name in names))
    return max(best, key=lambda name: score_on_devtest([repeats[name]]))


def _environment(cache: str | None) -> str:
    """Return what precedes a command: with another cache, the kernels would be compiled again."""
    return "" if cache is None else f"ITERSEL_CACHE={shlex.quote(cache)} "


def short_sentence(path: Path, corpora: Sequence[Corpus], preparation: Preparation, limit: int) -> str:
    """Return the first short sentence of a text, or the first sentence if none is short, as a user types it.

    The prepared text in `path` was made from `corpora`, which may contain other sentences; these have at most
    `limit` bytes. Both are read only as far as `MAX_SENTENCES_READ` sentences. If the raw text has changed or
    cannot be read any more, or the sentence comes later, it is the prepared one.
    """
    lines = list(islice(chain.from_iterable(text_blocks(path)), MAX_SENTENCES_READ))
    short = [line for line in lines if FEW <= len(split_words(line)) <= MANY] or lines[:1]
    most = max(len(split_words(line)) for line in short)
    wanted = set(short)

    words = preparation.words
    reading = Reading(words.source_language, words.target_language, words.tokenized, limit)
    blocks = corpus_blocks(corpora, reading)
    try:
        for line in islice(chain.from_iterable(block.source for block in blocks), MAX_SENTENCES_READ):
            # tokenisation adds words
            if len(split_words(line)) > most:
                continue
            if wanted.issuperset(preparation.split_compounds(preparation.source([line]))):
                return line
    except (InputError, OSError):
        pass

    return short[0]
