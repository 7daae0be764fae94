#!/usr/bin/env bash
# cli_selftest.sh - the selftest passes here, and fails where something is wrong.
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$scratch/cache TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
selftest() { quern selftest --progress off "$@"; }

# Without a GPU: the CPU and the simulated device.
QUERN_HIDE=opencl,cuda exits 0 selftest
empty "$err"
has "$out" '^CHECK +host +cpu:0 +sim:0$'
has "$out" '^known: generator +ok '
has "$out" '^known: buckets +ok '
has "$out" '^known: sha256 +ok +ok +ok$'
has "$out" '^known: merkle roots +- +ok +ok$'
has "$out" '^launch: every point once +- +ok +ok$'
has "$out" '^parity: sort +- +ok +skipped$'
has "$out" '^fault: launch fails once +- +- +ok$'
has "$out" '^cache: compiled once +- +ok +ok$'
has "$out" '^[0-9]+ checks, 0 failed$'
lacks "$out" 'no case for this op'
lacks "$out" 'FAILED'

# Every op with a name has a row.
for op in vadd saxpy chain sum dot max matmul sha256 keccak256 merkle scan segments map_{abs,add,cos,div,exp,log,max,min,mul,neg,sin,sqrt,square,sub,tanh}; do
    has "$out" "^parity: $op +- +ok +ok$"
done

# Nothing is left behind.
[ -z "$(ls -A "$TMPDIR")" ] || fail "the folder for temporary files is not empty: $(ls "$TMPDIR")"

# One backend only
exits 0 selftest --backend cpu
has "$out" '^CHECK +host +cpu:0$'
exits 0 selftest --backend sim
has "$out" '^CHECK +host +sim:0$'
QUERN_BACKEND=sim exits 0 selftest
has "$out" '^CHECK +host +sim:0$'
QUERN_HIDE=opencl exits 3 selftest --backend opencl
has "$err" '^quern selftest: no device opencl to test$'

# Faults are found: a wrong bit, a refused launch, a kernel that does not compile.
QUERN_FAULT=corrupt:matmul exits 4 selftest --backend sim
has "$out" '^parity: matmul +- +FAILED$'
has "$out" '^FAILED: parity: matmul on sim:0: 1 of 4489 elements differ, first at 0'
has "$out" ' checks, 1 failed$'
has "$err" '^quern selftest: 1 of [0-9]+ checks failed$'
QUERN_FAULT=launch:visit exits 4 selftest --backend sim
has "$out" '^FAILED: launch: every point once on sim:0: .*injected launch fault'
QUERN_FAULT=compile:keccak256 exits 4 selftest --backend sim
has "$out" '^known: keccak256 +- +FAILED$'
has "$out" '^parity: keccak256 +- +FAILED$'

# --fallback=error forbids fallbacks of real work, not the tests of fallback itself.
exits 0 selftest --backend sim --fallback error

# Without a cache there is no round trip to test.
QUERN_CACHE=0 exits 0 selftest --backend cpu
has "$out" '^cache: compiled once +- +skipped$'
