# Reads config.yaml, unless --configfile names another file. That file replaces config.yaml; Snakemake alone would merge
# the two and run the experiments of both. There are no rules here.
#
# gives: GIVEN_CONFIG_FILES, config (unchecked; if a file cannot be read, the run ends with a one-line error)
import sys
from pathlib import Path

from itersel.config.reading import read_yaml
from itersel.errors import InputError

GIVEN_CONFIG_FILES = list(workflow.overwrite_configfiles)
CONFIG_FILES = GIVEN_CONFIG_FILES or ["config.yaml"]

# Snakemake would silently use the last of duplicate keys.
try:
    for file in CONFIG_FILES:
        read_yaml(file)
except InputError as error:
    if not GIVEN_CONFIG_FILES and not Path("config.yaml").exists():
        sys.exit(f"itersel: {error}; name your config with --configfile")
    sys.exit(f"itersel: {error}")

if len(CONFIG_FILES) > 1 and workflow.is_main_process:
    print(
        "itersel: warning: Snakemake merges the config files: all of their experiments run, and values in "
        f"{CONFIG_FILES[-1]} override those in earlier files",
        file=sys.stderr,
    )
if not workflow.overwrite_configfiles:

    configfile: "config.yaml"
