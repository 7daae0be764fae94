#!/usr/bin/env bash
# cli_les_fallback.sh - whatever fails on a device and whenever: the run goes on on the CPU, with one line, a
# count, and the files that the CPU alone would have written.
# test: long, cost 20, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
les() {
    quern les run --progress off --quiet --n 16 --k-cut 3 --k-mid 5 --pairs 4 --steps 40 --stride 10 \
        --hash-every 10 --precision f64 --observer snapshots --video none "$@"
}

# All files but those that tell times, with their checksums.
listing() {
    (cd "$1" && sha256sum -- *.npy *.csv *.png)
}

# falls BACKEND FAULT [OPTION...]: the run with that fault ends as the CPU's.
falls() {
    local backend=$1 fault=$2
    shift 2
    rm -rf o
    QUERN_FAULT="sim.launch_us=0,sim.gbps=100000,$fault" exits 0 les --backend "$backend" --out o "$@"
    [ "$(grep -c '^\[GPU\] les\.run failed: .*injected.* CPU fallback\.$' "$err")" = 1 ] ||
        fail "not one line about $fault"
    lines "$err" 1
    has "$out" '^40 steps of 16 x 16 \(f64\) on cpu:0: '
    has o/les_metrics.json '"1 fallbacks to the CPU"'
    listing o | cmp -s - cpu.list || fail "$fault: files differ from the CPU's"
}

exits 0 les --backend cpu --out cpu
listing cpu >cpu.list
for fault in device_lost@3*1 device_lost@900*1 timeout@700*1 copy_d2h@1*1 copy_d2h@9*1 copy_d2h@16*1 \
    copy_h2d@9*1 launch compile@3*1; do
    falls sim "$fault"
done

# From a state in memory, and from one on the disk, only what came after it is repeated.
QUERN_CHECKPOINT_S=0 falls sim device_lost@900*1
has o/les_metrics.json '"loop_checkpoints": [1-9]'
falls sim device_lost@900*1 --checkpoint-every 10

if quern devices | grep '^opencl:0 ' >/dev/null; then
    for fault in device_lost@300*1 timeout@40*1 copy_d2h@9*1; do
        falls opencl "$fault"
    done
fi

# With --fallback error it ends instead.
for fault in device_lost@300*1 copy_d2h@9*1; do
    QUERN_FAULT=$fault exits 3 les --backend sim --fallback error --out p
    has "$err" '^quern les run: stage les\.run failed \(.*injected.*\) and fallback is forbidden$'
done
