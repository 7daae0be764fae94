# Where the router chooses, a batch of grid programs never waits for a compiler, and bench/cold.sh runs.
. "$(dirname "$0")/lib.sh"

mock=${QUERN_BUILD_DIR:-$(dirname "$QUERN_BIN")}/libcuda_mock.so
[ -e "$mock" ] || { echo "skipped: no $mock" >&2; exit 77; }

# A GPU whose compiler would need a minute for a batch that the CPU does at once. It runs nothing, so
# results show where the batch ran.
export QUERN_CUDA_LIB=$mock QUERN_HIDE=opencl QUERN_KERNELS=0
export QUERN_CACHE_DIR=$PWD/cache
unset QUERN_CACHE
exits 0 quern make programs --programs 4 --grids 2 --out made
for run in first second; do
    exits 0 quern arc run made/solvers.py --tasks made/tasks --match all --quiet --metrics "$run.json" \
        --digest "$run.txt"
    compiled=$(tr -d ' \n' <"$run.json" | grep -o '"kernel_compiles","labels":{},"value":[0-9]*')
    [ "${compiled##*:}" = 0 ] || fail "$run run: compiled ${compiled##*:} kernels"
done
exits 0 quern arc run made/solvers.py --tasks made/tasks --match all --quiet --backend cpu --digest cpu.txt
cmp first.txt cpu.txt || fail 'other results than on the CPU'
cmp second.txt cpu.txt || fail 'other results than on the CPU, the second time'

# The script of the cold start, with tools that start quickly.
last='bench/cold.sh'
TOOLS='tasks arc-auto' BACKEND=cpu "${QUERN_SOURCE_DIR:-$(dirname "$0")/../..}/bench/cold.sh" \
    "$(dirname "$QUERN_BIN")" "$PWD/runs" >"$out" 2>"$err" || fail "exit $?"
has "$out" '^\| tasks \| warm \| [0-9.]+ \| 0 \| 0 \| 0 \|'
has "$out" '^\| arc-auto \| empty \| [0-9.]+ \| 0 \| 0 \| 0 \|'
