# Two commands matter: `make reproduce` recomputes every published number, `make test` checks
# everything. Both need only Python 3.11 or newer (with venv) and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet # errors only

.DEFAULT_GOAL := help
.PHONY: help reproduce test check-style check-types check-imports check-tests notebooks format clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

reproduce: $(VENV)/.installed ## recompute every published number, write the reports, fail on a mismatch
	@$(BIN)/steelyard reproduce

test: check-style check-types check-imports check-tests ## run every check and every test

check-style: $(VENV)/.installed-dev ## lint and format check
	$(BIN)/ruff check
	$(BIN)/ruff format --check

check-types: $(VENV)/.installed-dev ## type check
	$(BIN)/mypy

check-imports: $(VENV)/.installed-dev ## no room of the package imports one above it
	$(BIN)/lint-imports

check-tests: $(VENV)/.installed-dev ## tests, reference vectors, pins and notebooks, with the coverage floor
	$(BIN)/python -m pytest --numprocesses logical --dist loadfile --cov --cov-report=term

notebooks: $(VENV)/.installed-dev ## run the notebooks and store what they show
	$(BIN)/python tests/notebooks.py

format: $(VENV)/.installed-dev ## rewrite the code in the project's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove the environment, caches and the built database; committed files stay
	rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests experiments -type d -name __pycache__ -prune -exec rm -rf {} +

# The exact versions of constraints.txt go into both environments: the same data then gives the
# same bytes in reports/ on every machine.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing steelyard into $(VENV) ..."
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing steelyard and its checks into $(VENV) ..."
	@$(PIP) install --constraint constraints.txt --editable ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null 2>&1 \
	  || { echo "steelyard needs Python 3.11 or newer, and $(PYTHON) is not here. Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "steelyard needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "$(PYTHON) has no venv module; on Debian and Ubuntu the package python3-venv holds it" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
