#!/usr/bin/env bash
# An installed copy is enough to build and run a program, with pkg-config and with find_package.
. "$(dirname "$0")/lib.sh"

if nm -D "$QUERN_BIN" | grep __asan_init >/dev/null; then
    echo "skipped: a program built without the sanitizer cannot load this library"
    exit 77
fi
prefix=$PWD/prefix
exits 0 cmake --install "$(dirname "$QUERN_BIN")" --prefix "$prefix"
exits 0 "$prefix/bin/quern" version
libdir=$(realpath "$(dirname "$(find "$prefix" -name quern.pc)")/..")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

# shellcheck disable=SC2046
exits 0 cc $(pkg-config --define-variable=prefix="$prefix" --cflags quern) \
    "$QUERN_SOURCE_DIR/examples/own_kernel.c" -o by_pc \
    $(pkg-config --define-variable=prefix="$prefix" --libs quern)
exits 0 ./by_pc cpu
has "$out" 'x\[524288\] = '

mkdir by_cmake
cat >by_cmake/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(quern 0.1 REQUIRED)
add_executable(user $QUERN_SOURCE_DIR/examples/heat.c)
target_link_libraries(user quern::quern)
EOF
exits 0 cmake -S by_cmake -B by_cmake/build -DCMAKE_PREFIX_PATH="$prefix"
exits 0 cmake --build by_cmake/build
exits 0 by_cmake/build/user cpu
has "$out" '100 steps'

# The manual and completions are where man and shells look.
for file in man/man1/quern.1 man/man1/quern-tasks.1 bash-completion/completions/quern \
    zsh/site-functions/_quern fish/vendor_completions.d/quern.fish; do
    [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done

# Neither GPU libraries nor libraries loaded on first use are linked.
exits 0 ldd "$prefix/bin/quern"
lacks "$out" 'cuda|OpenCL|nvrtc|gdal'
exits 0 ldd "$libdir/libquern.so"
lacks "$out" 'cuda|OpenCL|nvrtc|gdal'
