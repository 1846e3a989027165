#!/usr/bin/env bash
# Run by Snakemake in the new environment, from the folder of the project.
set -euo pipefail
python -m pip install --constraint envs/constraints.txt .
