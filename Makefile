# All set-up goes into .venv; nothing outside this folder is changed. Works at a path with spaces.
# Another interpreter or folder: make test PYTHON=python3.12 VENV=.venv-312

VENV ?= .venv
BIN := $(VENV)/bin/python
READY := $(VENV)/ready
# The first of these that starts and is new enough (a shim may be on PATH and fail).
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo "$$p" && break; done)

# A container may forbid Python to keep bytecode: then each of the many processes that the tests
# start compiles all of tito again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test check lab clean

help:
	@echo "make run    set up, then walk through the course in a scratch folder (tito demo)"
	@echo "make test   set up, then check and test everything"
	@echo "make lab    set up, then work on the first module in JupyterLab"
	@echo "make clean  remove the environment and what was built"

run: $(READY)
	@$(BIN) -m tito demo

# The checks of the course itself, then the tests.
test: check
	$(BIN) -m pytest -n 4 --dist worksteal $(PYTEST)

check: $(READY)
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check tito tinykernels tests
	$(BIN) -m tito lint --all
	$(BIN) -m tito sync --all --check
	$(BIN) -m tito export --all --check
	$(BIN) -m tito audit --all

lab: $(READY)
	@$(BIN) -m tito lab

$(READY): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed: make run PYTHON=/path/to/python"; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(BIN) -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
