"""Cases: the file to damage, how, and the step that reads it, all determined by the name of the case."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz import array_files, documents, hdf5_files, texts
from tests.fuzz.targets import ARRAYS, HDF5, JSON, MODES, PACKED, PACKED_OTHERWISE, TARGETS, TEXT

from itersel.align import model
from itersel.evaluate import counts
from itersel.grammar import index, shard
from itersel.learn.state import STATE
from itersel.lm import binary
from itersel.storage.formats import FileFormat
from itersel.translate.system import FORMAT as BUNDLE
from itersel.tune import forests, generate
from itersel.vectors.weights import FORMAT as WEIGHTS

FORMATS = {
    "alignment-model": model.FORMAT,
    "shard": shard.FORMAT,
    "shard-categories": shard.FORMAT,
    "model": binary.FORMAT,
    "index": index.FORMAT,
    "bundle": BUNDLE,
    "lists": generate.FORMAT,
    "forests": forests.FORMAT,
    "counts": counts.FORMAT,
    "state": replace(WEIGHTS, arrays={**WEIGHTS.arrays, **STATE.arrays}),
}


class Case(NamedTuple):
    """The name of a case; written ``format/mode/number`` or ``seed/format/mode/number``."""

    seed: int
    format: str
    mode: str
    number: int

    def __str__(self) -> str:
        return "/".join(map(str, self))

    @classmethod
    def parse(cls, text: str, seed: int) -> Case:
        """Parse a name; without a seed, use `seed`."""
        fields = text.split("/")
        if len(fields) == 3:
            fields = [str(seed), *fields]
        case = cls(int(fields[0]), fields[1], fields[2], int(fields[3]))
        if case.format not in TARGETS or case.mode not in MODES[TARGETS[case.format].kind]:
            raise ValueError(f"there is no case {text}")
        return case

    def chance(self) -> Random:
        """Return the random generator of this case."""
        return Random(f"itersel {self}")

    def choice(self) -> tuple[str, list[str]]:
        """Return the file to damage, and the arguments of the step."""
        chance = self.chance()
        target = TARGETS[self.format]
        file, step = chance.choice(target.files), chance.choice(target.steps)
        return file, [file if word == "FILE" else word for word in step.split()]


def case_names(formats: list[str]) -> list[tuple[str, str]]:
    """Return all pairs of a format and a mode."""
    return [(name, mode) for name in formats for mode in MODES[TARGETS[name].kind]]


def write_damaged(case: Case, base: Path, folder: Path) -> list[str]:
    """Write the damaged file of a case to a folder of links; returns the changes."""
    file, _ = case.choice()
    chance = case.chance()
    chance.seed(chance.getrandbits(64))  # different numbers from those that chose file and step
    target = folder / file
    target.unlink()
    # not among the links, because HDF5 also opens the targets of links for writing
    apart = folder.parent / "damaged"
    names = _damage(case, chance, base / file, apart)
    shutil.move(apart, target)
    return names


def _damage(case: Case, chance: Random, original: Path, copy: Path) -> list[str]:
    kind = TARGETS[case.format].kind
    if kind in (HDF5, ARRAYS):
        mutate = hdf5_files.mutate if kind == HDF5 else array_files.mutate
        return mutate(chance, original, copy, case.mode, format_of(case.format))
    packed = dict.fromkeys((PACKED, PACKED_OTHERWISE), texts.mutate_packed)
    change = {TEXT: texts.mutate_text, JSON: documents.mutate_json, **packed}
    return change.get(kind, documents.mutate_yaml)(chance, original, copy, case.mode)


def format_of(name: str) -> FileFormat:
    """Return the declaration of a binary format."""
    return FORMATS.get(name, WEIGHTS)


def lay_out(base: Path, folder: Path) -> None:
    """Fill a folder with links to all undamaged files; folders are recreated."""
    folder.mkdir()
    for entry in os.scandir(base):
        if entry.is_dir():
            lay_out(Path(entry.path), folder / entry.name)
        else:
            os.symlink(entry.path, folder / entry.name)
