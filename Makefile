# Every target sets up what it needs from a clean clone; only Python 3.11 or newer and make must be there.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TESTS  ?= tests
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup run test check fix cover bench bench-short bench-real e2e-real kills kills-real control-plane schemas lock clean

help:            ## what there is to make
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment, with .venv/bin/tutti in it

$(READY): pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Tutti needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say which one with: make PYTHON=/path/to/python3")'
	@echo "setting up $(VENV) with $$($(PYTHON) --version) (a minute or so the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: setup       ## a sample cluster on your machine, with gangs that start, wait and run
	@$(BIN)/tutti demo

test: setup      ## the whole test suite, without a real control plane
	@$(BIN)/python -m pytest -n $(JOBS) -m "not real" $(TESTS)

check: setup     ## format, lint, types, layers, dependencies
	@$(BIN)/ruff format --check --quiet . || { echo "formatting is off: run make fix"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@mkdir -p build
	@PYTHONPATH=src $(BIN)/lint-imports --no-cache >build/lint-imports.log 2>&1 || { cat build/lint-imports.log; exit 1; }
	@$(BIN)/deptry src >build/deptry.log 2>&1 || { cat build/deptry.log; exit 1; }
	@echo "check: format, lint, types, layers and dependencies are in order"

fix: setup       ## mend what the formatter and the linter can mend
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format --quiet .

cover: setup     ## which lines no test reaches
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -m "not real" $(TESTS)
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage report --skip-covered --skip-empty

bench: setup     ## measure Tutti alone; writes build/bench.json
	@$(BIN)/python -m benchmarks

bench-short: setup
	@$(BIN)/python -m benchmarks --short

bench-real: setup  ## measure Tutti beside kube-scheduler on a real API server; writes build/bench-real.json
	@$(BIN)/python -m benchmarks.real

control-plane:   ## build the real etcd, kube-apiserver and the rest; the last line is their folder
	@$(PYTHON) tools/control-plane/build.py

e2e-real: setup  ## the scenarios on a real API server
	@$(BIN)/python -m tools.e2e_real -n $(JOBS) $(TESTS)

kills: setup     ## kill the scheduler 30 times amid gangs and trees, on the embedded server (5 minutes)
	@TUTTI_KILLS=30 $(BIN)/python -m pytest -q -s -m "not real" tests/e2e/test_crashes.py

kills-real: setup  ## the same on the real API server
	@TUTTI_KILLS=30 $(BIN)/python -m tools.e2e_real -q -s tests/e2e/test_crashes.py

schemas: setup   ## make src/tutti/api/schemas from a real server's OpenAPI and the .proto files
	@$(BIN)/python -m tools.schemas

lock: setup      ## lock the versions of pyproject.toml, with hashes
	@test -x build/uv/bin/uv || { $(PYTHON) -m venv build/uv && build/uv/bin/pip install --quiet uv; }
	@build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-annotate --custom-compile-command "make lock" pyproject.toml -o requirements/runtime.txt
	@build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-annotate --custom-compile-command "make lock" pyproject.toml --group dev -o requirements/dev.txt

clean:           ## remove what was made here (not the control plane's cache)
	@rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
