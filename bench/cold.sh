#!/usr/bin/env bash
# cold.sh PACK [OUT] - what the first run of a tool waits for on a device: each tool once with an empty
# kernel cache, once with the cache that this run left, and once on the CPU. PACK is a folder with the
# command: of scripts/pack, or of a build. OUT (default: a new folder) gets what each run printed.
#
# Prints a table in Markdown. `kernels`: modules compiled, taken from a pack of compiled kernels and
# read from the disk; `compiling`: the seconds of each, added up. Ends with 0 when every run did.
#
# Environment: BACKEND (default cuda), TOOLS (default les fit arc arc-auto solweig tasks),
# ARC_TASKS and ARC_SOLVERS (default: made programs, 1720 runs), LES_STEPS (2000).
set -euo pipefail

usage='usage: cold.sh PACK [OUT]'
pack=$(realpath "${1:?$usage}")
out=$(realpath -m "${2:-$(mktemp -d)}")
backend=${BACKEND:-cuda}
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
export QUERN_HIDE=${QUERN_HIDE-opencl}
[ "$backend" != opencl ] || unset QUERN_HIDE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
status=0

tool() { # NAME: sets `command`
    case $1 in
        les) command=(les run --n 2048 --steps "${LES_STEPS:-2000}" --out "$work/les") ;;
        fit) command=(fit run "$work/film.fit" --out "$work/fit") ;;
        arc | arc-auto)
            command=(arc run "${ARC_SOLVERS:-$work/made/solvers.py}" --tasks "${ARC_TASKS:-$work/made/tasks}") ;;
        solweig)
            command=(solweig run --dsm "$work/town/dsm.npy" --cdsm "$work/town/cdsm.npy" --weather
                "$work/town/weather.txt" --lat 57.7 --lon 12 --utc 1 --out "$work/solweig") ;;
        tasks) command=(tasks run --scenario Uniform-32k) ;;
        *) echo "cold.sh: no tool $1" >&2; exit 2 ;;
    esac
}

# One run; appends a row to the table.
measure() { # TOOL, CACHE, ARGUMENT...
    local name=$1 cache=$2 begin end code=0
    shift 2
    tool "$name"
    begin=$(date +%s.%N)
    "$pack/quern" "${command[@]}" "$@" --metrics "$work/metrics.json" \
        >"$out/$name-$cache.txt" 2>&1 || code=$?
    end=$(date +%s.%N)
    [ $code -eq 0 ] || { status=1; tail -n 3 "$out/$name-$cache.txt" >&2; }
    python3 - "$work/metrics.json" "$name" "$cache" "$begin" "$end" $code <<'EOF'
import json, sys

path, name, cache, begin, end, code = sys.argv[1:]
found = {m["name"]: m for m in json.load(open(path))["metrics"]}

def value(name):
    m = found.get(name, {})
    return m.get("value", m.get("sum", 0)) or 0

print(f"| {name} | {cache} | {float(end) - float(begin):.2f} | {value('kernel_compiles'):.0f} "
      f"| {value('kernel_pack_hits'):.0f} | {value('kernel_cache_disk_hits'):.0f} "
      f"| {value('kernel_compile_time_ms') / 1e3:.2f} | {value('fft_plan_time_ms') / 1e3:.2f} | {code} |")
EOF
}

"$pack/quern" make town --size 256 --relief 25 --out "$work/town" >/dev/null
printf '2006 207 %s 0 0 0 0 0 0 2 60 %s -999 0 %s 0 0 0 0 0 0 -999 -999 0\n' \
    11 24 750 13 26 850 15 26 760 >"$work/town/weather.txt"
"$pack/quern" make programs --programs 172 --grids 10 --out "$work/made" >/dev/null
"$pack/quern" fit new mesh >"$work/film.fit"

printf '%s, %s cores, %s\n\n' "$("$pack/quern" version | head -n 1)" "$(nproc)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
echo '| tool | kernel cache | seconds | compiled | from a pack | from disk | compiling s | FFT plans s | exit |'
echo '|---|---|---|---|---|---|---|---|---|'
for name in ${TOOLS:-les fit arc arc-auto solweig tasks}; do
    on=(--backend "$backend")
    [ "$name" != arc-auto ] || on=(--backend auto)
    # The driver has a cache of its own, of PTX that it compiled.
    export QUERN_CACHE_DIR=$work/cache-$name CUDA_CACHE_PATH=$work/driver-$name
    measure "$name" empty "${on[@]}"
    measure "$name" warm "${on[@]}"
done
exit $status
