# A thin layer over CMake. `make` needs a C compiler; whatever else a target needs, it
# installs (Debian packages through scripts/need, Python packages into build/venv).
#
#   make           build/arenaut and the libraries
#   make demo      plan a real model, show before and after, draw the picture
#   make test      everything: unit tests under sanitizers, the command, the real runtimes
#   make bench     our planners beside the peers (bench/)
#   make fuzz      libFuzzer on the readers, FUZZ_SECONDS each
#   make portable  the same answers on a big-endian 32-bit machine (MIPS under QEMU)
#   make install   PREFIX=/usr/local

CMAKE_FLAGS ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
MAKEFLAGS += --no-print-directory
JOBS := $(shell nproc 2>/dev/null || echo 2)
PYTHON := build/venv/bin/python

.PHONY: all demo test test-unit test-python bench fuzz portable install clean tools-build tools-test tools-python venv

all: build/Makefile
	@cmake --build build -j$(JOBS)

build/Makefile: CMakeLists.txt | tools-build
	@cmake -S . -B build -G "Unix Makefiles" $(CMAKE_FLAGS) >/dev/null

tools-build:
	@scripts/need cmake:cmake cc:gcc

demo: all
	@sh examples/demo.sh

test: test-unit test-python

tools-test:
	@scripts/need cmake:cmake cc:gcc c++:g++ clang:clang pkg-config:pkgconf \
	  /usr/include/cmocka.h:libcmocka-dev python3:python3 \
	  /etc/OpenCL/vendors/pocl.icd:pocl-opencl-icd \
	  /usr/share/doc/ocl-icd-libopencl1:ocl-icd-libopencl1

# Once with gcc and once with clang, both under AddressSanitizer and UBSan.
test-unit: tools-test
	@for cc in gcc clang; do \
	  CC=$$cc cmake -S . -B build/test-$$cc -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	    -DARENAUT_TESTS=ON -DARENAUT_WERROR=ON -DARENAUT_SANITIZE=address,undefined >/dev/null && \
	  cmake --build build/test-$$cc -j$(JOBS) && \
	  ctest --test-dir build/test-$$cc -j$(JOBS) --output-on-failure || exit 1; \
	done

# The virtual environment is made anew whenever the list of packages changes.
venv: build/venv/.ready
build/venv/.ready: tests/requirements.txt
	@mkdir -p build
	@python3 -c 'import ensurepip, venv' 2>/dev/null || scripts/need /nonexistent:python3-venv
	@python3 -m venv --clear build/venv
	@$(PYTHON) -m pip -q --disable-pip-version-check install -r tests/requirements.txt
	@touch $@

# The example for bare metal is built for a Cortex-M3, which QEMU plays.
tools-python:
	@scripts/need c++:g++ arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm

test-python: all venv tools-python
	@ARENAUT=$(CURDIR)/build/arenaut $(PYTHON) -m pytest tests/pytest -q -rs

bench: all venv
	@sh bench/run.sh

fuzz: 
	@scripts/need cmake:cmake clang:clang
	@FUZZ_SECONDS=$(FUZZ_SECONDS) sh fuzz/run.sh

# Not part of `make test`: the cross compiler's packages push out those for gcc -m32.
portable: all
	@scripts/need mips-linux-gnu-gcc:gcc-mips-linux-gnu qemu-mips-static:qemu-user-static \
	  /usr/mips-linux-gnu/lib/libc.a:libc6-dev-mips-cross
	@sh scripts/portable.sh build/arenaut $$(find tests/data tests/models -name '*.tflite' \
	  -o -name '*.pte' -o -name '*.csv' -o -name '*.json')

install: all
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build
