# Two commands do everything: `make lab` opens the course, `make test` checks it.
PYTHON ?= python3
# more Pythons to check with: make check PYTHONS="python3.12 python3.13"; each gets a .venv-3.NN
PYTHONS ?=
override VENV := .venv
PY := $(VENV)/bin/python
override READY := $(VENV)/.ready
SETTINGS := $(VENV)/share/jupyter/lab/settings
LABCONFIG := $(VENV)/etc/jupyter/labconfig
NO_GRADER := {"disabledExtensions": {"@jupyter/nbgrader": true}}
QUIET := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
FORMGRADER := --ServerApp.open_browser=True --ServerApp.default_url=/formgrader/gradebook \
  --ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=True \
  --ServerApp.jpserver_extensions=jupyterlab=False --ServerApp.terminals_enabled=False
UPLOADS := {"websocket_max_message_size": 268435456}
VOILA_FLAGS := --Voila.ip=127.0.0.1 --template=course --show_tracebacks=False --Voila.tornado_settings='$(UPLOADS)' \
  --MappingKernelManager.cull_idle_timeout=300 --MappingKernelManager.cull_interval=30 \
  --VoilaConfiguration.extension_denylist=@jupyter/nbgrader \
  --VoilaConfiguration.extension_denylist=@jupyter-notebook/lab-extension
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

# .ready holds the folder it was made in: a copied or moved .venv still runs the first one's code
HERE := $(shell test "$$(cat $(READY) 2>/dev/null)" = "$(CURDIR)" && $(PY) -c "" >/dev/null 2>&1 && echo yes)
ifeq ($(wildcard memlib/__main__.py),)
$(error This is not the project's folder: go there, or say make -C FOLDER)
endif

.DEFAULT_GOAL := help
.PHONY: help lab playground check test test-browser demo evaluate refresh vectors exercises locomo bench site verify-ollama anew \
  release collect grade formgrader feedback solution

help: ## list these targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

lab: $(READY) exercises ## set up if needed, copy the exercises into work/, open the course
	$(VENV)/bin/jupyter lab --ServerApp.root_dir="$(CURDIR)" --ServerApp.tornado_settings='$(UPLOADS)' $(ROOT_FLAG) $(LAB_FLAGS) notebooks/00_start_here.ipynb

playground: $(READY) ## compare two configurations on your own memories, as a plain page in the browser
	JUPYTER_PATH=$(CURDIR)/notebooks $(VENV)/bin/voila $(VOILA_FLAGS) $(PLAYGROUND_FLAGS) notebooks/playground.ipynb

check: $(READY) ## lint, types, units, doctests, every notebook cell by cell, widgets [PYTHONS=]
	$(PY) -m tests.stages check $(PYTHONS)

test: $(READY) ## check, and everything else that this machine allows [PYTHONS=]
	$(PY) -m tests.stages test $(PYTHONS)

test-browser: $(READY) ## every notebook and the playground in a real browser (Debian's chromium)
	$(PY) -m pytest tests/browser -m slow

demo: $(READY) ## the published experiment in the terminal (OPTIONS="--help" lists the options)
	@$(PY) -m course demo $(OPTIONS)

evaluate: $(READY) ## which ranking suits your own memory: OPTIONS="--cards … --questions …"
	@$(PY) -m memlib evaluate $(OPTIONS)

refresh: $(READY) ## run every notebook and store its outputs; twice changes no byte
	$(PY) -m tests.notebooks.refresh

vectors: $(READY) ## record what is missing in data/vectors.npy, drop what is unused
	$(PY) -m course.data.vectors

exercises: ## copy the exercises into work/; a file that is there is never overwritten
	@for from in notebooks/exercises/ch*/ch*.ipynb; do \
	  to=work/$${from#notebooks/exercises/}; mkdir -p $$(dirname $$to) || exit 1; \
	  if [ -s $$to ]; then echo "kept   $$to"; else cp $$from $$to.part && mv $$to.part $$to && echo "copied $$to" || exit 1; fi; \
	done

release: $(READY) ## pack the course for students: no answers, searched for leaks first
	@$(PY) -m grader.release

collect: $(READY) ## on a hub: CHAPTER=ch02 HOMES=/home [FILE= INTO=], each notebook with its owner's rights
	@$(PY) -m grader.homes

grade: $(READY) ## grade a class: CHAPTER=ch02 SUBMISSIONS=folder [STUDENTS= AGAIN= JOBS=], SEED exported
	@$(PY) -m grader.grade

formgrader: $(READY) ## mark written answers by hand, in the browser
	@mkdir -p -m 700 grading
	$(VENV)/bin/jupyter server $(ROOT_FLAG) $(FORMGRADER)

feedback: $(READY) ## CHAPTER=ch02: the report again, a page for each student, grading/grades.csv
	@$(PY) -m grader.report "$(CHAPTER)"
	@$(PY) -m grader.pages "$(CHAPTER)"

solution: $(READY) ## CHAPTER=ch02: the solved notebook, run, into grading/solutions/
	@$(PY) -m grader.solution "$(CHAPTER)"

locomo: $(READY) ## measure on LoCoMo, REALTALK and RealMem again (about half an hour; finds or downloads the data)
	$(PY) -m course.measure.locomo
	$(PY) -m course.measure.survivors
	$(PY) -m course.measure.readings
	$(PY) -m course.measure.served

verify-ollama: $(READY) ## compare a live nomic-embed-text with the published cosines
	@$(PY) -m course.measure.verify_ollama

bench: $(READY) ## measure speed and write BENCHMARKS.md
	$(PY) -m pip install -q -e ".[bench]"
	$(PY) -m tests.benchmarks.run

site: $(READY) ## build the course as a website in build/site/, from the stored outputs
	$(PY) -m sphinx -q -W --keep-going -c site -d build/doctrees notebooks build/site
	@echo "Open build/site/index.html: it needs no network."

anew:
$(READY): requirements.txt pyproject.toml $(if $(HERE),,anew)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is missing or older: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(if $(HERE),,$(if $(wildcard $(READY)),--clear)) $(VENV)
	$(PY) -m pip install -r requirements.txt -e .
	@mkdir -p $(SETTINGS) $(LABCONFIG)
	@echo '$(QUIET)' > $(SETTINGS)/overrides.json
	@echo '$(NO_GRADER)' > $(LABCONFIG)/page_config.json
	@echo "$(CURDIR)" > $@
