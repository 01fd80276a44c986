# Two commands do everything on a fresh machine:
#   make demo    install into .venv, reproduce the paper's tables on 2 splits, print the result
#   make test    the same set-up if it is missing, then the tests
# And one to play:
#   make playground    train two small models (a minute, the first time) and serve them with a page

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# The project's data folder, where there is one; everything works without it or says what is missing.
export SETLEARN_DATA ?= $(wildcard $(CURDIR)/../shared/data)
# Processes, not BLAS threads, fill the cores.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test playground check lint types imports bench fuzz-api fuzz-models clean

demo: $(STAMP)
	$(BIN)/setlearn reproduce --quick --out report

test: $(STAMP)
	$(BIN)/pytest -n 2

playground: $(STAMP)
	$(BIN)/python examples/2-advanced/playground_models.py playground-models
	$(BIN)/setlearn serve digits=playground-models/digits strings=playground-models/strings

check: lint types imports test

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python benchmarks/labels.py
	$(BIN)/python benchmarks/sequences.py
	$(BIN)/python benchmarks/streaming.py
	$(BIN)/python benchmarks/serving.py

# Many made-up requests for each operation of the server, right and wrong ones.
fuzz-api: $(STAMP)
	SETLEARN_FUZZ_EXAMPLES=300 $(BIN)/pytest tests/server/test_documents.py -k whatever_is_sent

# Many more damaged and forged models than make test loads.
fuzz-models: $(STAMP)
	SETLEARN_FUZZ_THOROUGHNESS=5 $(BIN)/pytest tests/persistence/test_mutations.py

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,parquet,plot,ray,server]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
