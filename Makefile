# A thin front for CMake: the build itself is described in CMakeLists.txt.
BUILD ?= build
JOBS  ?= $(shell nproc)
# A build folder that exists keeps its own.
GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),-G Ninja)

.PHONY: all tests test torture soak demo bench asan tsan fuzz coverage lint format install kernels package setup clean

# cmake_install.cmake is written last, so a configuration that failed is tried again.
all: $(BUILD)/cmake_install.cmake
	cmake --build $(BUILD) -j $(JOBS)

# The test programs and the examples, which `all` leaves out.
tests: $(BUILD)/cmake_install.cmake
	cmake --build $(BUILD) -j $(JOBS) --target tests

$(BUILD)/cmake_install.cmake:
	cmake -S . -B $(BUILD) $(GENERATOR) $(CMAKE_FLAGS)

setup:
	scripts/setup

test:
	scripts/setup --tests
	$(MAKE) tests
	scripts/test $(BUILD)

# Hours: small runs of every tool are interrupted at every call, and at random moments; power is cut
# where images of disks can be mounted.
PLUG = tests/torture/plug.sh $(BUILD)/quern $(BUILD)/plug.so
torture: tests
	bash tests/torture/malloc.sh $(BUILD)/quern $(BUILD)/libtorture_malloc.so
	for tool in solweig les tools; do \
	  $(PLUG) $$tool && $(PLUG) $$tool 100 moment files && \
	  { $(PLUG) $$tool 30 power || test $$? = 77; } || exit 1; done

demo: setup
	scripts/demo $(BUILD)

bench: all
	cmake --build $(BUILD) -j $(JOBS) --target perf
	bench/run.sh $(BUILD)

# Without OpenCL: its compilers take minutes under a sanitizer and leak by themselves. VkFFT would
# only serve it.
asan:
	$(MAKE) tests BUILD=build-asan \
	  CMAKE_FLAGS="-DQN_SANITIZE=address,undefined -DQN_WITH_VKFFT=OFF"
	OCL_ICD_VENDORS=/nonexistent scripts/test build-asan

# Only of what has threads: tests/CMakeLists.txt leaves the rest out.
tsan:
	$(MAKE) tests BUILD=build-tsan \
	  CMAKE_FLAGS="-DQN_SANITIZE=thread -DCMAKE_C_COMPILER=clang -DQN_WITH_VKFFT=OFF"
	OCL_ICD_VENDORS=/nonexistent scripts/test build-tsan

# FUZZ_S seconds for each reader (60).
fuzz:
	$(MAKE) build-fuzz/cmake_install.cmake BUILD=build-fuzz \
	  CMAKE_FLAGS="-DQN_SANITIZE=fuzzer-no-link,address,undefined -DQN_FUZZ=ON \
	  -DCMAKE_C_COMPILER=clang -DQN_WITH_VKFFT=OFF"
	cmake --build build-fuzz -j $(JOBS) --target fuzz
	OCL_ICD_VENDORS=/nonexistent scripts/fuzz build-fuzz

# What the tests run of the library, compared with the kept figure. Measurements of time mean nothing here.
coverage:
	$(MAKE) tests BUILD=build-coverage CMAKE_FLAGS="-DQN_COVERAGE=ON"
	find build-coverage -name '*.gcda' -delete
	-TORTURE=1 scripts/test build-coverage -LE perf
	bash tests/torture/malloc.sh build-coverage/quern build-coverage/libtorture_malloc.so 40
	tools/coverage.py build-coverage tests/coverage.txt

# All tools in one process for SOAK_S seconds.
soak: tests
	$(BUILD)/tests/soak cpu sim

lint: all
	scripts/lint $(BUILD)

format:
	find src include tests tools examples -name '*.[ch]' | xargs clang-format -i

install: all
	cmake --install $(BUILD)

# Compiled kernels for NVIDIA GPUs; a minute of a core per architecture (cmake/kernels.cmake).
kernels: all
	cmake --build $(BUILD) --target kernels

# A .deb and a .tar.gz for every machine (cmake/packaging.cmake), with compiled kernels for GPUs after
# `make kernels BUILD=build-package`.
package:
	$(MAKE) all BUILD=build-package CMAKE_FLAGS=-DQN_PORTABLE=ON
	cd build-package && cpack

clean:
	rm -rf build build-package build-asan build-tsan build-fuzz build-coverage out
