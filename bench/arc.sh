#!/usr/bin/env bash
# arc.sh PACK TASKS SOLVERS [OUT] - grid programs on one machine, in one run: the reference interpreter, one
# CPU thread, all CPU threads, and the device, at 1, 8 and 64 copies of every pair, with and without the one
# program that takes most of the reference's time.
#
# PACK is a folder with the command: of scripts/pack, or of a build. TASKS is a folder of task files. SOLVERS
# is the public solvers.py; if dsl.py lies beside it, the reference interpreter is timed too. OUT (default
# bench/results/arc) gets the raw files and arc.md. Environment: BACKEND (default auto), COPIES (default
# 1,8,64), SAMPLES (default 5).
set -euo pipefail

usage='usage: arc.sh PACK TASKS SOLVERS [OUT]'
pack=$(realpath "${1:?$usage}")
tasks=${2:?$usage}
solvers=${3:?$usage}
here=$(cd "$(dirname "$0")" && pwd)
out=${4:-$here/results/arc}
mkdir -p "$out"
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
QUERN_CACHE_DIR=${QUERN_CACHE_DIR:-$(mktemp -d)}
export QUERN_CACHE_DIR
# NVIDIA's OpenCL shows the same hardware again.
export QUERN_HIDE=${QUERN_HIDE-opencl}
[ "${BACKEND:-}" != opencl ] || unset QUERN_HIDE
quern=$pack/quern
backend=(--backend "${BACKEND:-auto}")
reference=() without=()

if [ -f "$(dirname "$solvers")/dsl.py" ]; then
    python3 "$here/arc_reference.py" "$(dirname "$solvers")" "$tasks" "$out/reference.json"
    reference=("$out/reference.json")
    without=(--without "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["worst_program"])' "$out/reference.json")")
else
    echo "no dsl.py beside $solvers: the reference interpreter is not timed" >&2
fi
"$quern" arc run "$solvers" --tasks "$tasks" --check --quiet "${backend[@]}" \
    --stats "$out/stats.json" | tee "$out/check.txt"
"$quern" arc bench "$solvers" --tasks "$tasks" --replicate "${COPIES:-1,8,64}" \
    --samples "${SAMPLES:-5}" --quiet "${backend[@]}" "${without[@]}" -o "$out/bench.json"
{
    printf '# Grid programs\n\n'
    printf 'Made by `bench/arc.sh`, quern %s, %s.\n\n' "$("$quern" --version | cut -d' ' -f2)" \
        "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '```\n'
    "$quern" devices
    cat "$out/check.txt"
    printf '```\n\n'
    status=0
    python3 "$here/arc_table.py" "$out/bench.json" "${reference[@]}" || status=$?
} >"$out/arc.md"
cat "$out/arc.md"
exit "$status"
