# Mercer by two words: `make demo` and `make test`. Both install what is missing and build what changed.
# SPDX-License-Identifier: BSD-3-Clause
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# One recipe at a time: each runs its own tool in parallel.
.NOTPARALLEL:

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PYTHON := .venv/bin/python
MERCER := build/release/bin/mercer
NAME ?=
PARTS := layers format cpp python cli browser docs
LONG_PARTS := levels asan tsan tidy pip site clone
CXX_FILES = $(shell find include src cli python examples tests bench -name '*.cpp' -o -name '*.hpp')

.PHONY: help setup build demo docs test test-long bench format clean $(addprefix test-,$(PARTS) $(LONG_PARTS))

help:
	@echo "make demo       install what is missing, build, learn from built-in data, write a report"
	@echo "make test       install what is missing, build, run every test"
	@echo
	@echo "make setup      install what is missing (Debian and Ubuntu packages, .venv, web/node_modules)"
	@echo "make build      $(MERCER), libmercer, and mercer for $(PYTHON)"
	@echo "make test-cpp   one part of the tests: $(PARTS)"
	@echo "make test-long  sanitizers, clang-tidy, pip install, a fresh clone: $(LONG_PARTS)"
	@echo "make docs       the documentation as a site, in build/site"
	@echo "make bench      all benchmarks; make bench NAME=GRAM-rbf for one"
	@echo "make format     clang-format-16 over every C++ file"
	@echo "make clean      remove build/ and demo/"

setup:
	@tools/setup.sh

# The extension module is built in the same tree as the library; a path file lets the .venv import it from there.
build: setup
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)
	@echo "$(CURDIR)/build/release/python" >"$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/mercer-build.pth"

demo: build
	@mkdir -p demo
	$(MERCER) learn builtin:waves --out demo/model.mercer --report demo/report.html
	@echo
	@echo "The report is $(CURDIR)/demo/report.html: open it in a browser. The model is $(CURDIR)/demo/model.mercer."

# Warnings, such as a link that leads nowhere, are errors (--strict). The variable silences a notice of the theme that is about other software.
docs:
	@tools/setup.sh docs
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet --strict --clean
	@echo "The site is $(CURDIR)/build/site/index.html: open it in a browser."

# Runs every part even if one fails, so that one run shows all there is to mend.
define run_parts
	@failed=; for part in $(1); do \
	  echo; echo "== $$part"; \
	  $(MAKE) test-$$part || failed="$$failed $$part"; \
	done; echo; \
	if [ -n "$$failed" ]; then echo "FAILED:$$failed   (make test-<part> runs one again)"; exit 1; fi; \
	echo "All tests passed: $(1)."
endef

test: build
	$(call run_parts,$(PARTS))

test-layers:
	@$(PYTHON) tools/check_layers.py

test-format:
	@if command -v clang-format-16 >/dev/null; then \
	  clang-format-16 --dry-run --Werror $(CXX_FILES) && echo "format: $(words $(CXX_FILES)) files are clean"; \
	else echo "format: not checked, clang-format-16 is not here"; fi

test-cpp:
	@ctest --preset release -j $(JOBS) --no-tests=error

test-python:
	@$(PYTHON) -m pytest -q python/tests

test-cli:
	@tools/setup.sh tests
	@$(PYTHON) -m pytest -q $(wildcard tests/cli tests/tools)

# Pages in a real browser, without a network: charts drawn, tooltips, dark, paper. Screenshots are in build/browser.
test-browser:
	@tools/setup.sh tests
	@$(PYTHON) -m pytest -q -rs tests/browser

# The programs of the documentation run and print what the pages say; links, the theory map and the kernel catalogue are checked.
test-docs:
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/docs

test-long: test
	$(call run_parts,$(LONG_PARTS))

# Levels and powers of statistical tests on a thousand simulated data sets each; `make test` has a lighter version.
test-levels:
	@MERCER_LONG_TESTS=1 ctest --preset release -j $(JOBS) --no-tests=error -R '^stats\.'
	@MERCER_LONG_TESTS=1 $(PYTHON) -m pytest -q python/tests -m long || [ $$? -eq 5 ]  # 5: there are none

# leak detection stays on; halt_on_error makes any report a failure.
test-asan:
	@cmake --preset asan >/dev/null && cmake --build --preset asan -j $(JOBS)
	@ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan -j $(JOBS) --no-tests=error -LE install

# The layers that start threads. The sanitizer itself cannot start a thread in a child that was forked beside running ones.
test-tsan:
	@cmake --preset tsan >/dev/null && cmake --build --preset tsan -j $(JOBS) --target $(addprefix test_,core data gram linalg models stats select)
	@TSAN_OPTIONS="halt_on_error=1 suppressions=$(CURDIR)/tests/tsan.supp" \
	  ctest --preset tsan -j $(JOBS) --no-tests=error -R '^(core|data|gram|linalg|models|stats|select)\.' -E ForkWhileAtWork

test-tidy:
	@if command -v clang-tidy-16 >/dev/null; then JOBS=$(JOBS) MERCER_BUILD=build/release tools/tidy.sh --all && echo "clang-tidy: clean"; \
	else echo "clang-tidy: not run, clang-tidy-16 is not here"; fi

test-pip:
	@tests/install/pip.sh

test-site: docs
	@$(PYTHON) tests/docs/check_site.py build/site

test-clone:
	@tests/install/fresh_clone.sh

bench: build
	@$(PYTHON) bench/run.py $(NAME)

format: setup
	@clang-format-16 -i $(CXX_FILES)

clean:
	@rm -rf build demo
	@rm -f .venv/lib/python3.*/site-packages/mercer-build.pth
