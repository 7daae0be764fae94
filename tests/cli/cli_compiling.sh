# A compiler that is busy for long is announced on a screen, and nowhere else.
. "$(dirname "$0")/lib.sh"

mock=${QUERN_BUILD_DIR:-$(dirname "$QUERN_BIN")}/libcuda_mock.so
[ -e "$mock" ] || { echo "skipped: no $mock" >&2; exit 77; }
script -qec true /dev/null >/dev/null 2>&1 || { echo 'skipped: no pseudo-terminals here' >&2; exit 77; }

# A mock driver without a GPU, and no slow compiler.
export QUERN_CUDA_LIB=$mock QUERN_NVRTC_LIB=/nowhere QUERN_HIDE=opencl
quern make programs --programs 2 --grids 1 --out made >/dev/null 2>&1
run='quern arc run made/solvers.py --tasks made/tasks --backend cuda --quiet'

last="$run, on a screen"
QUERN_CACHE=0 script -qec "$run" /dev/null >"$out" 2>&1 || true
has "$out" '^quern: compiling arc_vm for Mock GPU 0 takes a while.?$'
QUERN_CACHE_DIR=$PWD/cache script -qec "$run" /dev/null >"$out" 2>&1 || true
has "$out" 'takes a while; the result is kept for the next time'

last="$run, into a file"
QUERN_CACHE=0 exits 0 $run
lacks "$err" 'takes a while'

# The mock driver runs nothing: its results have no meaning, so the CPU's are used.
has "$err" '^\[GPU\] arc\.vm failed: '
QUERN_CACHE=0 exits 0 $run --digest device.txt
exits 0 quern arc run made/solvers.py --tasks made/tasks --backend cpu --quiet --digest cpu.txt
cmp device.txt cpu.txt || fail 'other results than on the CPU'
