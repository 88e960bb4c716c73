# Two commands matter: `make demo` shows what the project does, `make test` checks all of it.
# Both create the environment first; see CONTRIBUTING.md. `make help` lists all targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALLED := $(VENV)/.installed
CHECKED := schema_core properties tests fuzz docs
# Workers for the tests: one a core, but Spark wants memory as well.
JOBS ?= 2
# Containers often forbid files of bytecode. Every worker, Python worker of Spark and program that a
# test starts would compile all modules that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Programs that run a few queries each: the second compiler costs their JVM more than it saves, a
# third of its processor time over 1,750 queries.
export SPARK_SUBMIT_OPTS ?= -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xmn400m

.PHONY: help quick commits demo test test-slow test-connect test-random coverage slow-tests env lint format types agreement postgresql mariadb pytest floors lock docs fuzz oracle release test-extras test-pythons test-lowest pyright clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## run a job on real data
	$(BIN)/python docs/examples/flights.py

# The types, the agreement and the installation of PostgreSQL do not depend on each other.
test: lint ## run all checks but the slowest tests, as continuous integration does
	$(MAKE) --jobs=2 types agreement postgresql
	$(MAKE) pytest

env: $(INSTALLED) ## create the environment in .venv

# Everything is pinned by the lock, the build backend too, so nothing else is resolved here. uv takes
# a third of the time of pip, but does not read the settings of pip: those of an index, for instance.
$(INSTALLED): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-deps $$(grep '^uv==' requirements.lock)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --requirement requirements.lock || \
	$(PIP) install --quiet --no-deps --no-compile --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lint: $(INSTALLED) ## check with ruff
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)

format: $(INSTALLED) ## format with ruff
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

types: $(INSTALLED) ## check types with mypy
	$(BIN)/mypy --num-workers $(JOBS) $(CHECKED)

agreement: $(INSTALLED) ## compare with recorded answers of Flink
	$(BIN)/python -m properties.agreement

# After an improvement: record the higher figures as the new minimum.
floors: $(INSTALLED) ## record higher figures of agreement as the minimum
	$(BIN)/python -m properties.agreement --raise-floors

# For the tests of catalogs and of the connector jdbc: Debian's PostgreSQL and JDBC drivers, where
# there are none and we may install them. Without them these tests are skipped, with the reason.
DRIVERS := libpostgresql-jdbc-java libxerial-sqlite-jdbc-java
postgresql: ## install the databases of the tests, if possible
	@{ command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; } && \
	ls /usr/share/java/postgresql.jar /usr/share/java/sqlite-jdbc.jar >/dev/null 2>&1 || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update && apt-get install -y --no-install-recommends postgresql $(DRIVERS); } >/dev/null 2>&1; } || \
	echo 'no PostgreSQL or drivers: their tests are skipped (apt-get install postgresql $(DRIVERS))'

# For a slow test of dialects: the server and the client of MariaDB, which start no service.
MARIADB := mariadb-server-core mariadb-client-core
mariadb:
	@{ PATH="$$PATH:/usr/sbin"; command -v mariadbd && command -v mariadb; } >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update && apt-get install -y --no-install-recommends $(MARIADB); } >/dev/null 2>&1; } || \
	echo 'no MariaDB: its test is skipped (apt-get install $(MARIADB))'

# Hypothesis looks harder here than in a bare `pytest` (tests/conftest.py). Slow tests are separate:
# `make test test-slow` before a release, and after a change of what they test (tests/slow_tests.py).
PYTEST := HYPOTHESIS_PROFILE=ci $(BIN)/pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder
pytest: $(INSTALLED) postgresql ## run the tests of `make test`
	$(PYTEST) -m 'not slow'

# Tests without Spark of the packages that differ from the branch main, or from the commit before.
quick: lint types ## check what has changed, without Spark, in about a minute once mypy has a cache
	$(PYTEST) -m 'not slow and not spark' $$($(BIN)/python -m tests.changes)

RANGE ?= origin/main..HEAD
commits: $(INSTALLED) ## check the subjects of the commits of RANGE
	$(BIN)/python -m tests.commits $(RANGE)

test-slow: $(INSTALLED) postgresql mariadb ## run the tests that `make test` leaves out
	$(PYTEST) -m slow

coverage: $(INSTALLED) postgresql ## measure the lines and branches that `make test` executes
	$(PYTEST) -m 'not slow' --cov --cov-report=term

test-random: $(INSTALLED) ## run the tests without Spark in a random order
	$(PYTEST) -m 'not slow and not spark' -p randomly

slow-tests: $(INSTALLED) postgresql mariadb ## measure all tests, and list the slow ones
	$(PYTEST) --durations=0 --durations-min=0.05 >durations.log; tail -1 durations.log
	$(BIN)/python -m tests.slow_tests durations.log
	rm durations.log

# The tests of jobs once more, over a server of Spark Connect; those that need the JVM are skipped.
test-connect: $(INSTALLED) postgresql ## run the tests of jobs over Spark Connect
	$(PYTEST) --connect -m spark tests/spark

# What a new environment with every extra gets today becomes what everybody gets.
lock: ## pin what a new environment gets today
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --editable '.[all,dev,demo,docs]'
	$(VENV)-lock/bin/python -m pip freeze --exclude-editable > requirements.lock.new
	rm -rf $(VENV)-lock
	{ echo '# Written by `make lock`: exact versions of all extras. Edit pyproject.toml instead.'; \
	  cat requirements.lock.new; } > requirements.lock
	rm requirements.lock.new

# The site in `site`: `python -m http.server --directory site` serves it. Neither this nor the pages
# use the network. Strict: a warning, such as that of a dead link, is an error.
docs: $(INSTALLED) ## build the site of the documentation
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Every target in turn, a minute each: for target in fuzz/fuzz_*.py.
SECONDS ?= 60
fuzz: $(INSTALLED) ## run every fuzz target, SECONDS each
	set -e; for target in fuzz/fuzz_*.py; do $(BIN)/python -m fuzz.$$(basename $$target .py) --seconds $(SECONDS); done

# The real Flink (a download of 330 MB and a JDK): see fuzz/oracle/PROTOCOL.md.
oracle: $(INSTALLED) ## download Flink, to compare with
	PYTHON=$(BIN)/python sh fuzz/oracle/setup.sh .oracle

# The wheel and the sdist of the commit, in `dist`. Two builds in different directories must have the
# same bytes; twine is downloaded.
release: $(INSTALLED) ## build the wheel and the sdist, check and install them
	$(BIN)/python -m tests.release.distributions dist
	$(BIN)/python -m tests.release.installed dist

# Each extra in a new environment without the others, and the demo without an installed Java.
test-extras: $(INSTALLED) ## test each extra in an environment of its own
	$(BIN)/python -m tests.release.extras

# The tests of the core on other versions of Python, as far as they are installed.
test-pythons: $(INSTALLED) ## test the core on other versions of Python
	$(BIN)/python -m tests.release.pythons

# The lowest versions of all dependencies: the tests of the core and of the command, a job, the demo.
test-lowest: $(INSTALLED) ## test the lowest versions of dependencies
	$(BIN)/python -m tests.release.lowest

# What pyright knows of the public names, and the examples in its strict mode.
pyright: $(INSTALLED) ## check the public names with pyright
	$(BIN)/python -m tests.release.public_types

clean: ## remove everything that make has created
	rm -rf $(VENV) $(VENV)-lock .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse site dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
