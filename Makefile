# `make help` lists the commands. What they need is installed into .venv the first time, by checker/setup/environment.py.
# TORCH=cuda takes torch for CUDA, several GB, instead of the one for the CPU.
NOTEBOOK ?= $(firstword $(wildcard notebooks/dots.ipynb) work/dots.ipynb)
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
SETUP = $(PYTHON) -m checker setup $(if $(TORCH),--torch $(TORCH))

# Waiting threads that do not rest make each other many times slower when a core is busy. How many there are is chosen
# when a model is loaded (shared/engine/threads.py); OMP_NUM_THREADS=2 make ... overrides it.
export OMP_WAIT_POLICY ?= PASSIVE
export TOKENIZERS_PARALLELISM ?= false

.PHONY: help setup start lab smollm2 report clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup:  ## make the environment in .venv or bring it up to date: make setup, or make setup TORCH=cuda
	@$(SETUP)

start:  ## copy a blank notebook into work/, to be filled in: make start NOTEBOOK=dots
	@$(firstword $(wildcard $(RUN)) $(PYTHON)) -m checker start "$(NOTEBOOK)"

lab: $(VENV)/installed  ## open JupyterLab on work/
	@$(RUN) -m checker lab

smollm2: $(VENV)/installed  ## fetch a real model, SmolLM2 with 135 million parameters: 93 MB, once
	@$(RUN) -m checker setup --model smollm2

report: $(VENV)/installed  ## run, check and render a notebook: make report NOTEBOOK=path/to/any.ipynb
	@$(RUN) -m checker report "$(NOTEBOOK)"

clean:  ## remove what was built (not the environment)
	rm -rf build _site

# Setup writes it, and installed-test below, when all went well; they hold the build of torch that was asked for.
$(VENV)/installed: requirements.txt constraints.txt pyproject.toml
	@$(SETUP)

# Where another build of torch is asked for than the one that is there, both are made again.
ifneq ($(TORCH),)
ifneq ($(TORCH),$(shell cat $(VENV)/installed 2> /dev/null))
.PHONY: $(VENV)/installed $(VENV)/installed-test
endif
endif

# What students get ends here (checker/editions/release.py).
.PHONY: test test-all test-slow lint constraints mutants site notebooks students model bench

test: $(VENV)/installed-test  ## run the tests: make test, or make test SHAPES=1 to check shapes at every call
	@$(RUN) -m checker test $(if $(SHAPES),-p tests.shapes)

test-all: $(VENV)/installed-test  ## run the slow tests as well: matrices, every notebook on a second device
	@$(RUN) -m pytest -n auto -m "not exhaustive" tests

test-slow: $(VENV)/installed-test  ## of these only what make test leaves out
	@$(RUN) -m pytest -n auto -m "slow and not exhaustive" tests

lint: $(VENV)/installed-test  ## one style, no unused names, types: make lint, or make lint FIX=1 to mend style and names
	@$(RUN) -m ruff check $(if $(FIX),--fix) .
	@$(RUN) -m ruff format $(if $(FIX),,--check) .
	@$(RUN) -m ty check --python $(VENV) shared/*.py

# In an environment of its own: .venv cannot be brought up to date before the pins agree with the requirements.
constraints:  ## pin every package that the lists of requirements bring, in constraints.txt
	@$(PYTHON) -m venv build/uv
	@build/uv/bin/python -m pip install -q uv==0.13.9
	@build/uv/bin/uv pip compile -q --universal --python-version 3.11 --no-annotate --custom-compile-command "make constraints" \
	  requirements-mutants.txt -o constraints.txt

mutants: $(VENV)/installed-mutants  ## what no test notices, into tests/mutants.md: make mutants FILES="shared/kl.py ..."
	@OMP_NUM_THREADS=1 nice $(RUN) -m tests.mutants $(FILES)

site: $(VENV)/installed build/try build/pyodide  ## all worked notebooks as web pages in _site, by Quarto where it is installed
	@$(RUN) -m checker site

# What the page "Try it" loads: a minute of training and export. Without npm or `onnx` it says so and makes nothing.
build/try: $(VENV)/installed models/course-lm/model.safetensors
	@$(RUN) -m benchmarks.tryit

# What the page "Check your notebook" loads: Python for the browser. Without npm it says so and makes nothing.
build/pyodide: checker/site/loaded/pyodide.py | $(VENV)/installed
	@$(RUN) -m checker.site.loaded.pyodide

notebooks: $(VENV)/installed  ## run every worked notebook again and save its outputs in place
	@$(RUN) -m checker report --in-place notebooks/*.ipynb

students: $(VENV)/installed  ## make the blank editions of the worked notebooks again
	@$(RUN) -m checker assign notebooks/*.ipynb

model: $(VENV)/installed  ## train models/course-lm again from its documents (about an hour)
	@$(RUN) -m shared.pretrain

bench: $(VENV)/installed-test  ## measure a GRPO step beside TRL and a plain loop (about an hour; needs 16 GB)
	@$(RUN) -m benchmarks.step $(BENCH)

$(VENV)/installed-test: requirements.txt requirements-test.txt constraints.txt pyproject.toml
	@$(SETUP) --tests

$(VENV)/installed-mutants: $(VENV)/installed-test requirements-mutants.txt
	@$(RUN) -m pip install -q -c constraints.txt -r requirements-mutants.txt
	@touch $@
