# `make help` lists the commands. Everything they need is installed into .venv the first time.
NOTEBOOK ?= notebooks/dots.ipynb
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

# Small models run fastest on few threads, and results repeat exactly only at a fixed number.
export OMP_NUM_THREADS ?= 2
export TOKENIZERS_PARALLELISM ?= false

.PHONY: help report test test-all mutants site notebooks students model bench clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

report: $(VENV)/installed  ## run, check and render a notebook: make report NOTEBOOK=path/to/any.ipynb
	@$(RUN) -m checker report "$(NOTEBOOK)"

test: $(VENV)/installed-test  ## run the tests
	@$(RUN) -m pytest -n auto -m "not slow" tests

test-all: $(VENV)/installed-test  ## run the slow tests as well
	@$(RUN) -m pytest -n auto tests

mutants: $(VENV)/installed-mutants  ## what no test notices, into tests/mutants.md: make mutants FILES="shared/kl.py ..."
	@OMP_NUM_THREADS=1 nice $(RUN) -m tests.mutants $(FILES)

site: $(VENV)/installed  ## all worked notebooks as web pages in _site, by Quarto where it is installed
	@PATH="$$PATH:$(CURDIR)/$(VENV)/bin"; \
	  if command -v quarto > /dev/null; then quarto render; else $(RUN) -m checker render notebooks/*.ipynb -o _site; fi

notebooks: $(VENV)/installed  ## run every worked notebook again and save its outputs in place
	@$(RUN) -m checker report --in-place notebooks/*.ipynb

students: $(VENV)/installed  ## make the blank editions of the worked notebooks again
	@$(RUN) -m checker assign notebooks/*.ipynb

model: $(VENV)/installed  ## train models/course-lm again from its documents (about an hour)
	@$(RUN) -m shared.pretrain

bench: $(VENV)/installed-test  ## measure a GRPO step beside TRL and a plain loop (about an hour; needs 16 GB)
	@$(RUN) -m benchmarks.step $(BENCH)

clean:  ## remove what was built (not the environment)
	rm -rf build _site

$(VENV)/installed: requirements.txt pyproject.toml
	@echo "Making the environment in .venv (the first time takes a few minutes) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "This course needs Python 3.11 or newer. Found: $$($(PYTHON) --version). Try: make PYTHON=python3.11 ..."; exit 1; }
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install -q -r requirements.txt
	@$(RUN) -m pip install -q --no-deps -e .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed requirements-test.txt
	@$(RUN) -m pip install -q -r requirements-test.txt
	@touch $@

$(VENV)/installed-mutants: $(VENV)/installed-test requirements-mutants.txt
	@$(RUN) -m pip install -q -r requirements-mutants.txt
	@touch $@
