# ralph-tui. `make demo` shows it, `make test` tests it, `make help` names the rest.
# Everything is installed into .venv; outside of this folder only pip writes, its download cache.

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
ARGS ?=
# More than cores: many tests wait for processes.
WORKERS ?= 6

export PIP_NO_INPUT := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE PIP_USER PIP_TARGET PIP_PREFIX

# Not compiled: most modules are never imported, and Python compiles the others when they are.
PIP := $(PY) -m pip install --quiet --no-compile

.DEFAULT_GOAL := help
.PHONY: help setup demo run test fuzz failures check bench soak snapshots screenshots docs lock clean

help: ## name the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: $(VENV)/.runtime ## a real loop on the sample project (ARGS="--scenario stuck --fast")
	@$(BIN)/ralph-tui demo $(ARGS)

run: $(VENV)/.runtime ## ralph-tui run, with ARGS='"Fix the tests" -c "pytest -q" ...'
	@$(BIN)/ralph-tui run $(ARGS)

setup: $(VENV)/.dev ## everything that working on ralph-tui needs

test: $(VENV)/.collected ## all tests (ARGS="-k journal", WORKERS=1 for one process)
	@$(in_memory); \
	$(PY) -m pytest -n $(WORKERS) --dist worksteal -rs $${tmp:+--basetemp "$$tmp/tests"} $(ARGS) || { \
	  code=$$?; test -z "$$tmp" || echo "what the tests left is in $$tmp until you remove it" >&2; \
	  exit $$code; }; \
	rm -rf "$$tmp"

fuzz: $(VENV)/.dev ## the property tests with random examples (minutes); what fails becomes an example
	@RALPH_TEST_FUZZ=1 $(PY) -m pytest -n $(WORKERS) -m hypothesis --timeout 3600 $(ARGS)

failures: $(VENV)/.dev ## kill, freeze and cut off parts of a fleet and of two resumes (minutes)
	@RALPH_TEST_FAILURES=1 $(PY) -m pytest -n 2 tests/e2e/test_fleet_failures.py tests/e2e/test_two_resumes.py tests/e2e/test_fleet_worker.py $(ARGS)

check: $(VENV)/.dev ## lint, format, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict
	@$(BIN)/lint-imports

bench: $(VENV)/.dev ## measure the budgets
	@$(PY) -m bench $(ARGS)

soak: $(VENV)/.dev ## stop and kill runs, keepers and git at 200 random moments (ARGS="--kills 20 --seed 1", "--rollovers --kills 30")
	@$(PY) -m tests.soak $(ARGS)

snapshots: $(VENV)/.dev ## update the pictures of screens; look at each before you commit it
	@$(PY) -m pytest tests/snapshots --snapshot-update $(ARGS)

screenshots: $(VENV)/.dev ## the README's pictures
	@$(PY) -m screenshots.make $(ARGS)

docs: $(VENV)/.dev ## the reference pages from the code, and the site in build/site
	@$(PY) -m docs.generate
	@$(PIP) -r requirements-docs.lock
	@rm -rf build/pages && mkdir -p build/pages
	@cp -R README.md CONTRIBUTING.md CHANGELOG.md LICENSE docs screenshots build/pages/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet && echo "build/site/index.html"

# The newest versions that pyproject.toml allows and a clean environment resolves to.
lock: ## write requirements*.lock anew
	@set -e; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	$(find_python); "$$python" -m venv "$$tmp/venv"; \
	for extra in "" "dev" "docs"; do \
	  "$$tmp/venv/bin/python" -m pip install --quiet ".$${extra:+[$$extra]}"; \
	  file=requirements$${extra:+-$$extra}.lock; \
	  { echo "# Exact versions that the tests passed with; written by 'make lock', not by hand."; \
	    "$$tmp/venv/bin/python" -m pip freeze --exclude ralph-tui; } > "$$tmp/lock"; \
	  cp "$$tmp/lock" "$$file"; echo "wrote $$file"; \
	done

clean: ## back to a fresh clone: .venv, caches and build products go
	@rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache snapshot_report.html
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Sets $$python to the first interpreter that is new enough.
define find_python
python=; for name in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14; do \
  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
  then python=$$name; break; fi; done; \
if [ -z "$$python" ]; then \
  echo "ralph-tui needs Python 3.11 or newer: install it, or name it with make PYTHON=..." >&2; \
  exit 1; fi; \
if ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
  version=$$("$$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])'); \
  echo "$$version lacks its venv module: install the package $$version-venv (Debian, Ubuntu)" >&2; \
  exit 1; fi
endef

# Sets $$tmp to a folder in memory where 4 GB of such are free, else to nothing: runs write through to
# the disk, which their tests would wait for. It is of no use where programs cannot be run in it.
define in_memory
tmp=; \
if df -Pk /dev/shm 2>/dev/null | awk 'NR > 1 { free = $$4 } END { exit free < 4194304 }' && \
  awk '/^MemAvailable/ { free = $$2 } END { exit free < 6291456 }' /proc/meminfo && \
  tmp=$$(mktemp -d /dev/shm/ralph-tui-tests.XXXXXX); then \
  trap 'rm -rf "$$tmp"; exit 130' INT TERM; \
  printf '#!/bin/sh\n' > "$$tmp/run" && chmod +x "$$tmp/run" && "$$tmp/run" || \
    { rm -rf "$$tmp"; tmp=; }; \
fi
endef

# A stamp is newer than what it was made from: the second `make` installs nothing.
$(VENV)/.made:
	@set -e; $(find_python); \
	echo "setting up in $(VENV), once: this takes about half a minute" >&2; \
	"$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.made requirements.lock pyproject.toml
	@$(PIP) -r requirements.lock
	@$(PIP) --no-deps --editable .
	@touch $@

# Compile changed tests once: otherwise each worker would, which takes ten seconds.
# Errors are reported when the tests run.
$(VENV)/.collected: $(VENV)/.dev $(shell find tests -name '*.py')
	@$(PY) -m pytest --collect-only -qq tests/unit >/dev/null & \
	$(PY) -m pytest --collect-only -qq $(filter-out tests/unit/,$(wildcard tests/*/)) >/dev/null; \
	wait
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	@$(PIP) -r requirements-dev.lock
	@touch $@
