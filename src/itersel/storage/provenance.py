"""How files of weights, lists and forests were made: the attributes that record it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from itersel import __version__
from itersel.errors import FilePath
from itersel.storage.formats import damaged_file

# Kinds of files of weights: of a shard, of mixing, of a batch tuner (older files of tuners are of the kind of
# mixing), and of all shards in a matrix.
SHARD_WEIGHTS, MIXED_WEIGHTS, TUNED_WEIGHTS = "shard-weights", "mixed-weights", "tuned-weights"
SHARD_MATRIX = "shard-matrix"
# Kinds of files of lists and forests: of another decoder, of ours, and of an iteration that tunes nothing.
GIVEN_LISTS, KBEST_LISTS, FORESTS, NO_LISTS = "lists", "k-best-lists", "forests", "no-lists"
# Of weights that were passed on because training had stopped.
STOPPED = {"stopped": 1}


class Provenance(NamedTuple):
    """How a file was made, with defaults for what it does not record."""

    kind: str = ""
    settings: str = ""  # JSON, equal for all files that belong together
    epoch: int = -1
    shard: int = -1
    stopped: bool = False  # training has stopped: the weights are those that the epoch started from


def made_with(kind: str, settings: Mapping[str, Any] | str, **more: str | int | float) -> dict[str, Any]:
    """Return attributes for a file made with these settings, which may be JSON, as a file records them."""
    recorded = settings if isinstance(settings, str) else json.dumps(settings, sort_keys=True)
    return {"kind": kind, "version": __version__, "settings": recorded, **more}


def read_provenance(attributes: Mapping[str, Any], path: FilePath) -> Provenance:
    """Return what attributes record, or raise an InputError if a number is not whole."""
    for name in ("epoch", "shard"):
        if type(attributes.get(name, -1)) is not int:
            raise damaged_file(path, f"the number of the {name} is not a whole number")

    return Provenance(
        str(attributes.get("kind", "")),
        str(attributes.get("settings", "")),
        attributes.get("epoch", -1),
        attributes.get("shard", -1),
        bool(attributes.get("stopped", 0)),
    )
