# Two commands: `make book` builds the book, `make test` checks everything. Both set themselves up.

PYTHONS := 3.14 3.13 3.12 3.11
version = $(1) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
accepted = case " $(PYTHONS) " in (*" $$($(version)) "*) true;; (*) false;; esac
PYTHON ?= $(shell for p in python3 $(PYTHONS:%=python%); do $(call accepted,$$p) && echo $$p && break; done)
IN := .venv/bin/python
TORCH := $(shell sed -n 's/^constraint-dependencies = \["\(.*\)"\]$$/\1/p' pyproject.toml)
HASHED := --quiet --require-hashes --no-deps -r
WORKERS := -n auto --maxprocesses 4 --dist loadgroup  # one page visit, one worker; ARGS="-n 0" for none

unexport PYTHONDONTWRITEBYTECODE   # or each worker compiles the rewritten tests anew

.PHONY: book test quick deep serve lab wheel zip zip-live pdf figures lock newest mutants proofs lint clean
.DELETE_ON_ERROR:

book: .venv/book
	$(IN) -m book.build

test: .venv/dev tools
	$(IN) -m pytest $(WORKERS) $(ARGS)
	@echo "What takes longer was left out or sampled: make deep, in parts that go on where they stopped"

quick: .venv/dev                # what needs no browser, no built book and no fresh environment
	$(IN) -m pytest $(WORKERS) -m "not site and not wheel and not slow" $(ARGS)

deep: .venv/dev tools           # what takes longer, in named parts: make deep PART=families
	$(IN) -m tests.deep $(PART)

serve: .venv/dev conf.py        # a preview in plain Sphinx that follows your edits
	PYTHONPATH=book/_ext .venv/bin/sphinx-autobuild . _build/preview -d _build/preview/.doctrees --pre-build "$(IN) -m book.build --preview" \
		--watch rope_lab --ignore "*/_build/*" --ignore "*/.venv/*" --ignore "*/.git/*" --ignore "*/__pycache__/*" --port 8000

conf.py: _config.yml _toc.yml .venv/dev   # the way out of Jupyter Book 1: the same configuration for plain Sphinx
	.venv/bin/jupyter-book config sphinx .

lab: .venv/book
	$(IN) -m jupyterlab notebooks

wheel: .venv/bin/pip            # in an environment of its own, which pip makes: nothing else is installed
	.venv/bin/pip wheel --quiet --no-deps --wheel-dir dist .

zip: book                       # the offline book: unpack it and open index.html
	$(call zipped,rope-lab-book,rm -rf rope-lab-book/live)

zip-live: book                  # the same with the Python that its pages run: some 60 MB
	$(call zipped,rope-lab-book-live,true)

zipped = mkdir -p dist && cd _build && rm -rf rope-lab-book && cp -r html rope-lab-book && $(2) \
	&& cp ../LICENSE ../LICENSE-text ../THIRD_PARTY.md rope-lab-book/ \
	&& $(CURDIR)/$(IN) -m zipfile -c ../dist/$(1).zip rope-lab-book && rm -rf rope-lab-book

pdf: book .venv/dev             # the book as one PDF, printed by Chromium
	$(IN) -m book.pdf

figures: book .venv/dev         # every figure as SVG and PNG, every widget as PNG, for slides
	$(IN) -m book.figure_files

lock: .venv/dev                 # resolve the pinned requirements anew
	.venv/bin/uv pip compile pyproject.toml --extra lab --extra train --extra book --extra fast -o requirements.txt
	.venv/bin/uv pip compile pyproject.toml --all-extras -c requirements.txt -o requirements-dev.txt

newest: .venv/dev               # the labs with the newest versions that the loose bounds allow
	ROPE_LAB_NEWEST=1 $(IN) -m pytest -m "deep or not deep" tests/test_wheel.py

mutants: .venv/dev              # 450 small changes of algebra, nn, audit, training, exercises, book/_ext: do their tests notice? About an hour
	nice -n 10 $(IN) tests/mutation/run.py $(ARGS)

proofs:                         # the machine-checked core: proved by Coq, and compared with proofs/theorems.json
	$(or $(PYTHON),python3) proofs/check.py $(ARGS)

lint: .venv/dev node_modules/.bin/biome
	$(IN) -m ruff check .
	$(IN) -m ruff format --check rope_lab tests book benchmarks proofs
	$(IN) -m mypy
	node_modules/.bin/biome ci --error-on-warnings
	$(IN) tests/house.py       # the lines of each room, and its ceiling

clean:
	rm -rf .venv node_modules _build dist conf.py .pytest_cache .ruff_cache .hypothesis

.venv/bin/pip:
	@$(call accepted,$(PYTHON)) || { v=$$($(call version,$(or $(PYTHON),python3))); printf '%s\n' \
		"RoPE Lab needs Python 3.11, 3.12, 3.13 or 3.14; found: $(or $(PYTHON),python3), version $${v:-unknown: it does not run}. To get one:" \
		"  Debian 12 and 13, Ubuntu 24.04 to 26.04: sudo apt-get install python3 python3-venv" \
		"  Ubuntu 22.04: sudo apt-get install python3.11 python3.11-venv" \
		"  Fedora: sudo dnf install python3.14" \
		"  macOS: brew install python@3.14" \
		"  elsewhere: install one beside the system's own, then make PYTHON=/path/to/python3.14"; exit 1; }
	@rm -rf .venv; $(PYTHON) -m venv .venv >/dev/null && test -x $@ || { rm -rf .venv; \
		echo "$(PYTHON) cannot make a virtual environment; on Debian or Ubuntu: sudo apt-get install python$$($(call version,$(PYTHON)))-venv"; exit 1; }

.venv/book: requirements.txt pyproject.toml | .venv/bin/pip
	@echo "Installing what builds the book into .venv (some minutes and 1.5 GB, the first time)"
	$(IN) -m pip install $(HASHED) requirements.txt
	$(IN) -m pip install --quiet $(TORCH)
	$(IN) -m pip install --quiet --no-deps --editable .
	@touch $@

# uv for speed. Each file is compared with its hash, but for torch, whose builds differ, and what its GPU builds bring. pip alone
# fetches torch, since its configuration may name a build (X+cpu counts as newer than X, so uv takes the file that lies there),
# and does all where uv finds no way. Without uv's configuration: that of `make lock` resolves for the oldest Python, and would
# install the pins of that one. Python compiles what is imported, a seventh of all.
.venv/dev: requirements-dev.txt pyproject.toml | .venv/bin/pip
	@echo "Installing what builds and tests the book into .venv (some minutes and 2.7 GB, the first time)"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt > .venv/uv.txt
	$(IN) -m pip install $(HASHED) .venv/uv.txt
	$(IN) -m pip download --quiet --no-deps -d .venv/torch $(TORCH)
	$(IN) -m uv pip install --no-config $(HASHED) requirements-dev.txt || $(IN) -m pip install $(HASHED) requirements-dev.txt
	$(IN) -m uv pip install --no-config --quiet -f .venv/torch $(TORCH) || $(IN) -m pip install --quiet -f .venv/torch $(TORCH)
	$(IN) -m uv pip install --no-config --quiet --no-deps --editable . || $(IN) -m pip install --quiet --no-deps --editable .
	@rm -rf .venv/torch
	@touch .venv/book $@

node_modules/.bin/biome: package-lock.json   # for lint only
	@command -v npm >/dev/null || { echo "The linter of the scripts needs Node; on Debian or Ubuntu: sudo apt-get install nodejs npm; on macOS: brew install node"; exit 1; }
	npm ci --no-audit --no-fund --silent
	@touch $@

.PHONY: tools
tools:
	@command -v $${CXX:-g++} >/dev/null || { echo "The tests compile with torch and need a C++ compiler; on Debian or Ubuntu: sudo apt-get install g++ python3-dev; on macOS: xcode-select --install"; exit 1; }
	@test -n "$$CHROMIUM" || command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v google-chrome >/dev/null || { echo "The tests drive the built site in Chromium; on Debian: sudo apt-get install chromium-headless-shell; elsewhere set CHROMIUM to the path of a Chromium or Chrome"; exit 1; }
