#!/usr/bin/env bash
# device_route.sh PACK [ROUNDS] - how much time the router loses on this machine, from a folder made
# by scripts/pack: the seven scenarios under each policy, after the quick scan and after a full
# calibration, with all cores and with two. Regret of auto must stay below 10 %.
set -eu
pack=${1:?usage: device_route.sh PACK [ROUNDS]}
rounds=${2:-300}
export LD_LIBRARY_PATH=$pack/lib
QUERN_CACHE_DIR=$(mktemp -d)
export QUERN_CACHE_DIR
# NVIDIA's OpenCL shows the same hardware again.
export QUERN_HIDE=${QUERN_HIDE-opencl}
quern=$pack/quern

echo "# quern $("$quern" --version | cut -d' ' -f2), $(date -u +%Y-%m-%dT%H:%M:%SZ), $rounds rounds"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
"$quern" devices
for threads in "$(nproc)" $(($(nproc) / 2)) 2; do
    echo "## quick scan, $threads threads"
    "$quern" route eval --scenario all --samples "$rounds" --warmup 200 --threads "$threads"
    "$quern" route show --threads "$threads"
done
echo "## full calibration, $(nproc) threads"
"$quern" calibrate --seconds 0.3 --progress off | grep -v /profile/
for threads in "$(nproc)" 2; do
    echo "## after it, $threads threads"
    "$quern" route eval --scenario all --samples "$rounds" --warmup 200 --threads "$threads"
done
echo "## a trace of task batches, replayed on every device"
"$quern" tasks run --scenario all --quiet --explain-route "$QUERN_CACHE_DIR/trace.csv" >/dev/null
"$quern" route eval "$QUERN_CACHE_DIR/trace.csv" --samples 10
