# Everything installs into .paddock/ on first use; a second run does not install again.
PYTHON ?= python3
ENV := .paddock/env/bin
JOBS ?= 10000
SEED ?= 7
export PYTHONPATH := $(CURDIR)

.PHONY: demo test browser console lint bench simulate deploy setup setup-trainer lock clean

setup:
	@$(PYTHON) local/install.py paddock

setup-trainer: setup
	@$(PYTHON) local/install.py trainer

demo: setup-trainer ## Train a real model on this machine, from a command in a local Slack
	@$(ENV)/python -m local.cli run "/train ernie-cls epochs=3"

console: setup-trainer ## The local stack with its web page; stays up until Ctrl-C
	@$(ENV)/python -m local.cli console

test: setup-trainer ## All tests
	@$(ENV)/python -m tests.browser.chromium || true
	@$(ENV)/python -m pytest -n 2 --dist loadfile

browser: setup ## Chromium and a Chinese font, for the tests of the web page
	@$(ENV)/python -m tests.browser.chromium

lint: setup ## Format, style, types, dependency direction, template
	@$(ENV)/ruff format --check .
	@$(ENV)/ruff check .
	@$(ENV)/mypy
	@$(ENV)/lint-imports --no-cache
	@mkdir -p .build/functions && $(ENV)/cfn-lint template.yaml

simulate: setup ## make simulate JOBS=1000 SEED=7
	@$(ENV)/python -m tests.simulation --jobs $(JOBS) --seed $(SEED)

bench: setup-trainer ## Measurements, side by side with what they compete with
	@$(ENV)/python -m tests.bench.watch_tick
	@.paddock/trainer/bin/python -W ignore -m tests.bench.loop 2>/dev/null

deploy: setup ## Deploy to an AWS account
	@echo "make deploy is not built yet: nothing was deployed." >&2; exit 1

lock: setup ## Renew the lock files from requirements/*.in
	@cd requirements && for name in paddock trainer bootstrap; do \
	  ../.paddock/bootstrap/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --custom-compile-command "make lock" $$name.in -o $$name.txt || exit 1; done
	@cd requirements && ../.paddock/bootstrap/bin/uv pip compile -q --universal --python-version 3.10 --no-deps \
	  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" detect.in -o detect.txt
	@cd requirements && ../.paddock/bootstrap/bin/uv pip compile -q --python-version 3.13 \
	  --python-platform aarch64-manylinux2014 --generate-hashes --no-emit-index-url \
	  --custom-compile-command "make lock" functions.in -o functions.txt
	@cd requirements && ../.paddock/bootstrap/bin/uv pip compile -q --python-version 3.10 \
	  --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url \
	  --custom-compile-command "make lock" image.in -o image.txt

clean: ## Everything that was installed or kept here
	rm -rf .paddock .build
