"""``itersel init``: write a project that uses the installed workflow."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    parser.description = (
        "Write config.yaml, the profiles for Slurm and Grid Engine, and a Snakefile that includes the "
        "workflow of the installed itersel. Existing files are never replaced."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder to write to; created if missing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write a project."""
    from itersel.project import create_project

    create_project(options.folder)
    print("To run the experiments in config.yaml:")
    print(f"  cd {shlex.quote(str(options.folder))}")
    print("  itersel run")
