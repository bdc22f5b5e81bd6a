# `make demo` and `make test` are all the set-up there is; `make help` lists the rest.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# mkdocs-material otherwise opens every build with a notice about a future MkDocs.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One check at a time, in the order written: the first failure is the last thing printed.
.NOTPARALLEL:
.PHONY: help demo test lint types imports unit docs dist bench format clean distclean

help:
	@echo "make demo       install Ludus here and run its demo"
	@echo "make test       install what the tests need and run every check below"
	@echo "  make lint     ruff: rules and format"
	@echo "  make types    pyright, strict"
	@echo "  make imports  import-linter: the layers"
	@echo "  make unit     pytest: tests, doctests, coverage"
	@echo "  make docs     the site, into build/site"
	@echo "  make dist     wheel and sdist, into dist/, each tried outside the repository"
	@echo "make bench      every benchmark in benchmarks/"
	@echo "make format     let ruff fix and format what it can"
	@echo "make clean      remove what the targets built (make distclean: the environment too)"

demo: $(VENV)/.installed
	@$(BIN)/ludus demo

test: lint types imports unit docs dist
	@echo "make test: all checks passed"

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/pyright

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-logo

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --doctest-modules tests ludus --cov

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --site-dir build/site

dist: $(VENV)/.dev
	@rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python scripts/smoke.py dist/*

bench: $(VENV)/.dev
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

# Stamps: an install happens again only when pyproject.toml changed. Editable, so the code never needs one.
$(VENV)/.created:
	@sh scripts/venv.sh "$(PYTHON)" $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	@echo "Installing Ludus into $(VENV) ..."
	@$(BIN)/python -m pip install -qq --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.created
	@echo "Installing Ludus and what its tests need into $(VENV) ..."
	@$(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $(VENV)/.installed $@
