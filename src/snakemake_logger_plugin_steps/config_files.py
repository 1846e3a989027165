"""Check ``--configfile`` before Snakemake reads it: Snakemake shows a traceback or does not name the line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from itersel.config.reading import read_yaml
from itersel.errors import InputError


def check_config_files(arguments: Sequence[str]) -> None:
    """Exit with one line if a config file on Snakemake's command line cannot be read.

    Loggers are the only part of a workflow that is set up before configs are read. The Snakefile checks the
    content of a config later.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", dest="files", nargs="+", default=[])
    try:
        files = parser.parse_known_args(arguments)[0].files
    except argparse.ArgumentError:  # Snakemake reports it
        return
    for file in files:
        try:
            read_yaml(file)
        except InputError as error:
            sys.exit(f"itersel: {error}")
