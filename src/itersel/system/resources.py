"""What a trained system needs, recorded so that naming its folder is enough.

A system is a translator, or a reranker of another decoder's n-best lists; ``kind`` in the description of a
reranker tells them apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from itersel.config.options import check_section, wrong
from itersel.config.search import FeatureSettings, Grammar, MinimumRisk, Search
from itersel.config.text_features import GivenListSettings, NeededModels, needed_models
from itersel.corpus.tokenization import check_pattern
from itersel.errors import FilePath, InputError
from itersel.results import RESOURCES
from itersel.storage.json_files import as_content, from_content, read_json, write_json

if TYPE_CHECKING:
    from itersel.config.report_steps import RerankerSettings, ResourceSettings

RESOURCE_FILES = ("model", "index", "preparation", "recaser")
KIND, RERANKER = "kind", "reranker"
# Settings whose keys have a different name in descriptions and bundles.
KEYS = {"grammar": "extraction"}
# Key that descriptions and bundles have only if it is not null.
MBR = "mbr"

Settings = TypeVar("Settings", bound="TranslationSettings | RerankingSettings")


@dataclass(frozen=True)
class TranslationSettings:
    """How a system translates: settings of the decoder and of rule extraction."""

    pop_limit: int
    features: str
    grammar: Grammar
    mbr: MinimumRisk | None = field(default=None, kw_only=True)  # None: the highest scores

    def __post_init__(self) -> None:
        # the decoder's bounds
        check_section(self.search())

    def search(self) -> Search:
        """Return the settings of the decoder."""
        return Search(self.features, pop_limit=self.pop_limit, max_span=self.grammar.max_span)


@dataclass(frozen=True)
class Resources(TranslationSettings):
    """Files and settings of a translator; in the description, paths are relative to its folder."""

    model: str
    index: str
    preparation: str
    recaser: str

    def translation(self) -> TranslationSettings:
        """Return the settings without the files."""
        return TranslationSettings(**_own(TranslationSettings, self))


@dataclass(frozen=True)
class RerankingSettings:
    """How a system reranks lists: how it reads them, and what it adds to them."""

    features: str
    trained_with: tuple[str, ...]  # the dense features of the lists that it was trained on
    dense_names: tuple[str, ...]  # which features are dense, as in the config; empty: by `find_dense`
    lists: GivenListSettings
    mbr: MinimumRisk | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for section in (FeatureSettings(self.features), self.lists):
            check_section(section)
        for pattern in self.lists.protected:
            check_pattern(pattern)
        if self.lists.minimum_count > 1:
            # lists are read in blocks, so features could not be counted
            why = f"is {self.lists.minimum_count}; only train leaves out features"
            raise wrong("lists.minimum_count", why)

    @property
    def adds_features(self) -> bool:
        """Whether there are features of text."""
        return self.lists.adds_features

    @property
    def needed_models(self) -> NeededModels:
        """Which models they need."""
        return needed_models(self.lists.dense, self.lists.templates)


class RerankerFiles(NamedTuple):
    """The files of a reranker, as in `RerankerResources`."""

    aligners: tuple[str, ...] = ()
    models: str | None = None
    language_models: tuple[str, ...] = ()

    def changed(self, change: Callable[[str, str], str]) -> RerankerFiles:
        """Return other files, given what changes one, after what it is."""
        return RerankerFiles(
            tuple(change("aligner", file) for file in self.aligners),
            None if self.models is None else change("models", self.models),
            tuple(change("language model", file) for file in self.language_models),
        )


@dataclass(frozen=True)
class RerankerResources(RerankingSettings):
    """Files and settings of a reranker; in the description, paths are relative to its folder."""

    aligners: tuple[str, ...]  # models of both directions, or none
    models: str | None  # folder of the other models
    language_models: tuple[str, ...]  # the user's own, in the order of their names

    def __post_init__(self) -> None:
        super().__post_init__()
        needed = self.needed_models
        if needed.aligners and len(self.aligners) != 2:
            why = f"names {len(self.aligners)} models; features of text need those of both directions"
            raise wrong("aligners", why)
        if (needed.lexicon or needed.language_model) and self.models is None:
            raise wrong("models", "is missing; features of text need them")
        if len(self.language_models) != (count := len(self.lists.language_model_names)):
            raise wrong("language_models", f"names {len(self.language_models)} files for {count} models")

    def reranking(self) -> RerankingSettings:
        """Return the settings without the files."""
        return RerankingSettings(**_own(RerankingSettings, self))


def _own(kind: type[TranslationSettings | RerankingSettings], whole: object) -> dict[str, Any]:
    """Return the values of the fields of a class, from an object of a class derived from it."""
    return {item.name: getattr(whole, item.name) for item in fields(kind)}


def _of_step(settings: ResourceSettings | RerankerSettings) -> dict[str, Any]:
    """Return the settings of a step by name."""
    return {item.name: getattr(settings, item.name) for item in fields(settings)}


def settings_as_content(settings: TranslationSettings | RerankingSettings) -> dict[str, Any]:
    """Return settings as descriptions and bundles contain them, under the keys of files."""
    content = {KEYS.get(name, name): value for name, value in as_content(settings).items()}
    if content[MBR] is None:
        del content[MBR]
    return content


def settings_from_content(kind: type[Settings], content: object) -> Settings:
    """Return the settings in a description or bundle; a ValueError as from `from_content`."""
    if not isinstance(content, dict):
        raise ValueError("not an object")
    names = {key: name for name, key in KEYS.items()}
    # a name instead of its key is an unknown key
    own = {names.get(key, key): content[key] for key in content if key not in KEYS}
    return from_content(kind, {MBR: None, **own})


def write_resources(
    path: FilePath, settings: ResourceSettings, files: Mapping[str, str], mbr: MinimumRisk | None = None
) -> None:
    """Write the description of a translator, so that all its files can be moved together.

    `files` are those of `RESOURCE_FILES`, by name.
    """
    folder = Path(path).parent
    relative: Any = {name: os.path.relpath(file, folder) for name, file in files.items()}
    resources = Resources(**_of_step(settings), **relative, mbr=mbr)
    write_json(path, settings_as_content(resources), indent=2)


def write_reranker(
    path: FilePath,
    settings: RerankerSettings,
    trained_with: Sequence[str],
    files: RerankerFiles,
    mbr: MinimumRisk | None = None,
) -> None:
    """Write the description of a reranker, so that all its files can be moved together.

    `trained_with` are the dense features of the lists that it was trained on; see `RerankerResources`.
    """
    folder = Path(path).parent
    resources = RerankerResources(
        **_of_step(settings),
        trained_with=tuple(trained_with),
        mbr=mbr,
        **files.changed(lambda _, file: os.path.relpath(file, folder))._asdict(),
    )
    write_json(path, {KIND: RERANKER, **settings_as_content(resources)}, indent=2, is_ascii=False)


def read_resources(folder: FilePath) -> Resources | RerankerResources:
    """Read the description in the folder of a system, resolve its paths, and check that the files exist."""
    path = Path(folder) / RESOURCES
    if not path.is_file():
        raise InputError(
            f"has no {RESOURCES}; name a folder experiments/NAME/best of a finished run, or a bundle", folder
        )

    found: Resources | RerankerResources
    try:
        content = read_json(path)
        if isinstance(content, dict) and content.get(KIND) == RERANKER:
            found = settings_from_content(RerankerResources, content)
        else:
            found = settings_from_content(Resources, content)
    except (ValueError, OverflowError):
        raise InputError("is not the description of a system; run the workflow again", path) from None
    except InputError as error:
        raise InputError(f"{error.message}; run the workflow again", path) from None

    if isinstance(found, RerankerResources):
        given = RerankerFiles(found.aligners, found.models, found.language_models)
        resolved = given.changed(lambda what, file: _resolved(what, file, path))
        return replace(found, **resolved._asdict())
    files: Any = {name: _resolved(name, getattr(found, name), path) for name in RESOURCE_FILES}
    return replace(found, **files)


def translator_resources(folder: FilePath) -> Resources:
    """Read the description of a system that translates; see `read_resources`."""
    found = read_resources(folder)
    if isinstance(found, RerankerResources):
        raise no_translator(folder)
    return found


def no_translator(path: FilePath) -> InputError:
    """Return the error for a reranker where a translator is expected."""
    return InputError("reranks n-best lists; use itersel rescore --system", path)


def _resolved(name: str, file: str, path: Path) -> str:
    """Return the path of a file, or of the folder of models, in a description; it must exist."""
    found = os.path.normpath(path.parent / file)
    exists, what = (os.path.isdir, "folder") if name == "models" else (os.path.isfile, "file")
    if not exists(found):
        advice = "run the workflow again, or copy a bundle (itersel bundle) instead of the folder"
        raise InputError(f"names the {name} {found}: no such {what}; {advice}", path)
    return found
