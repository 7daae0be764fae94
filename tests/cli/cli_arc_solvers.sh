#!/usr/bin/env bash
# cli_arc_solvers.sh - the public solvers.py, if available (QUERN_TEST_SOLVERS): its programs on all training
# tasks, on the CPU and on an OpenCL device.
# test: long, cost 50
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/arc
[ -d "$golden/training" ] || { echo "skipped: no tasks in $golden"; exit 77; }
solvers=${QUERN_TEST_SOLVERS:-}
[ -r "$solvers" ] || { echo "skipped: QUERN_TEST_SOLVERS names no solvers.py"; exit 77; }
devices=(cpu)
! quern devices | grep '^opencl:0' >/dev/null || devices+=(opencl:0)
for device in "${devices[@]}"; do
    exits 0 quern arc run "$solvers" --tasks "$golden/training" --check --backend "$device" --quiet \
        --digest "${device%%:*}.txt" --stats stats.json
    [ "$(tail -1 "$out")" = 'solved 1716 of 1718 pairs, 0 errors' ] || fail 'not 1716 pairs'
    has "$out" '^e40b9e2f +4 +2 +0 '
    has stats.json '"fallbacks": \{\}'
    cmp -s cpu.txt "${device%%:*}.txt" || fail "other results on $device"
done
[ ${#devices[@]} -eq 1 ] || SAMPLE=160 MADE=50 exits 0 "$QUERN_SOURCE_DIR/bench/arc_parity.sh" \
    "$(dirname "$QUERN_BIN")" opencl:0 "$solvers" "$golden/training" "$golden/evaluation"
