#!/usr/bin/env bash
# solweig_durable.sh [QUERN] [SIZE] [ROUNDS] - the cost of being able to continue an interrupted run: 24 hours
# of a generated town of SIZE x SIZE pixels on the CPU, alternating between the normal run, an fsync that does
# nothing, and no checkpoints inside tiles. The fastest of ROUNDS counts, so other load on the machine matters
# little. Writes bench/results/solweig_durable.md. Exits with 1 if fsync takes more than 3 % or checkpoints
# take more than 2 %.
set -euo pipefail

quern=$(realpath "${1:-build/quern}")
size=${2:-2000}
rounds=${3:-5}
result=$(cd "$(dirname "$0")" && pwd)/results/solweig_durable.md
top=$(mktemp -d "${TMPDIR:-/tmp}/quern-durable.XXXXXX")
trap 'rm -rf "$top"' EXIT
cd "$top"

"$quern" make town --size "$size" --out city >/dev/null
for hour in {0..23}; do
    echo "2006 207 $hour 0 0 0 0 0 0 2 60 $((14 + hour % 12)) -999 0" \
        "$((hour > 5 && hour < 21 ? 800 - 100 * (hour > 13 ? hour - 13 : 13 - hour) : 0)) 0 0 0 0 0 0 -999 -999 0"
done >day.txt
echo 'int fsync(int fd) { (void)fd; return 0; } int fdatasync(int fd) { return fsync(fd); }' >off.c
cc -shared -fPIC -o off.so off.c

command=(quern solweig run --dsm city/dsm.npy --cdsm city/cdsm.npy --weather day.txt --lat 57.7 --lon 12
    --utc 1 --outputs tmrt --backend cpu --progress off --quiet)

# run NAME [VARIABLE=VALUE...]: adds "seconds user+sys" to NAME.times.
run() {
    local name=$1 TIMEFORMAT='%R %U %S'

    shift
    rm -rf o
    sync -f .
    { time env "$@" "$quern" "${command[@]:1}" --out o >log 2>&1; } 2>time || { cat log; exit 1; }
    awk '{ print $1, $2 + $3 }' time >>"$name.times"
}

for ((i = 0; i < rounds; i++)); do
    run all
    run no-fsync LD_PRELOAD="$top/off.so"
    run no-checkpoints QUERN_CHECKPOINT_S=1e9
done

least() { sort -n "$1.times" | head -1 | cut -d' ' -f1; }
cpu() { cut -d' ' -f2 "$1.times" | sort -n | head -1; }
share() { awk -v a="$(least all)" -v b="$(least "$1")" 'BEGIN { printf "%.1f", 100 * (a / b - 1) }'; }

{
    echo "# What continuing an interrupted run costs"
    echo
    echo "$(date -u +%F), $("$quern" version), CPU: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) cores." \
        "\`bench/solweig_durable.sh QUERN $size $rounds\`: the fastest of $rounds rounds in turns of"
    echo
    echo "    ${command[*]} --out o"
    echo
    echo "| run | seconds | user + system seconds | the run as it is takes more by |"
    echo "|---|---:|---:|---:|"
    echo "| as it is | $(least all) | $(cpu all) | |"
    echo "| an fsync that does nothing | $(least no-fsync) | $(cpu no-fsync) | $(share no-fsync) % |"
    echo "| no checkpoints inside tiles | $(least no-checkpoints) | $(cpu no-checkpoints) | $(share no-checkpoints) % |"
} | tee "$result"
awk -v a="$(share no-fsync)" -v b="$(share no-checkpoints)" 'BEGIN { exit a > 3 || b > 2 }'
