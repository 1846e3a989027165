"""What a trained system needs, recorded so that naming its folder is enough.

A system is a translator, or a reranker of another decoder's n-best lists. What either needs are settings and
files; bundles (`itersel.system.bundles`) contain the same settings, and the content of the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from itersel.config.list_steps import RerankerSettings
from itersel.config.messages import wrong
from itersel.config.search import TranslationSettings
from itersel.errors import FilePath, InputError
from itersel.results import RESOURCES
from itersel.storage.json_files import as_content, from_content, read_json, write_json

# The name of these models in messages. They are a folder; all others are files.
TEXT_MODELS = "text models"
# Makes another path of one, given what the file is.
Change = Callable[[str, str], str]


@dataclass(frozen=True)
class TranslatorFiles:
    """The files of a translator besides its weights."""

    language_model: str
    index: str
    preparation: str
    recaser: str

    def changed(self, change: Change) -> TranslatorFiles:
        """Return other paths, made by `change`."""
        return TranslatorFiles(
            language_model=change("language model", self.language_model),
            index=change("index", self.index),
            preparation=change("preparation", self.preparation),
            recaser=change("recaser", self.recaser),
        )


@dataclass(frozen=True)
class TranslatorResources:
    """What a translator needs besides its weights."""

    settings: TranslationSettings
    files: TranslatorFiles

    def with_paths(self, change: Change) -> TranslatorResources:
        """Return the same with other paths, made by `change`."""
        return replace(self, files=self.files.changed(change))


@dataclass(frozen=True)
class RerankerFiles:
    """The files of a reranker besides its weights."""

    aligners: tuple[str, ...] = ()  # models of both directions, or none
    text_models: str | None = None  # folder of the lexicon and the language model
    user_models: tuple[str, ...] = ()  # the user's own, in the order of their names

    def changed(self, change: Change) -> RerankerFiles:
        """Return other paths, made by `change`."""
        return RerankerFiles(
            aligners=tuple(change("aligner", file) for file in self.aligners),
            text_models=None if self.text_models is None else change(TEXT_MODELS, self.text_models),
            user_models=tuple(change("language model", file) for file in self.user_models),
        )


@dataclass(frozen=True)
class RerankerDescription:
    """What a reranker knows besides the content of its files."""

    settings: RerankerSettings
    training_dense_names: tuple[str, ...]  # the dense features of the lists that it was trained on


@dataclass(frozen=True)
class RerankerResources(RerankerDescription):
    """What a reranker needs besides its weights."""

    files: RerankerFiles

    def __post_init__(self) -> None:
        needed = self.settings.lists.needed_models
        names = self.settings.lists.user_model_names
        user_models = self.files.user_models

        if needed.aligners and len(self.files.aligners) != 2:
            why = f"names {len(self.files.aligners)} models; features of text need those of both directions"
            raise wrong("aligners", why)
        if (needed.lexicon or needed.language_model) and self.files.text_models is None:
            raise wrong("text_models", "is missing; features of text need them")
        if len(user_models) != len(names):
            raise wrong("user_models", f"names {len(user_models)} files for {len(names)} models")

    def with_paths(self, change: Change) -> RerankerResources:
        """Return the same with other paths, made by `change`."""
        return replace(self, files=self.files.changed(change))


# What the description of a system calls its kind.
KINDS = {"translator": TranslatorResources, "reranker": RerankerResources}


def write_resources(path: FilePath, resources: TranslatorResources | RerankerResources) -> None:
    """Write the description of a system; paths are relative to its folder, so all files can move together."""
    folder = Path(path).parent
    kind = next(name for name, one in KINDS.items() if isinstance(resources, one))
    relative = resources.with_paths(lambda _, file: os.path.relpath(file, folder))
    write_json(path, {"kind": kind, **as_content(relative)}, indent=2, is_ascii=False)


def read_resources(folder: FilePath) -> TranslatorResources | RerankerResources:
    """Read the description in the folder of a system, resolve its paths, and check that the files exist."""
    path = Path(folder) / RESOURCES
    if not path.is_file():
        raise InputError(
            f"has no {RESOURCES}; name a folder experiments/NAME/best of a finished run, or a bundle", folder
        )

    found: TranslatorResources | RerankerResources
    try:
        content = read_json(path)
        found = from_content(KINDS[content["kind"]], content)
    except (LookupError, OverflowError, TypeError, ValueError):
        why = "is not the description of a system, or one of an earlier version; run the workflow again"
        raise InputError(why, path) from None
    except InputError as error:
        raise InputError(f"{error.message}; run the workflow again", path) from None

    return found.with_paths(partial(_resolved, path))


def translator_resources(folder: FilePath) -> TranslatorResources:
    """Read the description of a system that translates; see `read_resources`."""
    found = read_resources(folder)
    if isinstance(found, RerankerResources):
        raise no_translator(folder)
    return found


def no_translator(path: FilePath) -> InputError:
    """Return the error for a reranker where a translator is expected."""
    return InputError("reranks n-best lists; use itersel rescore --system", path)


def _resolved(path: Path, name: str, file: str) -> str:
    """Return the path of a file, or of the folder of text models, in a description; it must exist."""
    found = os.path.normpath(path.parent / file)
    is_folder = name == TEXT_MODELS
    exists = os.path.isdir(found) if is_folder else os.path.isfile(found)
    if not exists:
        what = "folder" if is_folder else "file"
        advice = "run the workflow again, or copy a bundle (itersel bundle) instead of the folder"
        raise InputError(f"names the {name} {found}: no such {what}; {advice}", path)
    return found
