#!/usr/bin/env bash
# Run by Snakemake in the new environment, from any folder; workflow/rules/common.smk passes the project's folder.
set -euo pipefail
cd "${ITERSEL_PROJECT:?the folder of the project; set by the workflow}"
if [ -e pyproject.toml ]; then
    # editable, so that later edits to the code take effect
    package=(--editable packages/snakemake-executor-plugin-arrays --editable .)
else
    package=("itersel==${ITERSEL_VERSION:?the version of itersel; set by the workflow}")
fi
python -m pip install --constraint envs/constraints.txt "${package[@]}"
