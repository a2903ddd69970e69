# The two commands of README, and the parts they are made of. Needs Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

ATTACK_SECONDS ?= 600

.PHONY: demo serve test lint types unit docs dist attack experiments clean

demo: .venv/base
	$(BIN)/covertour demo

serve: .venv/web
	$(BIN)/covertour serve

test: lint types unit

lint: .venv/all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/all
	$(BIN)/mypy

# A file's tests run in one process, as some share what they set up.
unit: .venv/all
	$(BIN)/pytest --numprocesses auto --dist loadfile

# The site, into docs/_build/html: all cells of all notebooks run, and warnings are errors.
docs: .venv/docs
	$(BIN)/python -m sphinx -b html -W --keep-going -j auto -q -d docs/_build/doctrees docs docs/_build/html

# The wheel and the sdist, into dist/, each installed and tried in an environment of its own.
dist: .venv/bin/python
	$(BIN)/python .ci/dist.py

# Look for mistakes by brute force, kills and damaged files, elsewhere on every run; not in CI.
attack: .venv/all
	$(BIN)/python tests/attack --seconds $(ATTACK_SECONDS)

# The tables and figures of the paper on 5 instances per cell, into experiments/quick: about five
# minutes on two cores that have nothing else to do. Interrupted, it goes on from there.
experiments: .venv/all
	$(BIN)/python -m experiments all --quick

clean:
	rm -rf .venv demo dist docs/_build

.venv/bin/python:
	$(PYTHON) -m venv .venv

# Each stamp file records an install and is remade when what it depends on changes.
.venv/base: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	$(BIN)/covertour warmup
	touch $@

.venv/web: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[web]'
	$(BIN)/covertour warmup
	touch $@ .venv/base

.venv/docs: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[docs,train,web]'
	$(BIN)/covertour warmup
	touch $@ .venv/base .venv/web

.venv/all: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[train,dev,web]'
	$(BIN)/covertour warmup
	touch $@ .venv/base .venv/web
