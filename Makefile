# `make demo` and `make test` are all the set-up there is; `make help` lists the rest.

PYTHON ?= $(shell sh scripts/python.sh)
# Workers of pytest. Most tests wait for processes that they start: four workers, none of them idle, used little more than one
# core of two, so there are three for each core of a small machine; eight kept both busy all the time. What only
# computes gets as many as there are cores.
JOBS ?= 6
CORES := $(shell nproc 2>/dev/null || echo 2)
VENV := .venv
BIN := $(VENV)/bin
# Installs in parallel, from where pip would.
UV := $(BIN)/python scripts/uv.py
PYTEST := $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder --durations 25 --durations-min 1
# Rooms that start nothing: within a minute they say whether the ground is sound.
QUICK := core spaces wire tools rendering
QUICK_TESTS := $(QUICK:%=tests/%) tests/house/test_code.py tests/house/test_rooms.py tests/house/test_docstrings.py
# Runs of pytest that belong together add up their times here: see tests/budgets.py.
TIMES := build/times

# The libraries that benchmarks compare with cannot all be installed together, nor with us: an environment for each.
PEERS := gymnasium envpool gymnax
PEER_PYTHONS := $(PEERS:%=build/peers/%/bin/python)

# Tests start hundreds of programs: without bytecode each of them would compile the package first.
unexport PYTHONDONTWRITEBYTECODE
# And each would start threads for matrices, which add two thirds to what NumPy's import takes of the processor.
export OPENBLAS_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# mkdocs-material otherwise opens every build with a notice about a future MkDocs.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test start lock lock-check lint types imports system peers quick doctests unit affected cover test-full \
	mutations docs dist lowest bench format clean distclean

help:
	@echo "make demo       install Ludus here and run its demo"
	@echo "make test       install what the tests need and run every check below"
	@echo "  make lock-check  requirements/dev.lock: complete, hashed, and what is installed"
	@echo "  make lint     ruff: rules and format"
	@echo "  make types    pyright, strict"
	@echo "  make imports  import-linter: the layers"
	@echo "  make quick    pytest: the rooms that start nothing; within a minute, for the inner loop"
	@echo "  make docs     the site, into build/site"
	@echo "  make dist     wheel and sdist, into dist/, each tried outside the repository"
	@echo "  make doctests pytest: the examples in docstrings"
	@echo "  make unit     pytest: all other rooms; then a table of what each room took"
	@echo "make affected   pytest: what imports a file that differs from main (SINCE=commit: from that)"
	@echo "make cover      pytest with coverage: at least 95 %, and the figure of each room; not part of make test"
	@echo "make test-full  whole products, long soaks, coverage and mutations; hours, before a release"
	@echo "make mutations  whether the suite notices mistakes: scripts/mutations.py"
	@echo "make lowest     install the lowest versions that pyproject.toml allows, and try them; not part of make test"
	@echo "make bench      measure beside other libraries, write docs/benchmarks.md; then every script in benchmarks/"
	@echo "make format     let ruff fix and format what it can"
	@echo "make lock       write requirements/dev.lock anew, after pyproject.toml changed; UPGRADE=1: newest versions"
	@echo "make clean      remove what the targets built (make distclean: the environment too)"

demo: $(VENV)/.installed
	@$(BIN)/ludus demo

test test-full: export LUDUS_TIMES := $(TIMES)
test-full: export LUDUS_FULL := 1

# What fails soonest comes first, and its failure stops what would come next. Tests that start programs, and give them
# deadlines, come last and have the machine for themselves.
FIRST := lock-check lint imports quick
SECOND := types doctests docs dist
CHECKS := $(FIRST) $(SECOND)
test: start
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=line $(FIRST)
	@$(MAKE) --no-print-directory --jobs 4 --output-sync=target $(SECOND)
	@$(MAKE) --no-print-directory unit
	@echo "make test: all checks passed"

start: $(VENV)/.dev system peers
	@rm -rf $(TIMES) && $(BIN)/python tests/budgets.py $(TIMES)

lock-check: $(VENV)/.dev
	$(BIN)/python scripts/lock.py requirements/dev.lock

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/pyright

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-logo

# What sandboxes are made of: packages of the system, which only root can install.
system:
	@sh scripts/system.sh

# OpenEnv's stock packages, whose clients and servers ours are tried with.
peers:
	@sh scripts/peers.sh "$(PYTHON)"

quick: $(VENV)/.dev
	$(PYTEST) -n $(CORES) $(QUICK_TESTS)

# By themselves: whoever collects them imports the whole library, which each worker of the tests would do as well. A file
# of tests is named first, so that what all tests share (tests/conftest.py) counts for them too.
doctests: $(VENV)/.dev system peers
	$(PYTEST) -n 0 --doctest-modules tests/sampling.py ludus

unit: $(VENV)/.dev system peers
	$(PYTEST) -n $(JOBS) --doctest-modules tests $(QUICK_TESTS:%=--ignore %)

SINCE ?= main
affected: $(VENV)/.dev
	@set -e; tests=$$($(BIN)/python scripts/affected.py $(SINCE)); \
	if [ -z "$$tests" ]; then echo "nothing that tests look at has changed since $(SINCE)"; \
	else $(PYTEST) -n $(JOBS) --doctest-modules $$tests; fi

# Measuring takes a quarter more, and every process that tests start writes a file: by itself, and before a release.
cover: $(VENV)/.dev system peers
	$(PYTEST) -n $(JOBS) --doctest-modules tests ludus --cov --cov-report json:build/coverage.json --cov-report term
	$(BIN)/python scripts/room_coverage.py build/coverage.json

# The whole products, of which `make test` tries a sample, measured; then whether mistakes are noticed.
test-full: start
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=line $(filter-out quick doctests,$(CHECKS))
	$(PYTEST) -n $(JOBS) --doctest-modules -m "full or not full" tests ludus \
		--cov --cov-report json:build/coverage.json --cov-report term
	$(BIN)/python scripts/room_coverage.py build/coverage.json
	$(MAKE) mutations

mutations: $(VENV)/.dev system peers
	$(BIN)/python scripts/mutations.py

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --site-dir build/site

dist: $(VENV)/.dev
	@rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python scripts/smoke.py dist/*

# Downloads hundreds of megabytes: by hand, whenever a bound or what we use of a library changes.
lowest: $(VENV)/.dev
	$(BIN)/python scripts/lowest.py build/lowest

bench: $(VENV)/.dev $(PEERS:%=build/peers/%/.installed) build/peers/openenv/.installed
	$(BIN)/python benchmarks/suite $(PEER_PYTHONS:%=--peers %) --json build/benchmarks.json --page docs/benchmarks.md
	$(BIN)/python benchmarks/service --json build/service.json --page docs/serve_benchmarks.md
	@failed=; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" || failed="$$failed $$file"; done; \
		if [ -n "$$failed" ]; then echo "make bench: not met, or failed:$$failed"; exit 1; fi

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# For every platform and every Python we support at once. Versions stay as they are, unless UPGRADE is set.
lock: $(VENV)/.created
	$(UV) pip compile -q $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --extra dev \
		--generate-hashes --custom-compile-command "make lock" --output-file requirements/dev.lock pyproject.toml

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

# Stamps: an install happens again only when pyproject.toml or the lock changed. Editable, so the code never needs one.
$(VENV)/.created:
	@sh scripts/venv.sh "$(PYTHON)" $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	@echo "Installing Ludus into $(VENV) ..."
	@$(BIN)/python -m pip install -qq --editable .
	@touch $@

# Only files whose hashes are in the lock; then Ludus itself, which needs nothing more.
$(VENV)/.dev: pyproject.toml requirements/dev.lock $(VENV)/.created
	@echo "Installing Ludus and what its tests need into $(VENV) ..."
	@$(UV) pip install -q --require-hashes --compile-bytecode -r requirements/dev.lock
	@$(UV) pip install -q --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.installed $@

# A library that cannot be had here is no reason to stop: the page names who is missing, and the next run tries again.
build/peers/%/.installed: benchmarks/peers/%.txt
	@sh scripts/venv.sh "$(PYTHON)" build/peers/$*
	@echo "Installing $* into build/peers/$* ..."
	@if build/peers/$*/bin/python scripts/uv.py pip install -q -r $<; then touch $@; else echo "$* cannot be installed here"; fi
