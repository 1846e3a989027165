"""Check that names of a config fit into the names of files, before a run makes any."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from itersel.config.experiments import planned_repeats
from itersel.config.messages import wrong
from itersel.config.splits import test_set_devtests, test_sets
from itersel.config.values import Config
from itersel.corpus.text_names import STATISTICS, text_name

# The longest text that a run adds to a name, apart from the kind of a text: `test.news.statistics.json`.
# Temporary files need no more (`itersel.run.atomic`), and Snakemake divides the names of its own.
ADDED = f".{STATISTICS}"
# Bytes, if a file system does not report its limit.
USUAL = 255


def check_names(config: Config) -> None:
    """Reject names that are too long for the file system of the results, the longest first."""
    output = Path(os.path.abspath(config.output))
    allowed = _longest_name(output)
    checked = [("output", part, 0) for part in output.parts]
    checked += [("name", config.name, 0), *((key, name, len(ADDED)) for key, name in _names(config))]
    key, name, added = max(checked, key=lambda one: len(os.fsencode(one[1])) + one[2])
    size = len(os.fsencode(name))
    if size + added > allowed:
        message = f"leads to the name '{name}' of {size} bytes; {allowed - added} are possible in {output}"
        raise wrong(key, f"{message}; use a shorter one")


def _names(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the names of experiments and texts that become part of the names of files, with their keys."""
    for name in planned_repeats(config):
        yield "experiments", name
    for split in (*test_sets(config).values(), *test_set_devtests(config).values()):
        yield "data.test", split
    for name in config.data.train:
        yield "data.train", text_name("train", name)
    for name in config.evaluation.outputs or ():
        yield "evaluation.outputs", name


def _longest_name(folder: Path) -> int:
    """Return the bytes that the name of a file may have in a folder, which need not exist yet."""
    while not os.path.isdir(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        most = os.pathconf(folder, "PC_NAME_MAX")
    except OSError:
        most = USUAL
    return most if most > 0 else USUAL
