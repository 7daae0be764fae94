#!/usr/bin/env bash
# arc_batt.sh PACK [OUT] - 100 generated batt programs of 650 steps, all on the same 64 grids, in one launch:
# a device compared with the CPU. Every step of every run, even one that no record needs, must have the same
# value on both; the first that differs is shown, and the script fails. Then prints kernel times from the
# statistics of `quern arc run`, without traces: the shortest of RUNS.
#
# PACK is a folder with the command: of scripts/pack, or of a build. OUT (default
# bench/results/arc_batt.md) gets the table.
# Environment: BACKEND (default opencl:0), FILES (default 100), STEPS (default 650), RUNS (default 5),
# LEAST (the least speed-up that passes, default 0: any).
set -euo pipefail

pack=$(realpath "${1:?usage: arc_batt.sh PACK [OUT]}")
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${2:-$here/results/arc_batt.md}")
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
quern=$pack/quern
backend=${BACKEND:-opencl:0} files=${FILES:-100} steps=${STEPS:-650} runs=${RUNS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() {
    local place=$1
    shift
    "$quern" arc run batts.qarc --tasks made/tasks --backend "$place" --quiet --log error "$@" \
        >/dev/null 2>&1
}

mkdir -p batts
for seed in $(seq "$files" -1 1); do # the last one's grids stay
    "$quern" make programs --programs 16 --grids 4 --steps "$steps" --seed "$seed" --out made >/dev/null
    mv made/batt.py "batts/batt_$seed.py"
done
"$quern" arc dis batts --without dead -o batts.qarc --quiet

run cpu --trace cpu.txt
run "$backend" --trace device.txt
if ! cmp -s cpu.txt device.txt; then
    echo "the first step that differs, on the CPU and on $backend:" >&2
    diff cpu.txt device.txt | head -4 >&2
    exit 1
fi
for turn in $(seq "$runs"); do
    run cpu --stats "cpu.$turn.json"
    run "$backend" --stats "device.$turn.json"
done

mkdir -p "$(dirname "$out")"
python3 - "$files" "$steps" "$backend" "${LEAST:-0}" "$(wc -l <cpu.txt)" <<'TABLE' | tee "$out"
import glob
import json
import sys

files, steps, backend, least, traced = sys.argv[1:]


def runs_of(place):
    return [json.load(open(name)) for name in glob.glob(f"{place}.*.json")]


def shortest(runs):
    return min(run["time_kernel"] + run["time_cpu"] for run in runs)


cpu, device = runs_of("cpu"), runs_of("device")
gain = shortest(cpu) / shortest(device)
beside = min(run["time_cpu"] for run in device)
print(f"`bench/arc_batt.sh`: {files} batt programs of {steps} steps on 64 grids in one launch, CPU with all")
print(f"threads against {backend}. {int(traced):,} values of steps are the same on both.\n")
print("| | CPU | device |\n|---|---|---|")
print(f"| primitives | {cpu[0]['steps_total']:,} | {device[0]['steps_total']:,} |")
print(f"| runs that left the device | | {sum(device[0]['fallbacks'].values())} |")
print(f"| copies | | {device[0]['transfers']} |")
print(f"| seconds in kernels, shortest of {len(cpu)} | {shortest(cpu):.4f} | {shortest(device):.4f} |")
print(f"| of these on the CPU, for runs that left | | {beside:.4f} |")
print(f"\nSpeed-up: {gain:.2f}.")
sys.exit(gain < float(least))
TABLE
