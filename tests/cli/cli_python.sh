#!/usr/bin/env bash
# The Python package installs with pip, the second time without building, and passes its tests.
# test: cost 55
. "$(dirname "$0")/lib.sh"

if nm -D "$QUERN_BIN" | grep __asan_init >/dev/null; then
    echo "skipped: Python cannot load a library that was built with a sanitizer"
    exit 77
fi

has_fftw || {
    echo "skipped: without FFTW there are no flows on the CPU"
    exit 77
}

look='import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))'
# Modules may belong to another Python than the first in PATH.
for candidate in python3 /usr/bin/python3 none; do
    [ "$candidate" != none ] || {
        echo "skipped: no python3 with numpy, pip, pytest, setuptools and wheel" \
            "(Debian: python3-numpy python3-pip python3-pytest)"
        exit 77
    }
    ! "$candidate" -c "$look" numpy pip pytest setuptools wheel 2>/dev/null || break
done

# The environment stays in the build folder; an existing one is used again.
build=$(dirname "$QUERN_BIN")
venv=$build/python-venv
python=$venv/bin/python
if ! "$python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$venv"
    exits 0 "$candidate" -m venv --without-pip --system-site-packages "$venv"
fi

# pip leaves files beside the sources, which may be shared, so a copy is built.
mkdir tree
cp -r "$QUERN_SOURCE_DIR/python" tree/python
cp "$QUERN_SOURCE_DIR/README.md" tree/
rm -rf tree/python/build tree/python/*.egg-info
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PYTHONDONTWRITEBYTECODE=1

# Without sources around it and without a library there is nothing to install.
cd tree/python
exits 1 env -u QUERN_LIBRARY "$python" setup.py -q build
has "$err" 'the source tree is not beside this folder; set QUERN_LIBRARY'
QUERN_LIBRARY=/nowhere/libquern.so exits 1 "$python" setup.py -q build
has "$err" 'QUERN_LIBRARY: there is no file /nowhere/libquern\.so'
cd ../..

QUERN_LIBRARY=$build/libquern.so exits 0 "$python" -m pip install --no-build-isolation --no-deps \
    --force-reinstall ./tree/python
has "$out" 'Successfully installed quern-0\.1\.0'
exits 0 "$python" -c 'import quern; print(quern.__file__, quern.__version__)'
has "$out" "^$venv/.*0\.1\.0$"

# A library of other headers is refused, with a sentence.
echo 'const char *qn_version(void) { return "9.9.9"; }' >other.c
exits 0 cc -shared -fPIC other.c -o libquern.so
QUERN_LIBRARY=$PWD/libquern.so exits 1 "$python" -c 'import quern'
has "$err" 'is quern 9\.9\.9; this package is for 0\.1\.0'
sed -i 's/9.9.9/0.1.0/' other.c
exits 0 cc -shared -fPIC other.c -o libquern.so
QUERN_LIBRARY=$PWD/libquern.so exits 1 "$python" -c 'import quern'
has "$err" 'has no table of its structs'

# Kernels that run only briefly: PoCL compiles them in a fraction of the time without optimisation.
export QUERN_CACHE_DIR=$build/test-quick POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
exits 0 env QUERN_BIN="$QUERN_BIN" "$python" -m pytest -q -p no:cacheprovider tree/python/tests
has "$out" '^[0-9]+ passed'
lacks "$out" 'skipped|failed'
