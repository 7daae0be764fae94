#!/usr/bin/env bash
# examples/workload is a whole workload: copied into the tree, it builds and runs in every place that
# CONTRIBUTING.md names, at most nine, none of them in the engine.
# test: cost 8
. "$(dirname "$0")/lib.sh"

build=$(dirname "$QUERN_BIN")
root=${QUERN_SOURCE_DIR:-$test_dir/../..}
life=$root/examples/workload
! nm "$QUERN_BIN" | grep -E '__[at]san_init' >/dev/null || {
    echo "skipped: the objects of this build need a sanitizer"
    exit 77
}

# Folders to which it adds files, and the one whose table has the command's line.
places=$(cd "$life" && find . -type f | sed -E 's#^\./##; s#/options/.*#/options#; s#/[^/]*$##' | sort -u)
[ "$(wc -l <<<"$places")" -le 9 ] || fail "more than nine places: $places"
! grep -E '^src/(engine|hal|util)' <<<"$places" || fail "a place in the engine"
while read -r place; do
    grep -qF "\`$place/" "$root/CONTRIBUTING.md" || fail "CONTRIBUTING.md does not name $place"
done < <(sed -E 's#/life$#/NAME#; s#/life/#/NAME/#' <<<"$places")

cp -r "$life/." .
mkdir -p gen/kernel
sed 's/&qn_cmd_version, /&\&qn_cmd_life, /' "$root/src/cli/main.c" >src/cli/main.c
sed 's/qn_cmd_les, /&qn_cmd_life, /' "$root/src/cli/cli.h" >src/cli/cli.h
grep -q '&qn_cmd_life, ' src/cli/main.c || fail "the table of main.c is not where it was"
cp "$root/src/kernel/dialect.h" src/kernel/
exits 0 "$build/quern-embed" kernel-without-ptx src/kernel/life.c gen/kernel/life.gen.c gen/kernel/life.gen.h

compile() { # source, object
    exits 0 "${CC:-cc}" -std=gnu11 -O1 -fPIC -fvisibility=hidden -fopenmp -D_GNU_SOURCE -Wall -Wextra -Werror \
        -Iinclude -Isrc -Igen -I"$root/include" -I"$root/src" -c "$1" -o "$2"
}
compile src/domain/life/life.c life.o
compile src/cli/cmd_life.c cmd_life.o
compile src/cli/main.c main.o
compile tests/unit/life/test_life.c test_life.o
exits 0 "${CC:-cc}" -std=gnu11 -O1 -fPIC -fopenmp-simd -w -Iinclude -Isrc -Igen -I"$root/include" -I"$root/src" \
    -c gen/kernel/life.gen.c -o life_kernel.o

libraries=$(sed -n 's/^Libs.private: *//p' "$build/quern.pc")
read -ra libraries <<<"$libraries $(pkg-config --libs jansson libpng zlib) $(! has_fftw || pkg-config --libs fftw3 fftw3f)"
mapfile -t commands < <(cd "$root/src/cli" && find . -name '*.c' ! -path ./main.c |
    sed "s#^\.#$build/CMakeFiles/quern.dir/src/cli#; s#\$#.o#")
exits 0 "${CC:-cc}" -o quern_life main.o cmd_life.o life.o life_kernel.o "${commands[@]}" \
    "$build/libquern_lab.a" "$build/libquern.a" "${libraries[@]}"
exits 0 "${CC:-cc}" -o test_life test_life.o life.o life_kernel.o "$build/libquern.a" -lcmocka "${libraries[@]}"

exits 0 ./test_life
exits 0 ./quern_life life --rows 6 --cols 6 --steps 4 --backend cpu
cp "$out" printed
sed -n '/^```out/,/^```/p' "$life/docs/life.md" | grep -v '^```' >page
cmp -s printed page || fail "docs/life.md shows another board"
exits 0 ./quern_life life --help
has "$out" '--steps N +generations to compute \(default 4\)'
exits 2 ./quern_life life --rows 0
has "$err" '--rows: '

# Python, if it has numpy.
if python3 -c 'import numpy' 2>/dev/null; then
    exits 0 "${CC:-cc}" -shared -o libquern.so -Wl,--whole-archive "$build/libquern.a" -Wl,--no-whole-archive \
        life.o life_kernel.o "${libraries[@]}"
    cp "$root"/python/quern/*.py python/quern/
    QUERN_LIBRARY=$PWD/libquern.so PYTHONPATH=python exits 0 python3 -c '
import numpy as np, quern, quern.life
board, after = np.zeros((2, 6, 6), "u1")
board[1, 1:4] = after[0:3, 2] = 1
print((quern.life.run(board, 1, backend="cpu") == after).all())'
    has "$out" '^True$'
fi
