#!/usr/bin/env bash
# cli_bench.sh - the micro-benchmarks print every figure they promise and save them as JSON. The values of the
# figures are not tested.
. "$(dirname "$0")/lib.sh"

export QUERN_HIDE=opencl,cuda TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
bench() { quern bench "$@" --progress off --samples 3; }
number='[0-9]+(\.[0-9]+)?'

# Graph.
exits 0 bench graph --stages 40 --backend cpu,sim -o kept/g.json
empty "$err"
has "$out" '^ITEM +DEVICE +us/stage +us/stage piped +host us/stage +us/run +host us/run +first us/run$'
for device in cpu sim; do
    for item in '40 stages direct' '40 stages replayed' '1 stage direct' '1 stage replayed'; do
        has "$out" "^$item +$device:0( +$number){6}$"
    done
done
lines "$out" 9
# 40 stages that wait for each other take 40 times the 5 us of a launch, however they are submitted.
has "$out" "^40 stages replayed +sim:0 +5\.[0-9]+ "
has kept/g.json '"format": "quern-bench/1"'
has kept/g.json '"verb": "graph"'
has kept/g.json '"command": "quern bench graph .*--stages 40'

# Pool.
exits 0 bench pool --backend sim
has "$out" '^ITEM +DEVICE +pool us +no pool us +gain$'
for size in '64 KiB' '1 MiB' '16 MiB'; do
    has "$out" "^$size +host(, pinned)?( +$number){3}$"
    has "$out" "^$size, written +host(, pinned)?( +$number){3}$"
    has "$out" "^$size +sim:0( +$number){3}$"
done
exits 0 bench pool --backend cpu
lacks "$out" 'sim:0'

# Fft.
if has_fftw; then
    exits 0 bench fft --backend cpu,sim --sizes 16,20 --batch 1,3 --precision f32,f64
    has "$out" '^ITEM +DEVICE +us +GB/s +first ms$'
    for item in '16 x 16 f32 x 1' '16 x 16 f64 x 3' '20 x 20 f64 x 1' '20 x 20 f32 x 3'; do
        has "$out" "^$item +cpu:0( +$number){3}$"
        has "$out" "^$item +sim:0( +$number){3}$"
    done
    lines "$out" 17
    exits 0 bench fft --backend cpu --sizes 16 --batch 1 --precision f32 --two-thirds
    has "$out" "^16 x 16 f32 x 1 2/3 +cpu:0( +$number){3}$"
fi
exits 2 bench fft --backend cpu --sizes 16 --precision f16
has "$err" "quern bench fft: --precision: 'f16' is neither f32 nor f64"
exits 2 bench fft --backend cpu --sizes 17
has "$err" 'a field of 17 x 17; sides are even, from 4 to 65536'

# Kernels.
exits 0 bench kernels --backend cpu --modules vector,reduce
has "$out" '^ITEM +DEVICE +compiled ms +memory ms +disk ms$'
has "$out" '^reduce +cpu:0 +- +- +-$'                    # built in: nothing to compile
has "$out" '^vector +cpu:0 +- +- +-$'
lines "$out" 3
[ -z "$(ls -A "$TMPDIR")" ] || fail "the folder for temporary files is not empty: $(ls "$TMPDIR")"
if env -u QUERN_HIDE quern devices 2>/dev/null | grep '^opencl:0' >/dev/null; then
    QUERN_HIDE=cuda exits 0 bench kernels --backend opencl:0 --modules segment
    has "$out" "^segment +opencl:0( +$number){3}$"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "kernels were left behind: $(ls "$TMPDIR")"
fi

# Ops.
exits 0 bench ops --backend cpu,sim --sizes 64 -o o.json
for op in vadd saxpy; do
    has "$out" "^$op 64 +cpu:0( +$number){3} +- +-$"       # with its share of the triad
    has "$out" "^$op 64 +sim:0( +$number){2} +- +- +-$"
done
has "$out" "^triad 64 +cpu:0( +$number){2}"
for op in chain sum dot max; do
    has "$out" "^$op 64 +cpu:0( +$number){2} +- +- +-$"
done
has "$out" "^matmul 64 +cpu:0 +$number +- +- +$number +-$"
for op in sha256 keccak256 merkle; do
    has "$out" "^$op 64 +cpu:0 +$number +- +- +- +$number$"
done
exits 0 bench ops --backend cpu,sim --op vadd --sizes 1000,2000 --sweep-priority
has "$out" "^vadd 2000 +cpu:0 "
for level in 1 2 3; do
    has "$out" "^mix up to priority $level +sim:0 .*$number$"
done
lacks "$out" '^mix.*cpu:0'

# If a requested device is missing, the CPU is measured, and a line says so.
exits 0 bench graph --backend opencl --stages 3
has "$err" '^\[GPU\] init failed: opencl: hidden by QUERN_HIDE\. CPU fallback\.$'
has "$out" '^3 stages direct +cpu:0 '

# Refused.
refused 2 'no verb given; there are: ops, pool, graph, kernels, fft$' quern bench
refused 2 "unknown op 'vad'" bench ops --op vad
refused 2 "size 'x' is not a whole number" bench ops --backend cpu --op vadd --sizes x
refused 2 "no kernel module 'vectors'$" bench kernels --modules vectors
refused 2 "--stages: '1' is not a number" bench graph --stages 1
