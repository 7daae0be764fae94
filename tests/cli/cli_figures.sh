#!/usr/bin/env bash
# cli_figures.sh - the figures of README.md and docs/performance.md are those of bench/results.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "skipped: no python3 for tools/figures.py"; exit 77; }

root=$(cd "$test_dir/../.." && pwd)
exits 0 python3 "$root/tools/figures.py" --check
empty "$out"
# Every table of figures is one of those.
checked=$(grep -c '^<!-- figures ' "$root/docs/performance.md")
[ "$checked" -ge 9 ] || fail "only $checked blocks of docs/performance.md have a source"
awk '/^<!-- figures /,/^-->/ { made = 1; next } /^\|---/ && !made { print FILENAME ": " before }
     /^$/ { made = 0 } { before = $0 }' "$root/docs/performance.md" >bare
empty bare

# A figure that differs is noticed and corrected; a missing row is named.
mkdir -p tree/docs
cp -r "$root/bench" tree/bench
cp "$root/README.md" tree/
cp "$root/docs/performance.md" tree/docs/
sed -i '/^| `saxpy`, resident, 256 Mi floats | [0-9]/s/ TB\/s/9 TB\/s/' tree/docs/performance.md
exits 1 python3 "$root/tools/figures.py" --check tree
has "$out" '^docs/performance\.md: \| `saxpy`.*[0-9]9 TB/s'
exits 0 python3 "$root/tools/figures.py" tree
cmp "$root/docs/performance.md" tree/docs/performance.md || fail "it was not mended"
sed -i '/^| matmul/d' tree/bench/results/engine_h200.md
exits 1 python3 "$root/tools/figures.py" tree
has "$err" 'performance.md: \{matmul, resident > quern\} of engine_h200\.md: no such row and column$'
cmp "$root/docs/performance.md" tree/docs/performance.md || fail "half of it was written"
