# Everything a fresh machine with Python 3.11+ and make needs is set up by the targets themselves.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
RELEASE := .venv-release
EXTRAS := .venv-extras
SPARK := .venv-spark
BIN := $(VENV)/bin
SITE := docs/_build/html
SITES := docs/_build/site
REPORT := breast_cancer.html
# Python compiles what it loads, and keeps it, whatever the environment says: the tests start many
# processes. Pip would spend half a minute on all the rest.
export PYTHONDONTWRITEBYTECODE :=
PIP_FLAGS := --quiet --disable-pip-version-check --no-compile
BUILT_FROM := pyproject.toml setup.py $(wildcard src/native/*)
# A process for each processor, so one thread for each: those of BLAS wait for each other in a spin.
# Each process takes files as they come, which share what they draw, and steals when it has none.
PYTEST_FLAGS := --numprocesses auto --dist worksteal
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
SANITIZED := build/sanitize
WATCHED = LD_PRELOAD=$(shell $(CC) -print-file-name=libasan.so) PYTHONMALLOC=malloc \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH=$(CURDIR)/$(SANITIZED)/lib $(ONE_THREAD)
KERNEL_TESTS := tests/test_kernel_calls.py tests/counts tests/matrix tests/criteria/test_steps.py \
	tests/criteria/test_lookahead.py tests/criteria/test_null_best.py
# Two jobs at a time, each telling what it has to tell when it is done.
TWO_JOBS := --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.PHONY: demo test test-newest test-oldest test-all test-extras test-spark lint docs docs-unplotted site bench bench-large \
	fuzz mutants sanitize native-check release-check clean help

help:
	@echo "make demo      install orthoselect into $(VENV), select features of a table, write a report"
	@echo "make test      the whole suite: tests, docstring examples, lint, types, docs, oldest versions"
	@echo "make test-all  the tests on the newest versions, with all random problems (takes a while)"
	@echo "make test-extras  fitted selectors in ONNX and skops files, with the libraries for these"
	@echo "make test-spark   statistics of Spark DataFrames, on a local master (needs Java 17 or newer)"
	@echo "make docs      build the site, gallery and all, into $(SITE)"
	@echo "make site      add the built site to $(SITES), one folder a version, ready for a static host"
	@echo "make bench     speed and memory beside the peers (takes a while; ARGS='--quick' for a smoke run)"
	@echo "make bench-large  tables larger than memory (12 GB of disk, a quarter of an hour)"
	@echo "make fuzz      random problems and broken files, five minutes (ARGS='--minutes 30 --seed 7')"
	@echo "make mutants   change the core in 40 places, see whether tests notice (ARGS='--seed 2' for others)"
	@echo "make sanitize  the kernels' tests and spoiled calls, with a build that watches over memory"
	@echo "make native-check  the kernels' tests with other compilers' builds: warnings are errors, strict C99"
	@echo "make release-check  build sdist and wheels from the last commit, and check all a release needs"
	@echo "make lint      ruff, mypy and the import contract only"
	@echo "make clean     remove the virtual environments, the site and caches"

demo: $(VENV)/.installed-report
	@$(BIN)/python examples/breast_cancer.py
	@$(BIN)/orthoselect select breast_cancer --quiet --format csv --report $(REPORT) > /dev/null
	@echo
	@echo "The report, to open in a browser: $(CURDIR)/$(REPORT)"

# What keeps one processor busy comes in pairs; pytest is busy with all of them.
test:
	@$(MAKE) $(TWO_JOBS) $(VENV)/.installed-test $(OLDEST)/.installed-requirements
	@$(MAKE) $(TWO_JOBS) docs-unplotted lint
	@$(MAKE) --no-print-directory test-newest
	@$(MAKE) --no-print-directory test-oldest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-newest: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m pytest $(PYTEST_FLAGS)

test-all: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m pytest $(PYTEST_FLAGS) --problems all

# The lower bounds of pyproject.toml, really installed and tested, and NumPy without our kernels.
# A page looks the same there; examples, comparisons, the study and what the docs show are for the
# newest versions. Of the random problems a few are enough to call everything that may be missing.
test-oldest: $(OLDEST)/.installed-test
	ORTHOSELECT_NATIVE=0 $(ONE_THREAD) $(OLDEST)/bin/python -m pytest $(PYTEST_FLAGS) tests \
		--problems few --ignore tests/show/test_browser.py --ignore tests/cli/test_docs.py \
		--ignore tests/test_examples.py --ignore tests/study --ignore tests/test_comparison.py \
		--ignore tests/test_notebooks.py

# Libraries that few need, each target with an environment of its own; `make test` skips their tests.
test-extras: $(EXTRAS)/.installed
	$(ONE_THREAD) $(EXTRAS)/bin/python -m pytest tests/test_persistence.py -rs

test-spark: $(SPARK)/.installed
	@command -v java > /dev/null || { echo "Spark needs Java 17 or newer; there is none."; exit 1; }
	$(ONE_THREAD) $(SPARK)/bin/python -m pytest tests/gram/test_spark.py -rs

# Warnings are errors. Examples of the gallery that did not change since are not run again.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going --quiet --fresh-env --builder html \
		--doctree-dir docs/_build/doctrees docs $(SITE)
	@echo "The site: $(SITE)/index.html"

# Copy what a host serves now into $(SITES) before, and it keeps its other versions.
site: docs
	$(BIN)/python docs/_ext/versions.py $(SITE) $(SITES)

# The site without the gallery's figures: the tests run the examples anyway.
docs-unplotted: $(VENV)/.installed-test
	$(BIN)/python -m sphinx -W --keep-going --quiet --fresh-env --builder html \
		--define plot_gallery=0 \
		--doctree-dir docs/_build/doctrees docs docs/_build/unplotted

# Not for CI: it wants a quiet machine. ARGS='--data DIR' adds the real data sets.
bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks $(ARGS)

# Needs 12 GB of disk, a quarter of an hour and a quiet machine.
bench-large: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks large $(ARGS)

# Not for CI: it takes as long as it is given, and every seed tries something else.
fuzz: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m fuzz $(ARGS)

# Not for CI: the build takes minutes. It has a folder of its own, and the package beside it: tests
# find it there, and the usual build stays what it is. Python's own memory leaks on purpose.
sanitize: $(VENV)/.installed-test
	rm -rf $(SANITIZED)
	ORTHOSELECT_SANITIZE=1 $(BIN)/python setup.py --quiet build --build-base $(SANITIZED) \
		--build-lib $(SANITIZED)/lib
	$(WATCHED) $(BIN)/python -c \
		'import orthoselect._native as it; assert it.__file__.startswith("$(CURDIR)/$(SANITIZED)")'
	$(WATCHED) $(BIN)/python -m pytest $(PYTEST_FLAGS) --problems few $(KERNEL_TESTS)
	$(WATCHED) $(BIN)/python -m fuzz kernels --minutes 3 $(ARGS)

# Builds of the kernels as other compilers would make them, each in a folder of its own, and their
# tests. $(1) is the folder's name, $(2) the environment of the build.
define try_kernels
	rm -rf build/$(1)
	$(2) CFLAGS='-Wall -Wextra -Werror' ORTHOSELECT_KERNELS=required $(BIN)/python setup.py --quiet \
		build --build-base build/$(1) --build-lib build/$(1)/lib
	PYTHONPATH=$(CURDIR)/build/$(1)/lib $(BIN)/python -c \
		'import orthoselect._native as it; assert it.__file__.startswith("$(CURDIR)/build/$(1)")'
	PYTHONPATH=$(CURDIR)/build/$(1)/lib $(ONE_THREAD) $(BIN)/python -m pytest $(PYTEST_FLAGS) \
		--problems few $(KERNEL_TESTS)
endef

# Not for CI: the builds take minutes. What Microsoft's compiler gets is tried in strict C99.
native-check: $(VENV)/.installed-test
	$(call try_kernels,native-gcc,CC=gcc)
	$(call try_kernels,native-plain,CC=gcc ORTHOSELECT_PLAIN_C=1)
ifneq ($(shell command -v clang),)
	$(call try_kernels,native-clang,CC=clang LDSHARED='clang -shared')
else
	@echo "There is no clang here: a build with it was not tried."
endif

# Not for CI: it builds everything from a clone of the last commit.
release-check: $(RELEASE)/.installed docs-unplotted native-check
	$(RELEASE)/bin/python -m release $(ARGS)

# Not for CI: it takes long, and a change that survives has to be looked at.
mutants: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python tests/mutants.py $(ARGS)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "orthoselect needs Python 3.11 or newer; set PYTHON=python3.11, say."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created $(BUILT_FROM)
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable .
	@touch $@

$(VENV)/.installed-report: $(VENV)/.created $(BUILT_FROM)
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[report]'
	@touch $(VENV)/.installed $@

# Each install builds the kernels again, so tests and docs share one.
$(VENV)/.installed-test: $(VENV)/.created $(BUILT_FROM)
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[test,docs]'
	@touch $(VENV)/.installed $(VENV)/.installed-report $(VENV)/.installed-docs $@

$(VENV)/.installed-docs: $(VENV)/.created $(BUILT_FROM)
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[docs]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-bench: $(VENV)/.installed benchmarks/requirements.txt
	$(BIN)/python -m pip install $(PIP_FLAGS) --requirement benchmarks/requirements.txt
	@touch $@

$(RELEASE)/.installed: requirements/release.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install $(PIP_FLAGS) --requirement $<
	@touch $@

$(EXTRAS)/.installed: requirements/extras.txt pyproject.toml
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install $(PIP_FLAGS) --requirement $< --editable '.[onnx]'
	@touch $@

$(SPARK)/.installed: requirements/spark.txt pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install $(PIP_FLAGS) --requirement $< --editable '.[spark]'
	@touch $@

$(OLDEST)/.installed-requirements: requirements/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install $(PIP_FLAGS) --requirement $<
	@touch $@

# Without a compiler: the kernels are not used there, and take a while to build.
$(OLDEST)/.installed-test: $(OLDEST)/.installed-requirements pyproject.toml
	CC=none $(OLDEST)/bin/python -m pip install $(PIP_FLAGS) --no-deps --editable .
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(RELEASE) $(EXTRAS) $(SPARK) .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache \
		docs/_build docs/gallery docs/generated build
