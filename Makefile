# Two commands do everything: `make demo` and `make test`. Both make the environment where it is missing.

# Any Python from 3.11 on will do: make demo PYTHON=python3.12
PYTHON ?= python3.11
VENV ?= .venv
CACHE ?= $(CURDIR)/cache
BIN := $(VENV)/bin
INSTALL := "$(BIN)/python" -m pip install --quiet --disable-pip-version-check --constraint envs/constraints.txt

.PHONY: help demo test test-cluster test-cluster-jobs test-cluster-times lint coverage bench generated

help:
	@echo "make demo       run the default experiment (config.yaml); the table and where it is come last"
	@echo "make test       run all tests"
	@echo "make test-cluster  run the workflow on a real Slurm and a real Grid Engine of one machine (a quarter of an hour)"
	@echo "make lint       check style, types and the workflow"
	@echo "make coverage   run the unit tests without compiling kernels, and measure their coverage"
	@echo "make bench      measure speed and memory (benchmarks/README.md)"
	@echo "make generated  make the files anew that are generated from src/itersel/config"

demo: $(VENV)/installed
	"$(BIN)"/snakemake

# The kernels are compiled once before: the two processes of pytest would each compile all of them.
test: $(VENV)/installed-for-tests
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/itersel warm-up
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m pytest -n 2 --dist loadgroup --durations=15

# Slurm and Grid Engine are started by the tests, on this machine; tests/cluster/install.sh installs them (as root).
# Tests that wait leave the machine to others: four processes, each with schedulers of its own. Then what is measured.
# CLUSTER_TESTS is an expression of pytest's -k.
test-cluster: test-cluster-jobs test-cluster-times

test-cluster-jobs: $(VENV)/installed-for-tests
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/itersel warm-up
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m pytest -m "cluster and not alone" -n 4 --dist worksteal \
	  --durations=10 -k "$(CLUSTER_TESTS)" tests/cluster

test-cluster-times: test-cluster-jobs
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m pytest -m "cluster and alone" -rP tests/cluster

lint: $(VENV)/installed-for-lint
	"$(BIN)"/ruff check src tests benchmarks
	"$(BIN)"/ruff format --check src tests benchmarks
	"$(BIN)"/mypy
	"$(BIN)"/snakefmt --check Snakefile workflow
	"$(BIN)"/snakemake --lint

# Hashes overflow on purpose; interpreted, numpy warns of it, and commands that tests run have to be silent.
coverage: $(VENV)/installed-for-tests
	NUMBA_DISABLE_JIT=1 PYTHONWARNINGS='ignore:overflow encountered:RuntimeWarning' \
	  "$(BIN)"/python -m pytest -n 2 --cov=itersel --cov-report=term-missing:skip-covered tests/unit

bench: $(VENV)/installed
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m benchmarks

generated: $(VENV)/installed
	"$(BIN)"/itersel config schema --output workflow/schemas/config.schema.json
	"$(BIN)"/itersel config documentation --output docs/config.md
	"$(BIN)"/itersel config template config.yaml --output config.yaml

# Stamps: an environment is installed once, and again when what it is made from changes.
$(VENV)/installed: pyproject.toml envs/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or later is needed, '$(PYTHON)' is none; name it: make PYTHON=python3" >&2; exit 1; }
	@$(PYTHON) -m venv "$(VENV)" || { \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu it is the package python3-venv" >&2; exit 1; }
	$(INSTALL) --editable .
	@# `--profile slurm` is looked for here first; whatever has that name already is left alone
	@for name in slurm sge slurm-single; do test -e $$name || test -L $$name || ln -s profiles/$$name $$name; done
	@touch "$@"

# kenlm has to be compiled, and a few tests compare with it: where it cannot be, they are skipped; not under CI.
$(VENV)/installed-for-tests: $(VENV)/installed
	$(INSTALL) --editable '.[test]'
	@$(INSTALL) kenlm || { test -z "$$CI" && echo "kenlm cannot be installed: tests against it are skipped"; }
	@touch "$@"

$(VENV)/installed-for-lint: $(VENV)/installed
	$(INSTALL) --editable '.[lint]'
	@touch "$@"
