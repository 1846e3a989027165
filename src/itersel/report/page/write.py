"""Write the page of a run, once or repeatedly while the run continues."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from itersel.report.page.document import read_document
from itersel.report.page.render import render
from itersel.storage.files import write_lines

# Suffixes of the files that the page shows; other files do not cause a rewrite.
_SHOWN = (".h5", ".txt", ".json", ".tsv", ".log")


def write_page(results: Path, output: str | os.PathLike[str], refresh: int | None = None) -> None:
    """Write the page of a run from the files that exist.

    Parameters
    ----------
    results
        ``<output>/<name>`` of the config.
    output
        HTML file.
    refresh
        Seconds after which a browser reloads the page.

    Raises
    ------
    InputError
        See `itersel.report.page.document.read_document`.
    """
    write_lines(output, [render(read_document(results), refresh)])


def watch(results: Path, output: str | os.PathLike[str], final: Path, *, seconds: int, once: bool) -> None:
    """Write the page whenever something has changed, until the final page is newer than all other files.

    Parameters
    ----------
    results, output
        See `write_page`.
    final
        The page that the workflow writes at its end.
    seconds
        Seconds between two checks.
    once
        Write the page once and return.
    """
    before = None
    while True:
        now = _state(results)
        ended = final.is_file() and final.stat().st_mtime_ns >= max(
            (changed for _, changed in now), default=0
        )
        if ended and not once:
            print(f"the run has ended; its page: {final}", file=sys.stderr)
            return
        if now != before:
            write_page(results, output, None if once else seconds)
            print(f"wrote {os.fspath(output)}", file=sys.stderr, flush=True)
            before = now
        if once:
            return
        time.sleep(seconds)


def _state(results: Path) -> list[tuple[str, int]]:
    """Return the files from which the page is made, with the times when they were written."""
    found = []
    for part in ("experiments", "benchmarks", "logs", "report"):
        for folder, _, names in os.walk(results / part):
            for name in names:
                if name.endswith(_SHOWN) and not name.startswith("."):
                    path = os.path.join(folder, name)
                    found.append((path, os.stat(path).st_mtime_ns))
    return sorted(found)
