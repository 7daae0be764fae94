#!/usr/bin/env bash
# arc_batt.sh PACK [OUT] - 100 made batt programs of 650 steps, each on 64 grids: a device against the
# CPU. Every step of every run, also those that no record needs, must have the same value on both; the
# first that has not is shown, and the script fails. Then times of kernels, as the statistics of
# `quern arc run` have them, without traces.
#
# PACK is a folder with the command: of scripts/pack, or of a build. OUT (default
# bench/results/arc_batt.md) gets the table.
# Environment: BACKEND (default opencl:0), FILES (default 100), STEPS (default 650), LEAST (the least
# speed-up that passes, default 0: any).
set -euo pipefail

pack=$(realpath "${1:?usage: arc_batt.sh PACK [OUT]}")
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${2:-$here/results/arc_batt.md}")
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
quern=$pack/quern
backend=${BACKEND:-opencl:0} files=${FILES:-100} steps=${STEPS:-650}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Runs the program on device $1, with traces and for its time; $2.txt and $2.json are these.
run() {
    "$quern" arc run batt.qarc --tasks made/tasks --backend "$1" --quiet --log error \
        --trace "$2.txt" >/dev/null 2>&1
    "$quern" arc run batt.qarc --tasks made/tasks --backend "$1" --quiet --log error \
        --stats "$2.json" >/dev/null 2>&1
}

mkdir -p cpu device
for seed in $(seq "$files"); do
    "$quern" arc make --programs 16 --grids 4 --steps "$steps" --seed "$seed" --out made >/dev/null
    "$quern" arc dis made/batt.py --without dead -o batt.qarc --quiet
    [ "$seed" -ne 1 ] || run "$backend" warm # the kernel is compiled once
    run cpu "cpu/$seed"
    run "$backend" "device/$seed"
    if ! cmp -s "cpu/$seed.txt" "device/$seed.txt"; then
        echo "seed $seed: the first step that differs, on the CPU and on $backend:" >&2
        diff "cpu/$seed.txt" "device/$seed.txt" | head -4 >&2
        exit 1
    fi
    wc -l <"cpu/$seed.txt" >>lines.txt
    rm "cpu/$seed.txt" "device/$seed.txt"
done

mkdir -p "$(dirname "$out")"
python3 - "$files" "$steps" "$backend" "${LEAST:-0}" <<'TABLE' | tee "$out"
import glob
import json
import statistics
import sys

files, steps, backend, least = int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
traced = sum(int(line) for line in open("lines.txt"))


def seconds(place):
    runs = [json.load(open(f"{place}/{seed}.json")) for seed in range(1, files + 1)]
    return [run["time_kernel"] + run["time_cpu"] for run in runs], runs


cpu, cpu_runs = seconds("cpu")
device, device_runs = seconds("device")
gains = [a / b for a, b in zip(cpu, device)]
falls = sum(sum(run["fallbacks"].values()) for run in device_runs)
print(f"`bench/arc_batt.sh`: {files} batt programs of {steps} steps on 64 grids each, CPU with all threads")
print(f"against {backend}. {traced:,} values of steps are the same on both.\n")
print("| | CPU | device |\n|---|---|---|")
print(f"| primitives | {sum(r['steps_total'] for r in cpu_runs):,} | {sum(r['steps_total'] for r in device_runs):,} |")
print(f"| runs that left the device | | {falls} |")
print(f"| most copies of a file | | {max(r['transfers'] for r in device_runs)} |")
print(f"| seconds in kernels | {sum(cpu):.3f} | {sum(device):.3f} |")
print(f"\nSpeed-up of a file: median {statistics.median(gains):.2f}, least {min(gains):.2f}, most {max(gains):.2f};")
print(f"of all {sum(cpu) / sum(device):.2f}.")
sys.exit(sum(cpu) / sum(device) < least)
TABLE
