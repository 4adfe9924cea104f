# Dragoman from its root. `make help` lists what there is.
#
# HOST, PORT, MODEL and every other option of the service come from the environment: PORT=9000 make serve
# TORCH_INDEX   address of a wheel index to take torch from, such as the one for CPU builds that PyTorch's
#               own installation page shows. Without it: a wheel in wheels/, else what pip is set up to
#               find, which on Linux x86-64 may be a CUDA build of several GB.
# PYTHON        the Python (3.11 or newer) that .venv is made with; else the first one found
# ARGUMENTS     more arguments for pytest: make test ARGUMENTS='tests/model -k beam'
# CHROMIUM      the browser of `make test-browser`; else the first one found

# Where another process has one of the cores, torch's threads would spend most of their time spinning for
# each other: a sentence then takes ten seconds rather than a fifth of one. Let them sleep.
export OMP_WAIT_POLICY ?= PASSIVE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCKS := requirements/torch.lock requirements/serve.lock requirements/dev.lock requirements/browser.lock \
	requirements/exchange.lock
PIP_TOOLS := pip-tools==7.6.2

# A stamp is named by the checksum of all locks: what is installed is stale when a lock says something
# else, not when a file was touched, and a warm start asks pip nothing.
KEY := $(shell cat $(LOCKS) 2>/dev/null | cksum | tr ' ' -)
SERVE := $(VENV)/.stamps/$(KEY)-serve
DEV := $(VENV)/.stamps/$(KEY)-dev
BROWSER := $(VENV)/.stamps/$(KEY)-browser
CLIENT_FILES := requirements/clients.lock requirements/clients-older.lock tests/clients/node/package-lock.json
CLIENTS := $(VENV)/.stamps/$(shell cat $(CLIENT_FILES) 2>/dev/null | cksum | tr ' ' -)-clients
EXCHANGE := $(VENV)/.stamps/$(KEY)-exchange

.PHONY: pictures serve install install-exchange install-mtdata test test-slow test-browser test-clients test-exchange benchmark-http benchmark-multi30k benchmark-ablation check format docker-check lock clean help

serve: $(SERVE) ## Start the service on http://127.0.0.1:8000 with the bundled model
	@exec $(BIN)/python -m service

install: $(DEV) ## Install what serving, training and tests need into .venv

install-exchange: $(EXCHANGE) ## Install what models are exported with: CTranslate2, ONNX

test: $(DEV) ## Run the tests, but for the slow ones
	$(BIN)/python -m pytest $(ARGUMENTS)

test-slow: $(DEV) ## Run the slow tests
	$(BIN)/python -m pytest -m slow $(ARGUMENTS)

test-browser: $(BROWSER) ## Run the tests of the pages in a real Chromium
	CHROMIUM="$$(deploy/find-chromium.sh)" && export CHROMIUM && $(BIN)/python -m pytest tests/browser $(ARGUMENTS)

test-exchange: $(EXCHANGE) ## Run the tests of export, import and benchmarks against the other engines
	$(BIN)/python -m pytest tests/model/exchange tests/benchmarks $(ARGUMENTS)

# Where the corpora lie, if they are not to be downloaded: CORPORA=DIR.
benchmark-multi30k: $(DEV) ## Train three seeds on Multi30k and print the table of scores: hours
	$(BIN)/python -m training.fetch multi30k-en-de $(if $(CORPORA),--from $(CORPORA))
	$(BIN)/python -m benchmarks.multi30k $(ARGUMENTS)

benchmark-ablation: $(DEV) ## Train the variants of the model on Multi30k and print what each is worth: hours
	$(BIN)/python -m training.fetch multi30k-en-de $(if $(CORPORA),--from $(CORPORA))
	$(BIN)/python -m benchmarks.ablation $(ARGUMENTS)

benchmark-http: $(EXCHANGE) ## Put the service under load, beside a server around CTranslate2: half an hour
	$(BIN)/python benchmarks/http.py $(ARGUMENTS)

test-clients: $(DEV) $(CLIENTS) ## Put real clients of other services before this one (needs Node.js)
	CLIENTS=$(abspath $(VENV)/clients) $(BIN)/python -m pytest tests/clients $(ARGUMENTS)

check: $(DEV) ## Lint, and check the format and the types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(DEV) ## Format the code, and mend what lint can mend
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

# The pictures of docs/how-it-works.md, of the bundled model.
SENTENCE := I would like a cup of coffee, please.
pictures: $(EXCHANGE) ## Draw the pictures of docs/how-it-works.md anew
	for picture in flow.svg heads.png cross.svg choices.svg beam.svg positions.png; do \
		name=$${picture%.*}; [ $$name != cross ] || name=cross.3.2; \
		$(BIN)/python -m model.inspect pretrained/en-de '$(SENTENCE)' --source-language en --target-language de \
			--picture $$name --output docs/images/$$picture || exit 1; \
	done

docker-check: ## Build the image and put it to the test, if there is an engine
	deploy/check-image.sh

COMPILE := CUSTOM_COMPILE_COMMAND="make lock" $(VENV)/lock/bin/pip-compile --quiet --generate-hashes \
	--strip-extras --no-emit-index-url --no-emit-options --annotation-style=line --unsafe-package torch $(UPGRADE)

lock: $(BIN)/python ## Write the locks anew from pyproject.toml (UPGRADE=--upgrade takes the newest)
	$(BIN)/python -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --disable-pip-version-check --quiet $(PIP_TOOLS)
	echo "# Made by make lock. Apart from the others: its build is chosen as it is installed (TORCH_INDEX)." >requirements/torch.lock
	grep -o 'torch==[0-9.]*' pyproject.toml >>requirements/torch.lock
	$(COMPILE) -o requirements/serve.lock pyproject.toml
	$(COMPILE) -o requirements/dev.lock -c requirements/serve.lock --extra training --extra dev pyproject.toml
	$(COMPILE) -o requirements/browser.lock -c requirements/dev.lock --extra browser pyproject.toml
	$(COMPILE) -o requirements/exchange.lock -c requirements/dev.lock --extra exchange pyproject.toml
	$(COMPILE) -o requirements/mtdata.lock requirements/mtdata.in
	$(COMPILE) -o requirements/clients.lock requirements/clients.in
	$(COMPILE) -o requirements/clients-older.lock requirements/clients-older.in
	npm install --package-lock-only --omit-lockfile-registry-resolved --silent --prefix tests/clients/node
	sed -i.old '/^# WARNING/,$$d' requirements/*.lock && rm requirements/*.lock.old

install-mtdata: $(VENV)/mtdata/bin/mtdata ## Install mtdata, beside the rest, for `training.fetch mtdata:ID`

$(VENV)/mtdata/bin/mtdata: requirements/mtdata.lock | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/mtdata
	$(VENV)/mtdata/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r $<
	@touch $@

clean: ## Delete .venv and every cache
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis tests/clients/node/node_modules
	find . -name __pycache__ -prune -exec rm -rf {} +

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Every wheel but torch's is held to the hashes of its lock. Torch comes after them, so that all it needs
# is there already: TORCH_INDEX then has to offer nothing else.
$(SERVE): | $(BIN)/python
	@echo 'Installing what serving needs into $(VENV); a minute or two, and only this once.'
	@$(PIP) install --quiet --require-hashes -r requirements/serve.lock
	@$(PIP) install --quiet $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(if $(wildcard wheels/*.whl),--find-links wheels) -r requirements/torch.lock
	@mkdir -p $(@D) && touch $@

$(DEV): $(SERVE)
	@echo 'Installing what training and tests need.'
	@$(PIP) install --quiet --require-hashes -r requirements/dev.lock
	@touch $@

$(BROWSER): $(DEV)
	@$(PIP) install --quiet --require-hashes -r requirements/browser.lock
	@touch $@

$(EXCHANGE): $(DEV)
	@$(PIP) install --quiet --require-hashes -r requirements/exchange.lock
	@touch $@

# Two environments, since some clients insist on older versions of others.
$(CLIENTS): | $(BIN)/python
	@echo 'Installing the clients into $(VENV)/clients and tests/clients/node.'
	@$(BIN)/python -m venv $(VENV)/clients/current && $(BIN)/python -m venv $(VENV)/clients/older
	@$(VENV)/clients/current/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements/clients.lock
	@$(VENV)/clients/older/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements/clients-older.lock
	@if command -v npm >/dev/null; then npm ci --silent --no-audit --no-fund --prefix tests/clients/node; \
	else echo 'Node.js was not found: its clients will be left out.' >&2; fi
	@mkdir -p $(@D) && touch $@

$(BIN)/python:
	@for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python); do \
		if "$$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "$$python -m venv $(VENV)"; exec "$$python" -m venv $(VENV); \
		fi; \
	done; \
	echo 'No Python 3.11 or newer with venv and pip was found (looked for: $(or $(PYTHON),python3.11 … python3.14, python3, python)).' >&2; \
	echo 'Install one (on Debian: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python3.11' >&2; \
	exit 1
