# A thin front for CMake: the build itself is described in CMakeLists.txt.
BUILD ?= build
JOBS  ?= $(shell nproc)

.PHONY: all test demo bench asan tsan lint install setup clean

all: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS)

setup:
	scripts/setup

test: setup all
	scripts/test $(BUILD)

demo: setup all
	scripts/demo $(BUILD)

bench: all
	bench/run.sh $(BUILD)

asan:
	$(MAKE) all BUILD=build-asan CMAKE_FLAGS="-DQN_SANITIZE=address,undefined"
	scripts/test build-asan -LE "slow|opencl"

tsan:
	$(MAKE) all BUILD=build-tsan CMAKE_FLAGS="-DQN_SANITIZE=thread -DCMAKE_C_COMPILER=clang"
	scripts/test build-tsan -L thread

lint: all
	scripts/lint $(BUILD)

install: all
	cmake --install $(BUILD)

clean:
	rm -rf build build-asan build-tsan out
