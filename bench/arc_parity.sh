#!/usr/bin/env bash
# arc_parity.sh PACK BACKEND [SOLVERS FOLDER...] - compares a device with the CPU, run by run.
#
#   with SOLVERS  every program of the file on the first grid of every task of the folders
#   always        made-up programs, one in ten with a wrong argument, on every made-up grid; and every
#                 step of a made-up batt program of 2868 steps
#
# Status, error code, number of steps and output of each run, and the value of each step, must be
# equal, bit for bit; ends with 0 when they are.
#
# PACK is a folder with the command: of scripts/pack, or of a build. BACKEND is a device ("cuda:0").
# Environment: SAMPLE=N takes every Nth task only; MADE=N (default 400) programs, each with a task;
# SEED (default 1) of the generated programs and tasks.
set -euo pipefail

usage='usage: arc_parity.sh PACK BACKEND [SOLVERS FOLDER...]'
pack=$(realpath "${1:?$usage}")
backend=${2:?$usage}
quern=$pack/quern
shift 2
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
QUERN_CACHE_DIR=${QUERN_CACHE_DIR:-$work/cache}
export QUERN_CACHE_DIR
status=0

# both NAME ARGUMENTS...: the run on both devices, to NAME.cpu.* and NAME.device.*
both() {
    local name=$work/$1
    shift
    for place in cpu device; do
        "$quern" arc run "$@" --backend "$([ $place = cpu ] && echo cpu || echo "$backend")" \
            --quiet --log error --digest "$name.$place.txt" --stats "$name.$place.json" 2>/dev/null
    done
}

# same WHAT A B: the two files, of which the last line may be a total.
same() {
    local n
    n=$(grep -vc '^total ' "$2")
    if cmp -s "$2" "$3"; then
        echo "$1: $n, all equal on cpu and $backend"
        return
    fi
    echo "$1: of $n $(diff "$2" "$3" | grep '^<' | grep -vc '^< total') differ on cpu and $backend:"
    diff "$2" "$3" | head -20 || true
    status=1
}

counts() { tr -d '\n' <"$1" | grep -oE '"(gpu_ops|cpu_ops|reruns|transfers)": [0-9]+|"fallbacks": \{[^}]*\}' | tr -s '\n ' ' '; echo; }

if [ $# -gt 0 ]; then
    solvers=$(realpath "$1")
    : "${2:?$usage}"
    shift
    # One folder for all tasks; several of the given folders may have files with the same name.
    mkdir "$work/tasks"
    for folder in "$@"; do
        find "$(realpath "$folder")" -maxdepth 1 -name '*.json' | sort
    done | awk -v every="${SAMPLE:-1}" '(NR - 1) % every == 0' | while read -r file; do
        ln -s "$file" "$work/tasks/$(basename "$(dirname "$file")")-$(basename "$file")"
    done
    both solvers "$solvers" --tasks "$work/tasks" --pairs first --match all
    same 'runs of solvers' "$work/solvers.cpu.txt" "$work/solvers.device.txt"
    counts "$work/solvers.device.json"
fi

"$quern" make programs --programs "${MADE:-400}" --grids 1 --wrong 10 --steps 2868 --seed "${SEED:-1}" \
    --out "$work/made" >/dev/null
both made "$work/made/solvers.py" --tasks "$work/made/tasks" --match all
same 'runs of made-up programs' "$work/made.cpu.txt" "$work/made.device.txt"
counts "$work/made.device.json"
for place in cpu device; do
    "$quern" arc run "$work/made/batt.py" --tasks "$work/made/tasks/made0.json" --quiet --log error \
        --backend "$([ $place = cpu ] && echo cpu || echo "$backend")" \
        --trace "$work/batt.$place.txt" >/dev/null 2>&1
done
same 'steps of a batt program' "$work/batt.cpu.txt" "$work/batt.device.txt"
exit $status
