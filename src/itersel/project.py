"""Location of the workflow: in the project folder, or in the installed package."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from itersel.errors import InputError, suggest

_PACKAGE = Path(__file__).parent
# In a wheel, the project's files are inside the package; in a checkout, the package is inside the project.
PROJECT = _PACKAGE / "_project" if (_PACKAGE / "_project").is_dir() else _PACKAGE.parents[1]
SNAKEFILE = PROJECT / "Snakefile"
_SCHEMA = "workflow/schemas/config.schema.json"
SCHEMA = PROJECT / _SCHEMA
CONFIG = Path("config.yaml")
_EXPERIMENTS = Path("experiments")
_BASE = "base.yaml"
PROFILES = ("default", "sge", "slurm", "slurm-single")

_OWN_SNAKEFILE = """\
# The workflow of the installed itersel. Your own rules can follow; what they make can be input of `results`.
from itersel.project import SNAKEFILE


include: str(SNAKEFILE)


rule results:
    default_target: True
    input:
        rules.all.input,
"""


def config_files(experiment: str) -> list[Path]:
    """Return the config files of one of the experiments, relative to the project.

    Experiments in a subfolder have the file ``base.yaml`` in common.
    """
    names = [path.relative_to(PROJECT) for path in sorted((PROJECT / _EXPERIMENTS).rglob("*.yaml"))]
    known = {path.relative_to(_EXPERIMENTS).with_suffix("").as_posix(): path for path in names}
    known = {name: path for name, path in known.items() if path.name != _BASE}
    if experiment not in known:
        choices = f"choose from {', '.join(known)}"
        raise InputError(f"there is no experiment '{experiment}'{suggest(experiment, known)}; {choices}")
    base = known[experiment].with_name(_BASE)
    return [base, known[experiment]] if base in names else [known[experiment]]


def create_project(folder: Path, configs: Sequence[Path]) -> None:
    """Write a project: a Snakefile that includes the workflow, configs with their schema, and profiles.

    As in a checkout, scheduler profiles are linked to where ``--profile slurm`` finds them. If one of the
    files already exists, nothing is written.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, expected a folder; choose another name", folder)
    try:
        _write(folder, configs)
    except OSError as error:  # names a temporary file, or none if the disk is full
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None


def _write(folder: Path, configs: Sequence[Path]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".itersel.", dir=folder) as name:
        scratch = Path(name)

        (scratch / "Snakefile").write_text(_OWN_SNAKEFILE)
        for config in configs:
            text = (PROJECT / config).read_text(encoding="utf-8").replace(_SCHEMA, SCHEMA.name, 1)
            (scratch / config).parent.mkdir(parents=True, exist_ok=True)
            (scratch / config).write_text(text, encoding="utf-8")
        shutil.copyfile(SCHEMA, scratch / SCHEMA.name)

        for profile in PROFILES:
            (scratch / "profiles" / profile).mkdir(parents=True)
            settings = Path("profiles", profile, "config.yaml")
            shutil.copyfile(PROJECT / settings, scratch / settings)
            if profile != "default":
                (scratch / profile).symlink_to(Path("profiles", profile))

        made = sorted(scratch.iterdir())
        for path in made:
            if os.path.lexists(folder / path.name):
                raise InputError("already exists; choose another folder, or remove it", folder / path.name)
        for path in made:
            path.rename(folder / path.name)
