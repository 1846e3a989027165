#!/usr/bin/env bash
# Run by Snakemake in the new environment, from wherever; workflow/rules/common.smk tells where the project is.
set -euo pipefail
cd "${ITERSEL_PROJECT:?the folder of the project; set by the workflow}"
if [ -e pyproject.toml ]; then
    # editable: a step whose code was edited since runs as it is now
    package=(--editable packages/snakemake-executor-plugin-arrays --editable '.[align]')
else
    package=("itersel[align]==${ITERSEL_VERSION:?the version of itersel; set by the workflow}")
fi
python -m pip install --constraint envs/constraints.txt "${package[@]}"
