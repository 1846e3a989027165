# Two commands do everything: `make demo` and `make test`. Both make the environment where it is missing.

# Any Python from 3.11 on will do: make demo PYTHON=python3.12
PYTHON ?= python3.11
VENV ?= .venv
CACHE ?= $(CURDIR)/cache
BIN := $(VENV)/bin
INSTALL := "$(BIN)/python" -m pip install --quiet --disable-pip-version-check --constraint envs/constraints.txt

.PHONY: help picture demo test fuzz test-cluster test-cluster-jobs test-cluster-times lint coverage bench generated

help:
	@echo "make demo       run the experiments of config.yaml; the table is printed at the end"
	@echo "make test       run all tests but those on clusters"
	@echo "make fuzz       damage every kind of input file, with more cases than make test has (2 minutes)"
	@echo "make test-cluster  run the workflow on Slurm and Grid Engine, started on this machine (15 minutes)"
	@echo "make lint       check style, types and the workflow"
	@echo "make coverage   run the unit tests without compiled kernels, and measure their coverage"
	@echo "make bench      measure speed and memory (benchmarks/README.md)"
	@echo "make picture    take the README's picture of the page of the demo"
	@echo "make generated  regenerate the files derived from src/itersel/config"

demo: $(VENV)/installed
	"$(BIN)"/snakemake

# Kernels are compiled beforehand, as each of the two processes of pytest would compile all of them.
test: $(VENV)/installed-for-tests
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/itersel warm-up
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m pytest -n 2 --dist loadgroup --durations=15

# More cases than `make test` has. CASES is their number for each kind of file.
CASES ?= 16
fuzz: $(VENV)/installed-for-tests
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/itersel warm-up
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m tests.fuzz --seed 1 --cases $(CASES)

# The tests start Slurm and Grid Engine on this machine; tests/cluster/install.sh installs both (as root). They wait most
# of the time, so four processes run them, each with schedulers of its own; then come the tests that measure time.
# CLUSTER_TESTS is an expression for pytest's -k.
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

# Hashes overflow on purpose. Without compilation numpy warns of it, but tests expect commands to print nothing.
coverage: $(VENV)/installed-for-tests
	NUMBA_DISABLE_JIT=1 PYTHONWARNINGS='ignore:overflow encountered:RuntimeWarning' \
	  "$(BIN)"/python -m pytest -n 2 --cov=itersel --cov-report=term-missing:skip-covered tests/unit

# Needs chromium and chromedriver.
picture: $(VENV)/installed-for-tests
	"$(BIN)"/python -m tests.browser.picture results/demo/report/index.html docs/pictures/page.png

bench: $(VENV)/installed
	ITERSEL_CACHE="$(CACHE)" "$(BIN)"/python -m benchmarks

generated: $(VENV)/installed
	"$(BIN)"/itersel config schema --output workflow/schemas/config.schema.json
	"$(BIN)"/itersel config documentation --output docs/config.md
	"$(BIN)"/itersel config template config.yaml --output config.yaml

# Each environment is installed once, and again when the files that define it change.
$(VENV)/installed: pyproject.toml envs/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or later is needed, '$(PYTHON)' is none; name it: make PYTHON=python3" >&2; exit 1; }
	@$(PYTHON) -m venv "$(VENV)" || { \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu it is the package python3-venv" >&2; exit 1; }
	$(INSTALL) --editable .
	@# Snakemake looks for `--profile slurm` in this folder first; an existing file of that name is left alone
	@for name in slurm sge slurm-single; do test -e $$name || test -L $$name || ln -s profiles/$$name $$name; done
	@touch "$@"

# kenlm needs a compiler. Where it cannot be installed, the tests that compare with it are skipped, except under CI.
$(VENV)/installed-for-tests: $(VENV)/installed
	$(INSTALL) --editable '.[test]'
	@$(INSTALL) kenlm || { test -z "$$CI" && echo "kenlm cannot be installed: tests against it are skipped"; }
	@touch "$@"

$(VENV)/installed-for-lint: $(VENV)/installed
	$(INSTALL) --editable '.[lint]'
	@touch "$@"
