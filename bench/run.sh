#!/usr/bin/env bash
# run.sh [BUILD] - what `make bench` does: micro-benchmarks of this machine, compared with the last
# ones kept in out/bench. GPU machines with peers installed: bench/engine.sh.
set -euo pipefail
build=${1:-build}
cd "$(dirname "$0")/.."
mkdir -p out/bench
for verb in ops graph pool kernels; do
    old=out/bench/$verb.json
    [ -f "$old" ] && cp "$old" "$old.last"
    "$build/quern" bench "$verb" --json "$old" ${old:+$([ -f "$old.last" ] && echo --compare "$old.last")}
done
"$build/quern" tasks bench --samples 20 --csv out/bench/tasks.csv --md out/bench/tasks.md
