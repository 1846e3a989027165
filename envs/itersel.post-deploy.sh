#!/usr/bin/env bash
# Run by Snakemake in the new environment, from wherever; workflow/rules/common.smk tells where the project is.
# Editable: a step whose code was edited since runs as it is now.
set -euo pipefail
cd "${ITERSEL_PROJECT:?the folder of the project; set by the workflow}"
python -m pip install --constraint envs/constraints.txt --editable .
