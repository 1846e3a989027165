# The main targets are `make demo` and `make test`. Both create the environment if it is missing.

# The first of these that can create an environment is used. To use another: make demo PYTHON=/opt/python/bin/python3
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14 python
NEEDED := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,$(PYTHONS),$(shell $(python) -c '$(NEEDED)' 2>/dev/null && echo $(python))))
VENV ?= .venv
BIN := $(VENV)/bin
# A separate package, required by itersel.
EXECUTOR := packages/snakemake-executor-plugin-arrays
INSTALL := "$(BIN)/python" -m pip install --quiet --disable-pip-version-check --constraint envs/constraints.txt

.PHONY: help picture demo test test-plain fuzz test-executor test-cluster lint coverage bench package docs generated \
  installed-for-all

help:
	@echo "make demo       run the experiments in config.yaml and print the table of results"
	@echo "make test       run the tests, except slow ones and those on clusters (CI=true: also slow ones)"
	@echo "make test-plain  compare with recorded output of other tools, with kernels compiled by plain numba"
	@echo "make fuzz       fuzz every kind of input file (1 minute on two cores)"
	@echo "make test-executor  build the executor for clusters and test it in an environment without itersel"
	@echo "make test-cluster  start Slurm and Grid Engine on this machine and run the workflow on them (15 minutes)"
	@echo "make lint       check style, types and the workflow"
	@echo "make coverage   run the unit tests without compiling kernels and measure coverage"
	@echo "make bench      measure speed and memory (benchmarks/README.md)"
	@echo "make picture    take the README's screenshot of the demo's report page"
	@echo "make package    build wheels and sdists in build/dist"
	@echo "make docs       build the documentation site in build/site"
	@echo "make generated  regenerate the files derived from the config's keys and the feature templates"

demo: $(VENV)/installed
	"$(BIN)"/snakemake

# Compile the kernels first; otherwise each of pytest's processes would compile all of them. There are three because some
# tests wait; more are faster only on more than two cores. The tests of a module run in one process, which makes what they
# share only once, and in the order of tests/conftest.py instead of the modules with most tests first.
PROCESSES ?= 3
# Slow tests are left for CI, which tests the executor on its own.
TESTS := not cluster$(if $(CI),, and not slow)
test: $(VENV)/installed-for-tests
	"$(BIN)"/itersel warm-up
	"$(BIN)"/python -m pytest -m "$(TESTS)" -n $(PROCESSES) --dist loadscope --no-loadscope-reorder \
	  --durations=15 $(if $(CI),tests)

# With a cache of its own; itersel.compile.jit explains the ways of compiling kernels. These tests use most kernels but
# run no commands, which would first compile all of them.
test-plain: $(VENV)/installed-for-tests
	ITERSEL_PLAIN_NUMBA=1 ITERSEL_CACHE="$(CURDIR)/build/plain" "$(BIN)"/python -m pytest -n 2 --dist loadscope --durations=5 \
	  tests/parity/test_decode.py tests/parity/test_extract.py

# CASES is the number of cases for each kind of file in each of two processes.
CASES ?= 8
fuzz: $(VENV)/installed-for-tests
	"$(BIN)"/itersel warm-up
	"$(BIN)"/python -m tests.fuzz --seed 1 --cases $(CASES) & first=$$!; \
	"$(BIN)"/python -m tests.fuzz --seed 1 --first $(CASES) --cases $(CASES); status=$$?; wait $$first && exit $$status

# Tests the executor's wheel on its own, as its users install it.
ALONE := build/executor
test-executor: package
	rm -rf $(ALONE)
	"$(BIN)"/python -m venv $(ALONE)
	$(ALONE)/bin/python -m pip install --quiet --disable-pip-version-check --constraint envs/constraints.txt \
	  "$$(echo build/dist/snakemake_executor_plugin_arrays-*.whl)[test]"
	! $(ALONE)/bin/python -c "import itersel" 2> /dev/null
	$(ALONE)/bin/python -m pytest -n 2 $(EXECUTOR)

# The tests start Slurm and Grid Engine on this machine; tests/cluster/install.sh installs both (as root). They run in
# four processes, each with its own schedulers, one test at a time, the longest first (tests/cluster/conftest.py).
# CLUSTER_TESTS is an expression for pytest's -k. EXCEPT= also runs slow variants of tests.
EXCEPT ?= and not slow
test-cluster: $(VENV)/installed-for-tests
	"$(BIN)"/itersel warm-up
	"$(BIN)"/python -m pytest -m "cluster $(EXCEPT)" -n 4 --dist load --maxschedchunk 1 \
	  --durations=10 -k "$(CLUSTER_TESTS)" tests/cluster

# Runs all tools, also if one of them finds something.
lint: $(VENV)/installed-for-lint
	@status=0; run() { echo "$$*"; "$(BIN)/$$@" || status=1; }; \
	run ruff check src tests benchmarks packages experiments docs/site; \
	run ruff format --check src tests benchmarks packages experiments docs/site; \
	run mypy; \
	run mypy docs/site/*.py experiments/neural-lists/decode.py experiments/package-descriptions/fetch.py; \
	run snakefmt --check Snakefile workflow; \
	run snakemake --lint; \
	exit $$status

# Hashes overflow on purpose. Interpreted kernels make numpy warn about it, but tests expect commands to print nothing.
coverage: $(VENV)/installed-for-coverage
	NUMBA_DISABLE_JIT=1 PYTHONWARNINGS='ignore:overflow encountered:RuntimeWarning' \
	  "$(BIN)"/python -m pytest -m "not slow" --hypothesis-profile=quick -n 2 \
	  --cov=itersel --cov-report=term-missing:skip-covered tests/unit

# Needs chromium and chromedriver.
picture: $(VENV)/installed-for-tests
	"$(BIN)"/python -m tests.browser.picture results/demo/report/index.html docs/pictures/page.png

bench: $(VENV)/installed
	"$(BIN)"/python -m benchmarks

# Wheels and sdists of both packages, in build/dist.
package: $(VENV)/installed-for-packages
	rm -rf build/dist
	"$(BIN)"/python -m build --outdir build/dist .
	"$(BIN)"/python -m build --outdir build/dist $(EXECUTOR)
	"$(BIN)"/twine check --strict build/dist/*

# The site, in build/site. The build checks links, and that pages load nothing from other sites (docs/site).
docs: $(VENV)/installed-for-docs
	rm -rf build/site
	NO_MKDOCS_2_WARNING=1 "$(BIN)"/mkdocs build --quiet --strict

generated: $(VENV)/installed
	"$(BIN)"/itersel config schema --output workflow/schemas/config.schema.json
	"$(BIN)"/itersel config documentation --output docs/config.md
	"$(BIN)"/python -m itersel.config.generate
	"$(BIN)"/python -m itersel.grammar.templates.generate

# Each environment is installed once, and again when the files that define it change.
$(VENV)/installed: pyproject.toml $(EXECUTOR)/pyproject.toml envs/constraints.txt
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(NEEDED)' 2>/dev/null || { \
	  echo "Python 3.11 or later with venv (on Debian and Ubuntu: python3-venv) is needed;" \
	    "none found among '$(or $(PYTHON),$(PYTHONS))'; name one: make PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -m venv "$(VENV)"
	$(INSTALL) --editable $(EXECUTOR) --editable .
	@# Snakemake looks for `--profile slurm` in this folder first; an existing file with that name is kept
	@for name in slurm sge slurm-single; do test -e $$name || test -L $$name || ln -s profiles/$$name $$name; done
	@touch "$@"

# By the name of itersel, which is installed: `--editable .` would install it again while it may be running.
# kenlm needs a compiler. If it cannot be installed, the tests that compare with it are skipped, except under CI.
$(VENV)/installed-for-tests: $(VENV)/installed
	$(INSTALL) 'itersel[test]'
	@$(INSTALL) kenlm || { test -z "$$CI" && echo "kenlm cannot be installed; tests that compare with it are skipped"; }
	@touch "$@"

$(VENV)/installed-for-coverage: $(VENV)/installed-for-tests
	$(INSTALL) 'itersel[coverage]'
	@touch "$@"

$(VENV)/installed-for-lint: $(VENV)/installed
	$(INSTALL) 'itersel[lint]'
	@touch "$@"

$(VENV)/installed-for-docs: $(VENV)/installed
	$(INSTALL) 'itersel[docs]'
	@touch "$@"

$(VENV)/installed-for-packages: $(VENV)/installed
	$(INSTALL) 'itersel[release]'
	@touch "$@"

# All of these in one call, which is faster.
installed-for-all: $(VENV)/installed
	$(INSTALL) 'itersel[test,lint,docs,release]'
	@touch "$(VENV)/installed-for-lint" "$(VENV)/installed-for-docs" "$(VENV)/installed-for-packages"
	@"$(MAKE)" "$(VENV)/installed-for-tests"
