"""Writing the page of a run, once or whenever files of the run change."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from itersel.errors import FilePath, InputError
from itersel.report.folder import LOCK
from itersel.report.page.document import read_document
from itersel.report.page.render import render
from itersel.results import BENCHMARKS, EXPERIMENTS, LOGS, REPORT
from itersel.storage.files import write_lines

# Suffixes of the files that the page shows; other files do not cause a rewrite.
SHOWN = (".h5", ".txt", ".json", ".tsv", ".log")
# The names and times of those files.
State = list[tuple[str, int]]


def write_page(results: Path, output: FilePath, refresh: int | None = None) -> None:
    """Write the page of a run, ``<output>/<name>`` of its config, from the files that exist."""
    write_lines(output, [render(read_document(results), refresh)])


def watch(results: Path, output: FilePath, final: Path, *, seconds: int, once: bool) -> None:
    """Write the page whenever something has changed, until the last run has written the final page.

    `final` is the page that the workflow writes at its end. With `once`, write the page once and return.
    """
    before = None
    while True:
        now = _state(results)
        # Other files may be newer than the page: logs, or what somebody has copied or touched.
        is_old = (_changed(final) or -1) < (_changed(results / LOCK) or 0)

        if not once and not is_old:
            print(f"the run has ended; its page: {final}", file=sys.stderr)
            return

        if now != before and _try_to_write(results, output, None if once else seconds, now):
            print(f"wrote {os.fspath(output)}", file=sys.stderr, flush=True)
            before = now

        if not once:
            time.sleep(seconds)
        elif before is not None:
            return


def _try_to_write(results: Path, output: FilePath, refresh: int | None, state: State) -> bool:
    """Write the page; return False if files were replaced while they were read, which may be an error."""
    try:
        write_page(results, output, refresh)
    except (InputError, FileNotFoundError):
        if _state(results) == state:
            raise
        return False
    return True


def _state(results: Path) -> State:
    found = []
    for part in (EXPERIMENTS, BENCHMARKS, LOGS, REPORT):
        for folder, _, names in os.walk(results / part):
            for path in (os.path.join(folder, name) for name in names if not name.startswith(".")):
                # it may have vanished
                if path.endswith(SHOWN) and (changed := _changed(path)) is not None:
                    found.append((path, changed))
    return sorted(found)


def _changed(path: FilePath) -> int | None:
    """Return the time when a file was changed; None if there is none."""
    with contextlib.suppress(FileNotFoundError):
        return os.stat(path).st_mtime_ns
    return None
