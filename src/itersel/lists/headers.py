"""Attributes of tuning files, which say which of them belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from itersel.errors import FilePath, checked
from itersel.storage.formats import FileFormat
from itersel.storage.hdf5 import header_of
from itersel.storage.provenance import made_with

# The iteration of given lists, which are the same in all iterations.
GIVEN_ITERATION = 0


class TuningFile(NamedTuple):
    """A tuning file: the k-best lists, or the forests, of one file of sentences in one iteration."""

    path: FilePath
    number: int  # of the file of sentences
    iteration: int
    settings: Mapping[str, Any]  # with which it was made
    sentence_digest: str
    dense_names: tuple[str, ...]

    @property
    def has_given_lists(self) -> bool:
        """Whether these are lists that another decoder has made."""
        return self.iteration == GIVEN_ITERATION


def read_tuning_header(path: FilePath, format: FileFormat) -> TuningFile:
    """Read the attributes of a tuning file."""
    return tuning_file(path, header_of(path, format).attributes)


def tuning_file(path: FilePath, attributes: Mapping[str, Any]) -> TuningFile:
    """Return a tuning file with these attributes, or raise an InputError if some are missing."""
    with checked(path, "damaged: the attributes are incomplete; recreate the file"):
        names = tuple(str(name) for name in json.loads(attributes["dense_names"]))
        number, iteration = int(attributes["file"]), int(attributes["iteration"])
        settings = json.loads(attributes["settings"])
        return TuningFile(
            path=path,
            number=number,
            iteration=iteration,
            settings=settings,
            sentence_digest=attributes["sentence_digest"],
            dense_names=names,
        )


def header_attributes(
    kind: str,
    number: int,
    iteration: int,
    settings: Mapping[str, Any],
    sentence_digest: str,
    dense_names: tuple[str, ...],
) -> dict[str, Any]:
    """Return the attributes that `read_tuning_header` reads."""
    names = json.dumps(dense_names)
    place = {"iteration": iteration, "file": number}
    return made_with(kind, settings, **place, sentence_digest=sentence_digest, dense_names=names)
