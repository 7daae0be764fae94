#!/usr/bin/env bash
# cli_arc_golden.sh - golden cases of the primitives on the CPU and on an OpenCL device.
# test: long
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/arc
[ -r "$golden/dsl_cases.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
cases=$golden/dsl_cases.json,$golden/batt_cases.json
devices=(cpu)
! quern devices | grep '^opencl:0' >/dev/null || devices+=(opencl:0)
for device in "${devices[@]}"; do
    exits 0 quern arc check --cases "$cases" --backend "$device" --quiet --log error
    has "$out" 'dsl_cases.json: ([0-9]+) of \1 cases pass'
    has "$out" 'batt_cases.json: ([0-9]+) of \1 cases pass'
done
