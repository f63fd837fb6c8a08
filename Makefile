# The everyday commands. Each installs what it needs and is missing.
SHELL := /bin/bash
.PHONY: build demo dev test tsan bench soak soak-processes fmt lint clean

build:
	@scripts/install-deps build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target muster

demo: build
	@scripts/demo

dev: build
	@build/release/muster dev

test:
	@scripts/install-deps test
	@scripts/test

tsan:
	@scripts/install-deps test
	@scripts/test tsan

bench: build
	@scripts/install-deps test
	@MUSTER_BINARY=$(CURDIR)/build/release/muster bench/actions.py

soak: build
	@scripts/soak

soak-processes: build
	@scripts/install-deps test
	@scripts/soak-processes

fmt:
	@scripts/install-deps lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

lint:
	@scripts/install-deps lint
	@scripts/lint

clean:
	rm -rf build
