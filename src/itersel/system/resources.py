"""What a trained system needs to translate new text, recorded so that naming its folder is enough."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from itersel.config.options import check_section
from itersel.config.search import Grammar, Search
from itersel.errors import FilePath, InputError
from itersel.results import RESOURCES, SYSTEM, WEIGHTS
from itersel.storage.json_files import as_content, from_content, read_json, write_json

if TYPE_CHECKING:
    from itersel.config.report_steps import ResourceSettings

RESOURCE_FILES = ("model", "index", "preparation", "recaser")


@dataclass(frozen=True)
class TranslationSettings:
    """How a system translates: settings of the decoder and of rule extraction."""

    pop_limit: int
    features: str
    extraction: Grammar

    def __post_init__(self) -> None:
        # the decoder's bounds
        check_section(self.search())

    def search(self) -> Search:
        """Return the settings of the decoder."""
        return Search(self.features, pop_limit=self.pop_limit, max_span=self.extraction.max_span)


@dataclass(frozen=True)
class Resources(TranslationSettings):
    """Files and settings of a system; in the description, paths are relative to its folder."""

    model: str
    index: str
    preparation: str
    recaser: str

    def translation(self) -> TranslationSettings:
        """Return the settings without the files."""
        return TranslationSettings(self.pop_limit, self.features, self.extraction)


def write_resources(path: FilePath, settings: ResourceSettings, files: Mapping[str, str]) -> None:
    """Write a description, with paths relative to its folder, so that all can be moved together.

    `files` are those of `RESOURCE_FILES`, by name.
    """
    relative = {name: os.path.relpath(file, Path(path).parent) for name, file in files.items()}
    resources = Resources(settings.pop_limit, settings.features, settings.grammar, **relative)
    write_json(path, as_content(resources), indent=2)


def read_resources(folder: FilePath) -> Resources:
    """Read the description in the folder of a system, resolve its paths, and check that the files exist."""
    path = Path(folder) / RESOURCES
    if not path.is_file():
        if (path.parent / SYSTEM).is_file():
            # a run with data.kind: lists has no models
            why = "was trained on n-best lists of another decoder; use itersel rescore with its"
            raise InputError(f"{why} {WEIGHTS}, or run the workflow again", folder)
        raise InputError(
            f"has no {RESOURCES}; name a folder experiments/NAME/best of a finished run, or a bundle", folder
        )

    try:
        found = from_content(Resources, read_json(path))
    except (ValueError, OverflowError):
        raise InputError("is not the description of a system; run the workflow again", path) from None
    except InputError as error:
        raise InputError(f"{error.message}; run the workflow again", path) from None

    files = {name: os.path.normpath(path.parent / getattr(found, name)) for name in RESOURCE_FILES}
    for name, file in files.items():
        if not os.path.isfile(file):
            advice = "run the workflow again, or copy a bundle (itersel bundle) instead of the folder"
            raise InputError(f"names the {name} {file}: no such file; {advice}", path)
    return replace(found, **files)
