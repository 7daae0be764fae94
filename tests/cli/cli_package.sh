#!/usr/bin/env bash
# make package: a .deb and a .tar.gz that list their dependencies, and work where they are unpacked.
# test: cost 37
. "$(dirname "$0")/lib.sh"

if nm -D "$QUERN_BIN" | grep __asan_init >/dev/null; then
    echo "skipped: a package is not made with a sanitizer"
    exit 77
fi
for program in cpack dpkg-deb dpkg-shlibdeps file; do
    command -v "$program" >/dev/null || {
        echo "skipped: there is no $program (Debian: cmake dpkg-dev file)"
        exit 77
    }
done
exits 0 cpack --config "$(dirname "$QUERN_BIN")/CPackConfig.cmake" -B made
version=$(quern version | grep -Eo '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
deb=$(echo made/quern_"$version"_*.deb)
tar=$(echo made/quern-"$version"-Linux-*.tar.gz)
for package in "$deb" "$tar"; do
    [ -s "$package" ] || fail "there is no $package: $(ls made)"
done
(cd made && exits 0 sha256sum -c ./*.sha256)

# Metadata.
exits 0 dpkg-deb -f "$deb"
has "$out" '^Package: quern$'
has "$out" "^Version: $version\$"
has "$out" '^Depends: .*libc6 .*libjansson4'
has "$out" '^Recommends: .*pocl-opencl-icd'
has "$out" '^Maintainer: .*@'
grep '^Depends:' "$out" >depends
lacks depends 'cuda|gdal|opencl|ocl-icd'

# The .deb: the command, and a program built against the unpacked files.
exits 0 dpkg-deb -x "$deb" root
exits 0 root/usr/bin/quern version
has "$out" "$version"
exits 0 root/usr/bin/quern selftest --backend cpu --quiet
[ -s root/usr/share/doc/quern/LICENSE ] || fail "no licence in the package"
libdir=$PWD/root/usr/lib
[ -L "$libdir/libquern.so" ] || fail "no libquern.so to link with"
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
# shellcheck disable=SC2046
exits 0 cc $(pkg-config --cflags quern) "$QUERN_SOURCE_DIR/examples/own_kernel.c" -o own \
    $(pkg-config --libs quern)
exits 0 ./own cpu
has "$out" 'x\[524288\] = '
exits 0 ldd ./own
has "$out" "libquern\.so\.0 => $libdir/"

# The .tar.gz: one folder that may lie anywhere.
exits 0 tar -xzf "$tar"
exits 0 "$(basename "$tar" .tar.gz)/bin/quern" version
has "$out" "$version"
exits 0 pkg-config --with-path="$PWD/$(basename "$tar" .tar.gz)/lib/pkgconfig" --modversion quern
has "$out" "^$version\$"
