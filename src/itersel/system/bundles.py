"""Parts of bundles: the arrays of several files in one file; see `itersel.system.trained`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from itersel.storage.formats import Array, Arrays, FileFormat

# Kinds of files: translators, and rerankers of lists.
TRANSLATOR, RERANKER = "bundle", "reranker-bundle"


def bundle_format(
    kind: str, layout: int, parts: Mapping[str, FileFormat], more: Mapping[str, Array] | None = None
) -> FileFormat:
    """Return the format of bundles with these parts, given the number of their layout, and further arrays."""
    arrays: dict[str, Array] = {}
    version = layout
    for name, part in parts.items():
        arrays |= _declarations(name, part)
        # changes with the layout of any part: three digits for each
        version = 1000 * version + part.version
    return FileFormat(kind, version, ("itersel bundle",), {**arrays, **(more or {})})


def _declarations(part: str, format: FileFormat) -> dict[str, Array]:
    """Return the arrays of a part; names are prefixed because parts do not share sizes."""

    def named(size: str | int | None) -> Any:
        return f"{part}/{size}" if isinstance(size, str) else size

    found = {}
    for name, array in format.arrays.items():
        names = {key: named(getattr(array, key)) for key in ("below", "into", "text")}
        found[named(name)] = replace(array, shape=tuple(map(named, array.shape)), **names)
    return found


def joined(parts: Mapping[str, Arrays]) -> dict[str, NDArray[Any]]:
    """Return the arrays of all parts by the names that they have in a bundle."""
    return {f"{part}/{name}": array for part, content in parts.items() for name, array in content.items()}


def part_of(arrays: Arrays, part: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part by their own names."""
    prefix = f"{part}/"
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
