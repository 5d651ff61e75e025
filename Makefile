# A thin layer over CMake. `make` needs a C compiler; whatever else a target needs, it
# installs (Debian packages through scripts/need, Python packages into build/venv).
#
#   make             build/arenaut and the libraries
#   make demo        plan a real model, show before and after, draw the picture
#   make test        everything: form, lint, unit tests under sanitizers, the command, the runtimes
#   make test-quick  form, and the unit tests without sanitizers and without the slow ones
#   make test-unit   the unit tests as gcc builds a release (test-release), and with clang under sanitizers (test-sanitized)
#   make test-gcc-sanitized  the same with gcc under its own; make test-memory-sanitized: with clang under MemorySanitizer
#   make test-arm    the unit tests on 32-bit ARM, by QEMU
#   make analyze     what clang's analyzer doubts, into build/analyze.log
#   make coverage    lines that the unit tests run, by room, and errors that none has caused
#   make test-python the command and the real runtimes
#   make format      all C in the form of .clang-format; make format-check says what is not
#   make lint        clang-tidy, ruff, shellcheck, lengths and names (scripts/lint.py)
#   make page        the page that `view` writes, from explorer/ (needs Node; building does not)
#   make browser     build/arenaut.html: the whole command, for WebAssembly, in one page that sends nothing
#   make site        the documentation as a site, into build/site: pages, API, gallery, notebook
#   make dist        the source archive of this commit, its checksum and bill of materials, into build/dist
#   make release     all that is published, with SHA256SUMS: dist, wheel, binaries, deb, recipes
#   make binaries    the command as one file, for Linux and Windows on two processors each, into build/dist
#   make deb         Debian's packages of the archive, held against lintian, installed in a clean Debian (needs root)
#   make recipes     those of packaging/ for the archive (Homebrew, vcpkg, conda, Nix); make recipes-tried builds by them
#   make wheel       the Python packages for Linux and Windows, into build/dist/python
#   make foreign-wheels  those for musl, aarch64 and Windows answer as the command here does (needs root, after make wheel)
#   make pypy        the wheel's tests with PyPy, in a folder that holds Debian's next release (needs root)
#   make figures     those of docs/python.md: the wheel beside omnimalloc, and many models at once
#   make hosts-table what the planners of other frameworks waste (docs/hosts.md); HOSTS="XLA tinygrad": these, and what is kept
#   make bench       our planners beside the peers (bench/)
#   make fuzz        libFuzzer on the readers, FUZZ_SECONDS each; random ops that overlap, in the wheel
#   make oss-fuzz    packaging/oss-fuzz as OSS-Fuzz builds and runs it, FUZZ_SECONDS each fuzzer
#   make portable    the same answers on a big-endian 32-bit machine (MIPS under QEMU)
#   make windows     the same answers and files on 64-bit Windows (mingw-w64, wine), and the unit tests
#   make micro-runtime  tflite-micro for 32-bit ARM, a Cortex-M55 and here, from an archive of its sources where
#                       ../shared/sources or MICRO_SOURCES=FILE has one (`make test` needs it), else from the network
#   make install     PREFIX=/usr/local

CMAKE_FLAGS ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
MAKEFLAGS += --no-print-directory
JOBS := $(shell nproc 2>/dev/null || echo 2)
PYTHON := build/venv/bin/python
LINT := build/venv-lint/bin
CONFIGURE = cmake -S . -G "Unix Makefiles"
# What Python compiles is kept beside the builds, even where the environment has it kept nowhere: pip compiles nothing
# here, and each of many processes would compile PyTorch's thousands of modules anew.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX = $(CURDIR)/build/bytecode

.PHONY: all coverage dist deb recipes recipes-tried binaries release demo test test-quick test-unit test-release test-sanitized test-gcc-sanitized test-memory-sanitized test-arm analyze test-python downloads format format-check lint bench fuzz oss-fuzz portable windows \
  micro-runtime micro-runtime-kept tools-micro page browser wheel site figures pypy foreign-wheels install clean tools-build tools-test tools-python tools-page tools-planner \
  venv venv-lint venv-wheel venv-site venv-hosts hosts-table

all: build/Makefile
	@cmake --build build -j$(JOBS)

build/Makefile: CMakeLists.txt | tools-build
	@$(CONFIGURE) -B build $(CMAKE_FLAGS) >/dev/null

tools-build:
	@scripts/need cmake:cmake cc:gcc

dist:
	@scripts/need git:git
	@scripts/dist.sh

deb: dist
	@scripts/need dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian mmdebstrap:mmdebstrap
	@scripts/deb.sh

recipes: dist
	@scripts/recipes.sh

recipes-tried: recipes
	@scripts/need ruby:ruby nix-instantiate:nix-bin
	@tests/recipes/run.sh

binaries: venv-wheel tools-build
	@scripts/binaries.sh

release: dist wheel binaries deb recipes browser
	@cp build/arenaut.html build/dist/arenaut-$$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$$/\1/p' include/arenaut/version.h).html
	@python3 scripts/sbom.py
	@scripts/checksums.sh

demo: tools-build
	@scripts/quietly build/demo/build.log $(MAKE) all
	@sh examples/demo.sh

# Four of its builds are the same release with the same flags (of the unit tests, of the library that is part of a
# project, of the wheel, and build/): ccache compiles it once, where all of them call the compiler by one name. What the
# tests in Python want is downloaded while form, lint and unit tests use the processors; the sanitized unit tests run beside
# those in Python, which leave processors idle where they wait for browsers, installers and clusters. Of what repeats, an
# eighth is tried (tests/support/drawn.h, tests/models/drawn.py), and a thirty-second under sanitizers, where a case takes
# longest and the release has tried that eighth: each part alone tries all, and so does the night.
test: export ARENAUT_ONE_OF = 8
test: export CC = gcc
test: tools-test
	@scripts/beside build/downloads.log "$(MAKE) downloads" $(MAKE) format-check lint test-release
	@scripts/beside build/test-sanitized.log "$(MAKE) test-sanitized ARENAUT_ONE_OF=32" \
	  $(MAKE) test-python CMAKE_FLAGS="$(COMPILED_ONCE) $(QUIETLY) $(CMAKE_FLAGS)"
	@scripts/count_skipped build/test-*/Testing/Temporary/LastTest.log

downloads: venv venv-wheel venv-site venv-hosts tools-python tools-page tools-planner $(if $(MICRO_SOURCES),tools-micro)

tools-test:
	@scripts/need cmake:cmake ninja:ninja-build cc:gcc c++:g++ clang:clang ld.lld:lld ccache:ccache pkg-config:pkgconf \
	  /usr/share/doc/libclang-rt-dev:libclang-rt-dev \
	  /usr/include/cmocka.h:libcmocka-dev python3:python3 \
	  /etc/OpenCL/vendors/pocl.icd:pocl-opencl-icd \
	  /usr/share/doc/ocl-icd-libopencl1:ocl-icd-libopencl1 \
	  /usr/include/CL/cl.h:opencl-headers /usr/share/doc/ocl-icd-opencl-dev:ocl-icd-opencl-dev
	@$(VENV_NEEDED)

# By gcc as users build it, and by clang under AddressSanitizer and UBSan; gcc's sanitizers take twice clang's time to
# compile and find little else: they are for the night. No unit test runs the command, which is not built here: clang
# warns of its sources where they are compiled for WebAssembly, of os_posix.c here (tests/CMakeLists.txt), and never of
# os_windows.c, which mingw-w64's gcc compiles. -g1: lines for what is found.
COMPILED_ONCE = -DARENAUT_WERROR=ON -DCMAKE_C_COMPILER_LAUNCHER=ccache
# A process for each object would say its name.
QUIETLY = -DCMAKE_RULE_MESSAGES=OFF
RELEASE = -DCMAKE_BUILD_TYPE=Release -DARENAUT_TESTS=ON $(COMPILED_ONCE)
SANITIZED = -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O1 -g1 -fdebug-prefix-map=$(CURDIR)=." \
  -DCMAKE_EXE_LINKER_FLAGS=$(LINKER) -DCMAKE_C_COMPILER_LAUNCHER=ccache \
  -DARENAUT_TESTS=ON -DARENAUT_TOOL=OFF -DARENAUT_WERROR=ON -DARENAUT_SANITIZE=address,undefined
LINKER = -fuse-ld=lld
# make would start several processes for each of the hundred programs.
CONFIGURE_UNIT = cmake -S . -G Ninja
UNIT = $(CONFIGURE_UNIT) -B build/$(1) $(2) >/dev/null && scripts/quietly build/$(1).log cmake --build build/$(1) -j$(JOBS) && \
  ctest --test-dir build/$(1) -j$(JOBS) --output-on-failure
# A sanitized build shares nothing with the others, and its objects do not say where the checkout is: ccache knows
# them in the next checkout, too.
# Where memory came from is noted in three frames, not in thirty: what is found is the same, and a test that is run by
# hand says them all.
ASAN_OPTIONS ?= malloc_context_size=3
UNIT_SANITIZED = export CCACHE_BASEDIR=$(CURDIR) ASAN_OPTIONS=$(ASAN_OPTIONS) && $(UNIT)
test-unit: test-release test-sanitized

test-release: tools-test
	@CC=gcc && export CC && $(call UNIT,test-gcc,$(RELEASE))

test-sanitized: tools-test
	@CC=clang && export CC && $(call UNIT_SANITIZED,test-clang,$(SANITIZED))

test-gcc-sanitized: tools-test
	@CC=gcc && export CC && $(call UNIT_SANITIZED,test-gcc-sanitized,$(SANITIZED))

# cmocka is not instrumented: it hands over no memory that it has not written. Nor are OpenCL's loader and drivers,
# which hand over names that the sanitizer did not see them read: none is found, and their tests skip.
test-memory-sanitized: tools-test
	@CC=clang OCL_ICD_VENDORS=/nonexistent && export CC OCL_ICD_VENDORS && $(call UNIT_SANITIZED,test-memory-sanitized,$(subst address$(COMMA)undefined,memory,$(SANITIZED)))
COMMA = ,

# Sizes and alignments of a Cortex-M, by QEMU, with Debian's cmocka cross-built.
ARM = -DCMAKE_BUILD_TYPE=Release -DARENAUT_TESTS=ON -DARENAUT_WERROR=ON -DARENAUT_TOOL=OFF \
  -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/arm-linux.cmake \
  -DCMOCKA=$(CURDIR)/build/arm-cmocka/libcmocka.a "-DCMAKE_C_FLAGS=-isystem $(CURDIR)/build/arm-cmocka/include"
test-arm: tools-test
	@scripts/need arm-linux-gnueabihf-g++:g++-arm-linux-gnueabihf qemu-arm-static:qemu-user-static xz:xz-utils
	@scripts/cross_cmocka.sh cmake/arm-linux.cmake $(CURDIR)/build/arm-cmocka
	@export QEMU_LD_PREFIX=/usr/arm-linux-gnueabihf && $(call UNIT,test-arm,$(ARM))

# Clang's analyzer sees one file at a time, so that it doubts what another file's function promises: its list is for
# reading, and fails nothing.
ANALYZE = clang --analyze -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itools -Ibuild/generated -Xclang -analyzer-output=text
analyze: all
	@scripts/need clang:clang
	@find src tools -name '*.c' ! -name 'os_w*.c' | xargs -P$(JOBS) -n 4 sh -c \
	  'for file; do $(ANALYZE) -o /dev/null "$$file" || exit 255; done' - >build/analyze.log 2>&1
	@sed -n 's/.*warning: .*\[\(.*\)\]$$/\1/p' build/analyze.log | sort | uniq -c
	@echo "build/analyze.log: $$(grep -c 'warning:' build/analyze.log) of clang's analyzer"

# Of the unit tests, by room, and below them the errors that no test has caused. The command's own tests run another
# build, so tools/ is not counted.
coverage: tools-test
	@CC=gcc $(CONFIGURE) -B build/coverage -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O0 --coverage" -DARENAUT_TESTS=ON >/dev/null
	@cmake --build build/coverage -j$(JOBS)
	@find build/coverage -name '*.gcda' -delete
	@ctest --test-dir build/coverage -j$(JOBS) --output-on-failure
	@python3 scripts/coverage.py build/coverage
	@python3 scripts/coverage.py build/coverage --errors >build/coverage/errors
	@echo "build/coverage/errors: $$(wc -l <build/coverage/errors) errors that no test has caused"

# OpenCL is not installed for this: its test skips where there is none.
test-quick: format-check
	@scripts/need cmake:cmake cc:gcc /usr/include/cmocka.h:libcmocka-dev
	@$(CONFIGURE) -B build/test-quick -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 \
	  -DARENAUT_TESTS=ON -DARENAUT_WERROR=ON >/dev/null
	@cmake --build build/test-quick -j$(JOBS)
	@ctest --test-dir build/test-quick -j$(JOBS) -LE slow --output-on-failure
	@scripts/count_skipped build/test-quick/Testing/Temporary/LastTest.log

# A virtual environment is made anew whenever its list of packages changes. Python compiles the modules that are
# imported; of 30,000 that is a part.
VENV_NEEDED = python3 -c 'import ensurepip, venv' 2>/dev/null || scripts/need python3:python3 /nonexistent:python3-venv
venv: build/venv/.ready
venv-lint: build/venv-lint/.ready
venv-wheel: build/venv-wheel/.ready
venv-site: build/venv-site/.ready
venv-hosts: build/venv-hosts/.ready
build/venv/.ready: tests/requirements.txt
build/venv-lint/.ready: tests/requirements-lint.txt
build/venv-wheel/.ready: tests/requirements-wheel.txt
build/venv-site/.ready: tests/requirements-site.txt
build/venv-hosts/.ready: tests/requirements-hosts.txt
# Nothing installs into two of them later: they have no pip of their own, which takes longer to make than to use another.
# Not that of venv-lint, which `make test` makes meanwhile.
build/venv-site/.ready build/venv-hosts/.ready: private WITHOUT_PIP = --without-pip
build/venv-site/.ready build/venv-hosts/.ready: | build/venv-wheel/.ready
build/venv/.ready build/venv-lint/.ready build/venv-wheel/.ready build/venv-site/.ready build/venv-hosts/.ready:
	@mkdir -p build
	@if [ -L $(@D) ]; then echo "$(@D) is a link: make it anew where it lies" >&2; exit 1; fi
	@$(VENV_NEEDED)
	@python3 -m venv --clear $(WITHOUT_PIP) $(@D)
	@$(if $(WITHOUT_PIP),build/venv-wheel,$(@D))/bin/python -m pip --python $(@D)/bin/python -q --disable-pip-version-check \
	  install --no-compile -r $<
	@touch $@

C_FILES = git ls-files '*.c' '*.h'

format: venv-lint
	@$(C_FILES) | xargs $(LINT)/clang-format -i

format-check: venv-lint
	@$(C_FILES) | xargs $(LINT)/clang-format --dry-run --Werror

lint: venv-lint tools-build
	@$(CONFIGURE) -B build/lint -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	@$(LINT)/python scripts/lint.py

# esbuild and the rest of what explorer/ is made and tested with. The browser is any Chromium.
tools-page: explorer/node_modules/.ready
	@command -v google-chrome >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || \
	  scripts/need chromium:chromium
explorer/node_modules/.ready: explorer/package-lock.json
	@scripts/need node:nodejs npm:npm
	@cd explorer && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# The planner in the page is the library's own, for WebAssembly.
tools-planner:
	@scripts/need clang:clang wasm-ld:lld /usr/lib/wasm32-wasi/libc.a:wasi-libc \
	  /usr/share/doc/libclang-rt-dev-wasm32:libclang-rt-dev-wasm32

page: tools-page tools-planner
	@cd explorer && npm run --silent build && npm run --silent planner

browser: all tools-page tools-planner
	@cd explorer && npm run --silent browser

# The example for bare metal is built for a Cortex-M3, which QEMU plays; the one that measures
# kernels runs under valgrind and on a Cortex-M55.
tools-python:
	@scripts/need c++:g++ arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm \
	  /usr/lib/arm-none-eabi/newlib/rdimon.specs:libnewlib-arm-none-eabi valgrind:valgrind \
	  dot:graphviz

# An archive of the sources of tflite-micro and of its kernel libraries, if there is one: what tests run of them is
# built, once, and kept in ~/.cache/arenaut. Where an Nth of what repeats is tried, not for a Cortex-M55, which takes as
# long to build as all that is for 32-bit ARM.
MICRO_SOURCES ?= $(wildcard ../shared/sources/micro_runtime.tar.xz)

MOST_AT_NIGHT = $(filter-out 1,$(ARENAUT_ONE_OF))

test-python: browser downloads $(if $(MICRO_SOURCES),micro-runtime-kept)
	@ARENAUT=$(CURDIR)/build/arenaut $(PYTHON) -m pytest tests/pytest -q -rs -n $(JOBS) --dist loadfile --no-loadscope-reorder

site: browser venv-site
	@NO_MKDOCS_2_WARNING=1 build/venv-site/bin/mkdocs build --quiet
	@echo build/site/index.html

wheel: venv-wheel tools-build
	@scripts/need x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 $(if $(wildcard .git),git:git)
	@scripts/wheels.sh

foreign-wheels: all venv
	@scripts/need mmdebstrap:mmdebstrap qemu-aarch64-static:qemu-user-static x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 \
	  wine:wine wineserver:wine
	@scripts/foreign_wheels.sh

pypy: tools-build
	@scripts/need mmdebstrap:mmdebstrap
	@scripts/pypy.sh

hosts-table: all venv venv-hosts
	@python3 bench/hosts_table.py $(HOSTS)

figures: tools-build
	@scripts/figures.sh

bench: all venv
	@sh bench/run.sh

# What draws or sweeps, N times as long as in `make test`.
THOROUGH = ARENAUT_THOROUGH=$$(($(FUZZ_SECONDS) / 20 + 1))
THOROUGH_TESTS = $(patsubst tests/unit/%.c,%,$(shell grep -l support/thorough.h tests/unit/*.c))

fuzz: all venv tools-test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) sh fuzz/run.sh
	@CC=clang $(CONFIGURE_UNIT) -B build/test-clang $(SANITIZED) >/dev/null
	@CCACHE_BASEDIR=$(CURDIR) cmake --build build/test-clang -j$(JOBS) --target $(THOROUGH_TESTS)
	@set -e; for test in $(THOROUGH_TESTS); do $(THOROUGH) build/test-clang/tests/$$test; done
	@ARENAUT=$(CURDIR)/build/arenaut $(THOROUGH) $(PYTHON) -m pytest \
	  tests/pytest/test_check_random.py tests/pytest/test_overlap_kernels.py \
	  tests/pytest/test_overlap_runtime.py tests/pytest/test_runnable.py \
	  tests/pytest/test_overlap_arm.py tests/pytest/test_split_calls.py \
	  tests/pytest/test_reorder.py tests/pytest/test_reorder_onnx.py tests/pytest/test_reorder_pte.py \
	  tests/pytest/test_reorder_tvm.py \
	  tests/pytest/test_split_random.py \
	  tests/pytest/test_runtime_executorch.py::test_networks_with_made_up_weights_leave_the_same_bytes \
	  tests/pytest/test_split.py::test_random_models_compute_the_same -q -rs

oss-fuzz: tools-test
	@scripts/need zip:zip
	@scripts/oss_fuzz.sh $(FUZZ_SECONDS)

# Not part of `make test`: the cross compiler's packages push out those for gcc -m32.
portable: all
	@scripts/need mips-linux-gnu-gcc:gcc-mips-linux-gnu qemu-mips-static:qemu-user-static \
	  /usr/mips-linux-gnu/lib/libc.a:libc6-dev-mips-cross
	@sh scripts/portable.sh build/arenaut $$(find tests/data tests/models -name '*.tflite' \
	  -o -name '*.pte' -o -name '*.csv' -o -name '*.json')

windows: all
	@scripts/need x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 wine:wine wineserver:wine xz:xz-utils
	@scripts/windows.sh build/arenaut $$(find tests/data -name '*.tflite' -o -name '*.pte' \
	  -o -name '*.onnx' -o -name '*.pt2' -o -name '*.csv' -o -name '*.json')

tools-micro: tools-build
	@scripts/need git:git c++:g++ xz:xz-utils arm-linux-gnueabihf-g++:g++-arm-linux-gnueabihf \
	  qemu-arm-static:qemu-user-static arm-none-eabi-g++:gcc-arm-none-eabi \
	  /usr/share/doc/libstdc++-arm-none-eabi-newlib:libstdc++-arm-none-eabi-newlib \
	  qemu-system-arm:qemu-system-arm

# With sources from the network, if there is no archive: tests that use these programs skip where they are absent.
micro-runtime: tools-micro
	@mkdir -p build/micro-runtime/sources
	@$(if $(MICRO_SOURCES),tar -xf $(MICRO_SOURCES) -C build/micro-runtime/sources)
	@scripts/micro_runtime.sh build/micro-runtime

micro-runtime-kept: tools-micro
	@scripts/quietly build/micro_runtime.log scripts/micro_runtime_kept.sh $(MICRO_SOURCES) arm $(if $(MOST_AT_NIGHT),,m55)

install: all
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build
