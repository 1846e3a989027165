"""``itersel run``: Snakemake, with the workflow of the installed package where the folder has none."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

# Where Snakemake looks for the workflow.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the help shows; `run_snakemake` takes the arguments as they are."""
    parser.description = (
        "Run Snakemake with the Snakefile of this folder or, if there is none, the workflow of the "
        "installed itersel. 'snakemake --help' lists the arguments."
    )
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="arguments of Snakemake")


def run_snakemake(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by Snakemake.

    Parameters
    ----------
    arguments
        Those of Snakemake.
    """
    from itersel.project import SNAKEFILE

    if not arguments and not Path("config.yaml").exists():
        message = "no config.yaml here; 'itersel init DIR' writes a project, and --configfile names a config"
        sys.exit(f"itersel run: {message}")
    has_own = any(Path(name).exists() for name in _SNAKEFILES)
    # in front, so that an option among the arguments replaces it
    snakefile = [] if has_own else ["--snakefile", str(SNAKEFILE)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *snakefile, *arguments])
