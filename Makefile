# The everyday commands. Each installs what it needs and is missing.
SHELL := /bin/bash
.PHONY: build install demo dev test tsan bench soak soak-processes fuzz fmt lint clean

build:
	@scripts/install-deps build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target muster

PREFIX ?= /usr/local

install: build
	install -D -m 755 build/release/muster $(DESTDIR)$(PREFIX)/bin/muster
	install -d $(DESTDIR)$(PREFIX)/share/muster/sdk/python
	cp -R packs $(DESTDIR)$(PREFIX)/share/muster/
	cp -R sdk/python/muster_plugin $(DESTDIR)$(PREFIX)/share/muster/sdk/python/
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	build/release/muster completion bash \
	  >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/muster

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
	@scripts/bench

soak: build
	@scripts/soak

soak-processes: build
	@scripts/install-deps test
	@scripts/soak-processes

fuzz:
	@scripts/install-deps fuzz
	@scripts/fuzz

fmt:
	@scripts/install-deps lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

lint:
	@scripts/install-deps lint
	@scripts/lint

clean:
	rm -rf build
