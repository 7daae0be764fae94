#!/usr/bin/env bash
# device_route.sh PACK [SECONDS] - how much time the router loses on this machine, from a folder made
# by scripts/pack: seven scenarios at twelve sizes under each policy, with half of the cores, all of
# them, and two. SECONDS (default 0.4) bounds each size. Regret of auto must stay below 10 %, and no
# size may be more than 5 % worse than the best fixed choice by more than twice its standard error.
set -eu
pack=${1:?usage: device_route.sh PACK [SECONDS]}
seconds=${2:-0.4}
export LD_LIBRARY_PATH=$pack/lib
QUERN_CACHE_DIR=$(mktemp -d)
export QUERN_CACHE_DIR
# NVIDIA's OpenCL shows the same hardware again.
export QUERN_HIDE=${QUERN_HIDE-opencl}
quern=$pack/quern

echo "# quern $("$quern" --version | cut -d' ' -f2), $(date -u +%Y-%m-%dT%H:%M:%SZ), $seconds s"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
"$quern" devices
for threads in $(($(nproc) / 2)) "$(nproc)" 2; do
    echo "## $threads threads"
    "$quern" route eval --scenario all --spread 12 --samples 1500 --warmup 300 \
        --seconds "$seconds" --threads "$threads"
done
