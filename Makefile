# `make demo` and `make test` are all the set-up there is; `make help` lists the rest.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
# The libraries that benchmarks compare with cannot all be installed together, nor with us: an environment for each.
PEERS := gymnasium envpool gymnax
PEER_PYTHONS := $(PEERS:%=build/peers/%/bin/python)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# mkdocs-material otherwise opens every build with a notice about a future MkDocs.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One check at a time, in the order written: the first failure is the last thing printed.
.NOTPARALLEL:
.PHONY: help demo test lock lock-check lint types imports system peers unit test-full docs dist lowest bench format clean distclean

help:
	@echo "make demo       install Ludus here and run its demo"
	@echo "make test       install what the tests need and run every check below"
	@echo "  make lock-check  requirements/dev.lock: complete, hashed, and what is installed"
	@echo "  make lint     ruff: rules and format"
	@echo "  make types    pyright, strict"
	@echo "  make imports  import-linter: the layers"
	@echo "  make unit     pytest: tests, doctests, coverage"
	@echo "  make docs     the site, into build/site"
	@echo "  make dist     wheel and sdist, into dist/, each tried outside the repository"
	@echo "make test-full  every place, kind and law of tests/conformance: docs/places.md; not part of make test"
	@echo "make lowest     install the lowest versions that pyproject.toml allows, and try them; not part of make test"
	@echo "make bench      measure beside other libraries, write docs/benchmarks.md; then every script in benchmarks/"
	@echo "make format     let ruff fix and format what it can"
	@echo "make lock       write requirements/dev.lock anew, after pyproject.toml changed; UPGRADE=1: newest versions"
	@echo "make clean      remove what the targets built (make distclean: the environment too)"

demo: $(VENV)/.installed
	@$(BIN)/ludus demo

test: lock-check lint types imports unit docs dist
	@echo "make test: all checks passed"

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

unit: $(VENV)/.dev system peers
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --doctest-modules tests ludus --cov

# The whole product of places, kinds and laws, of which `make unit` tries a sample.
test-full: $(VENV)/.dev system peers
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "full or not full" tests/conformance

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
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# For every platform and every Python we support at once. Versions stay as they are, unless UPGRADE is set.
lock:
	@sh scripts/venv.sh "$(PYTHON)" build/lock
	@build/lock/bin/python -m pip install -qq --require-hashes -r requirements/uv.lock
	build/lock/bin/uv pip compile -q $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --extra dev \
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
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.installed $@

# A library that cannot be had here is no reason to stop: the page names who is missing, and the next run tries again.
build/peers/%/.installed: benchmarks/peers/%.txt
	@sh scripts/venv.sh "$(PYTHON)" build/peers/$*
	@echo "Installing $* into build/peers/$* ..."
	@if build/peers/$*/bin/python -m pip install -qq -r $<; then touch $@; else echo "$* cannot be installed here"; fi
