"""Parts of bundles: the arrays of several files in one file; see `itersel.system.trained_translator`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, starmap
from typing import Any

from numpy.typing import NDArray

from itersel.errors import FilePath, InputError
from itersel.storage.arrayfile import kind_of
from itersel.storage.formats import Array, Arrays, FileFormat

# Kinds of files: translators, and rerankers of lists.
TRANSLATOR_BUNDLE, RERANKER_BUNDLE = "bundle", "reranker-bundle"


def kind_of_bundle(path: FilePath) -> str:
    """Return which kind of bundle a file is; it is neither for other files, an InputError for none."""
    if not os.path.exists(path):
        raise InputError("no such file or folder", path)
    return kind_of(path, TRANSLATOR_BUNDLE)


def version_of(layout: int, parts: Mapping[str, FileFormat]) -> int:
    """Return a number that changes with the layout of any part: three digits for each."""
    version = layout
    for part in parts.values():
        version = 1000 * version + part.version
    return version


def declarations(parts: Mapping[str, FileFormat]) -> dict[str, Array]:
    """Return the arrays of all parts, by the names that they have in a bundle."""
    return dict(chain.from_iterable(starmap(_declarations, parts.items())))


def _declarations(part: str, format: FileFormat) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a part; names are prefixed because parts do not share sizes."""

    def named(size: str | int | None) -> Any:
        return f"{part}/{size}" if isinstance(size, str) else size

    for name, array in format.arrays.items():
        names = {key: named(getattr(array, key)) for key in ("below", "into", "text")}
        yield named(name), replace(array, shape=tuple(map(named, array.shape)), **names)


def joined(parts: Mapping[str, Arrays]) -> dict[str, NDArray[Any]]:
    """Return the arrays of all parts by the names that they have in a bundle."""
    return {f"{part}/{name}": array for part, content in parts.items() for name, array in content.items()}


def part_of(arrays: Arrays, part: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part by their own names."""
    prefix = f"{part}/"
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
