# A thin front for CMake: the build itself is described in CMakeLists.txt.
BUILD ?= build
JOBS  ?= $(shell nproc)
# A build folder that exists keeps its own.
GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),-G Ninja)

.PHONY: all tests test demo bench asan tsan lint format install package setup clean

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

lint: all
	scripts/lint $(BUILD)

format:
	find src include tests tools examples -name '*.[ch]' | xargs clang-format -i

install: all
	cmake --install $(BUILD)

# A .deb and a .tar.gz in the build folder (cmake/packaging.cmake).
package: all
	cd $(BUILD) && cpack

clean:
	rm -rf build build-asan build-tsan out
