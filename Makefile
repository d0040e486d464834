# The verbs of the source tree. Each installs what is missing first; `make` alone lists them.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help setup build python run test check bench compare sim fuzz format tidy deb install

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

setup: ## install the Debian packages that are missing (tools/packages)
	@tools/setup

build-%: setup # everything, tests included
	@cmake --preset $* >/dev/null
	@cmake --build --preset $* -j $(JOBS)

build: setup ## release build of what users get; the binary is build/pawl
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target product

python: setup ## the Python package: PYTHONPATH=build/python, a wheel there, a venv with it
	@tools/python

run: build ## pawl serve with a demo upstream, and what to try
	@tools/run

test: setup ## build and run every test, real servers, sanitizers and fuzzers included
	@tools/test

check: setup ## the fast tests, for daily work
	@tools/test dev fast

bench: build-release ## limits and retries beside their peers, as ratios
	@tools/bench

compare: build-release ## pawl beside what people use today
	@tools/compare

sim: build ## the simulator
	@build/release/pawl sim

fuzz: setup ## every fuzzer for SECONDS each (default 60), with other inputs each time
	@tools/test --fuzz-seconds $(SECONDS) --fuzz-seed 0 fuzz

format: setup ## clang-format over every .cc and .h
	@git ls-files -z --cached --others --exclude-standard '*.cc' '*.h' | xargs -0 -r clang-format-19 -i

tidy: build-dev ## clang-tidy over every .cc
	@run-clang-tidy-19 -quiet -j $(JOBS) -p build/dev

deb: build ## the Debian package, in build/
	@cpack -G DEB --config build/release/CPackConfig.cmake -B build

install: build ## install below PREFIX (default /usr/local), DESTDIR respected
	@cmake --install build/release --prefix "$(PREFIX)"
