#!/usr/bin/env bash
# cli_fit_bench.sh - output, files and refusals of `quern fit bench`, with few instances.
# test: long, cost 36
. "$(dirname "$0")/lib.sh"

checked() { if command -v python3 >/dev/null; then python3 - "$@"; else cat >/dev/null; fi; }
bench() { quern fit bench "$@" --backend cpu; }

# A device that works.
exits 0 bench hello
has "$out" '^squares are right on cpu:0: 1000 of 1000$'
exits 0 quern fit bench hello --backend sim --precision f32
has "$out" '^hello +squares +f32 +sim:0 +1000 '

# Figures.
exits 0 bench B1 --n 2000 -o b1.json
has "$out" '^B1 +springs residuals +f64 +cpu:0 +2000 '
has "$out" '^B1 +springs residuals\+jacobian '
has "$out" '^B1 +springs gradient owner '
has "$out" '^memory: [0-9.]+ GB/s$'
checked b1.json <<'PY' || fail "bad figures of B1"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["format"] == "quern-fit-bench-1" and "fit bench B1" in d["command"]
rows = {r["what"]: r for r in d["rows"]}
j = rows["springs residuals+jacobian"]
vertices = 729  # a grid of 27 x 27 has 2028 edges
assert j["n"] == 2000 and j["bytes"] == 2000 * 48 + 24 * vertices
assert 0 < j["best_s"] <= j["median_s"] and j["piped_s"] > 0
best = min(j["best_s"], j["piped_s"])
assert abs(j["ns_per_instance"] - 1e9 * best / 2000) < 1e-6 * j["ns_per_instance"]
assert abs(j["gbs"] - j["bytes"] / best / 1e9) < 1e-6 * j["gbs"]
assert abs(j["bound_pct"] - 100 * j["bound_s"] / best) < 1e-6 * j["bound_pct"]
PY
exits 0 bench B3 --n 1000 --precision f32
has "$out" '^B3 +cameras residuals\+jacobian +f32 '
exits 0 bench B1 --n 2000 --storage f32
has "$out" '^B1 +springs residuals\+jacobian stored in f32 +f64 '
exits 0 bench B4 --n 2000
has "$out" '^B4 +springs gradient gather '
has "$out" '^B4 +springs gradient atomic '
has "$out" '^B4 +curve gradient gather '
exits 0 bench B7
has "$out" '^B7 +1000 terms with graphs of their own: 1 group '
has "$out" '^B7 +cameras: first evaluation, from disk '
exits 0 bench B8 --n 1
has "$out" '^B8 +sphere 1, 42 vertices: LM step '
has "$out" '^sphere 1, 42 vertices: LM step cpu: '

# Refused.
exits 2 bench B9
has "$err" 'there is no bench B9'
exits 2 bench B1 --n -5
exits 2 bench B1 --precision f16
exits 2 quern fit bench
