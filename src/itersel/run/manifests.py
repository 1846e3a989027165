"""Manifests of files that somebody has deleted since a run."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from itersel.errors import FilePath


def stale_manifests(folder: FilePath, name: str) -> list[Path]:
    """Return the manifests called `name` in a folder tree that name a file which does not exist.

    Somebody may delete files to save space when a run has ended. As long as there is a manifest, a workflow
    whose jobs depend on it treats them as complete.
    """
    # looked up once, because there may be tens of thousands
    present = {os.path.normpath(parent): set(names) for parent, _, names in os.walk(folder)}

    def exists(file: str) -> bool:
        parent, base = os.path.split(os.path.normpath(file))
        return base in present[parent] if parent in present else os.path.exists(file)

    found = []
    for path in [Path(parent, name) for parent, names in present.items() if name in names]:
        # a live run may be replacing it
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if not all(map(exists, path.read_text(encoding="utf-8").splitlines())):
                found.append(path)
    return found
