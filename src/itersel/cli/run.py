"""``itersel init`` and ``itersel run``: a project, and Snakemake with the installed workflow."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

# See `add_command`.
RUNS_KERNELS = False

# Where Snakemake looks for the workflow.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a config, the profiles for Slurm and Grid Engine, and a Snakefile that includes the workflow "
        "of the installed itersel. Existing files are never replaced."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder to write to; created if missing")
    experiment = "write the config of an experiment of itersel, such as whole-corpus, instead of config.yaml"
    parser.add_argument("--experiment", metavar="NAME", help=experiment)


def _init(options: argparse.Namespace) -> None:
    from itersel.project import CONFIG, config_files, create_project

    configs = [CONFIG] if options.experiment is None else config_files(options.experiment)
    create_project(options.folder, configs)
    names = " ".join(map(str, configs))
    print(f"To run the experiments in {names}:")
    print(f"  cd {shlex.quote(str(options.folder))}")
    print("  snakemake" if configs == [CONFIG] else f"  snakemake --configfile {names}")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run Snakemake with the Snakefile of this folder or, if there is none, the workflow of the "
        "installed itersel. 'snakemake --help' lists the arguments."
    )
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="arguments of Snakemake")


def run_snakemake(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by Snakemake."""
    from itersel.project import SNAKEFILE

    if not arguments and not Path("config.yaml").exists():
        message = "no config.yaml here; 'itersel init DIR' writes a project, and --configfile names a config"
        sys.exit(f"itersel run: {message}")
    has_own = any(Path(name).exists() for name in _SNAKEFILES)
    # in front, so that an option among the arguments replaces it
    snakefile = [] if has_own else ["--snakefile", str(SNAKEFILE)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *snakefile, *arguments])
