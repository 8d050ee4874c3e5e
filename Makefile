# One entry for people, continuous integration and hooks. `make help` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUST   := Cargo.toml Cargo.lock $(shell find traces/src simcore/src workloads/src bindings/src -name '*.rs') $(wildcard */Cargo.toml)
OUT    ?= out
WHEELS := target/wheels
# DRAMSim3 is C++, and its crate fits x86-64 only: without CMake and a compiler, or on another processor, the rest is built, and a machine
# that asks for it is told what is missing.
DRAM   := $(if $(and $(filter x86_64,$(shell uname -m)),$(shell command -v cmake),$(shell command -v c++)),,--no-default-features)

# A build from source is for x86-64-v3 (.cargo/config.toml). A wheel runs on others too: PORTABLE=1 builds
# everything as the wheel is built, without symbols too, so that one compilation serves both.
PORTABLE_FLAGS := $(if $(filter x86_64,$(shell uname -m)),-C target-cpu=x86-64-v2)
ifdef PORTABLE
export RUSTFLAGS := $(PORTABLE_FLAGS)
STRIP := --strip
endif

# Profiles of Cargo.toml for the simulator and the wheel, and for Clippy and tests in Rust. Continuous integration has one for all.
BUILD_PROFILE ?= release
TEST_PROFILE  ?= dev

# Cargo uses all cores; it is not to look for jobs of make's.
unexport MAKEFLAGS MFLAGS

.DEFAULT_GOAL := help
.PHONY: help setup demo wheel test test-rust test-python test-nightly test-wheel lint lint-rust lint-python format bench oracles fuzz reproduce check tables check-tables clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

# Everything is pinned: requirements.lock for Python, Cargo.lock for Rust.
$(VENV)/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("memwalk needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@touch $@

$(VENV)/built: $(VENV)/installed $(RUST)
	. $(BIN)/activate && maturin develop --profile $(BUILD_PROFILE) --quiet $(STRIP) $(DRAM) >/dev/null
	@touch $@

setup: $(VENV)/built ## install the dependencies and build the simulator (release) into .venv

demo: setup ## reproduce chapters 2 and 4 of the thesis, page layouts and tables on storage at small sizes: claims tables and figures
	for paper in pax mbsm clotho thesis-ch4 thesis-ch2; do $(BIN)/memwalk reproduce $$paper --scale quick --out $(OUT)/quick || exit; done
	@echo "figures: $(OUT)/quick/*/*/figure.png; published sizes: make reproduce"

reproduce: setup ## reproduce every paper at the published sizes
	$(BIN)/memwalk reproduce all --scale paper --out $(OUT)/paper

wheel: $(VENV)/installed ## build a wheel for any processor of this kind (x86-64-v2 or AArch64) into target/wheels
	rm -rf $(WHEELS)
	. $(BIN)/activate && RUSTFLAGS="$(PORTABLE_FLAGS)" maturin build --profile $(BUILD_PROFILE) --strip --locked --quiet --out $(WHEELS) $(DRAM) >/dev/null

test: setup test-rust test-python test-wheel ## run the tests

# The benchmarks hold no tests. Neither do the bindings, but with them all dependencies have the features that the build has, and are not compiled
# a second time.
test-rust:
	cargo test --profile $(TEST_PROFILE) --workspace --exclude memwalk-benches --locked --quiet $(DRAM)

# A process per core; one that is done takes tests from the others.
test-python: setup
	$(BIN)/python -m pytest -q --numprocesses logical --dist worksteal

# The variable says how many random cases each property has, whatever the property says itself: 4 to 400. So many may reject more.
test-nightly: setup ## run the tests that take long, which `make test` leaves out: docs/extending.md built, large tables against DuckDB, many random cases
	$(BIN)/python -m pytest -q -m nightly
	cargo test --profile $(TEST_PROFILE) --package memwalk-workloads --locked --quiet --test suite -- --ignored
	PROPTEST_CASES=1000 PROPTEST_MAX_GLOBAL_REJECTS=1000000 PROPTEST_MAX_LOCAL_REJECTS=1000000 $(MAKE) test-rust

# In an environment that has nothing but the wheel.
test-wheel: wheel
	$(BIN)/python -m pytest -q tests/wheel --wheels $(WHEELS)

lint: lint-rust lint-python ## formatters, linters and type checks

lint-rust:
	cargo fmt --all --check
	cargo clippy --profile $(TEST_PROFILE) --workspace --all-targets --locked --quiet $(DRAM) -- -D warnings

lint-python: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --verify notebooks/*.ipynb

format: setup ## rewrite the sources in the house style
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

bench: ## time the hot path (criterion), counts beside a bare loop, curves beside separate runs
	cargo bench --locked -p memwalk-benches
	cargo run --locked --release --quiet -p memwalk-benches --bin against-bare
	cargo run --locked --release --quiet -p memwalk-benches --bin against-separate-runs

oracles: setup ## counts of whole address traces against those of other simulators
	$(BIN)/python tests/oracles/counts/check_whole_traces.py

fuzz: ## fuzz every parser for a minute each, four at a time (SECONDS_EACH, JOBS)
	JOBS=$(or $(JOBS),4) fuzz/run

check: setup ## cost models against simulation, simulation against baselines
	$(BIN)/memwalk check

tables: setup ## simulate what the tables of the documents are made from, and write those anew
	$(BIN)/python -m docs.tables --out $(OUT)/tables

check-tables: setup ## the same, compare, and change nothing
	$(BIN)/python -m docs.tables --out $(OUT)/tables --check

clean: ## remove what was built
	rm -rf target $(VENV) $(OUT)
