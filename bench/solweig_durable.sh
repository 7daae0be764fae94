#!/usr/bin/env bash
# solweig_durable.sh [QUERN] [SIZE] [ROUNDS] - the cost of being able to continue an interrupted run: 24 hours
# of a generated town of SIZE x SIZE pixels on the CPU, with the normal fsync and with one that does nothing.
# The order changes from round to round and the fastest of ROUNDS counts, so other load on the machine matters
# little. A run of ten days reports how long checkpoints held it up; a short run makes none. Writes
# bench/results/solweig_durable.md. Exits with 1 if fsync takes more than 3 % or checkpoints take more than 2 %.
set -euo pipefail

quern=$(realpath "${1:-build/quern}")
size=${2:-2000}
rounds=${3:-5}
result=$(cd "$(dirname "$0")" && pwd)/results/solweig_durable.md
top=$(mktemp -d "${TMPDIR:-/tmp}/quern-durable.XXXXXX")
trap 'rm -rf "$top"' EXIT
cd "$top"

"$quern" make town --size "$size" --out city >/dev/null
for day in {0..9}; do
    for hour in {0..23}; do
        echo "2006 $((207 + day)) $hour 0 0 0 0 0 0 2 60 $((14 + hour % 12)) -999 0" \
            "$((hour > 5 && hour < 21 ? 800 - 100 * (hour > 13 ? hour - 13 : 13 - hour) : 0)) 0 0 0 0 0 0 -999 -999 0"
    done
done >days.txt
head -24 days.txt >day.txt
cat >off.c <<'END'
int fsync(int fd) { (void)fd; return 0; }
int fdatasync(int fd) { return fsync(fd); }
int sync_file_range(int fd, long from, long n, unsigned how) { (void)from, (void)n, (void)how; return fsync(fd); }
END
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

run first # which finds no files in memory
for ((i = 0; i < rounds; i++)); do
    [ $((i % 2)) = 0 ] || run no-fsync LD_PRELOAD="$top/off.so"
    run all
    [ $((i % 2)) = 1 ] || run no-fsync LD_PRELOAD="$top/off.so"
done
command=("${command[@]/day.txt/days.txt}")
run ten-days
command=("${command[@]/days.txt/day.txt}")

least() { sort -n "$1.times" | head -1 | cut -d' ' -f1; }
cpu() { cut -d' ' -f2 "$1.times" | sort -n | head -1; }
telemetry() { printf %.3g "$(sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" o/run_metadata.json | head -1)"; }
fsync=$(awk -v a="$(least all)" -v b="$(least no-fsync)" 'BEGIN { printf "%.1f", 100 * (a / b - 1) }')
held=$(telemetry checkpoints_s) total=$(telemetry total_s)
checkpoints=$(awk -v a="$held" -v b="$total" 'BEGIN { printf "%.2f", 100 * a / b }')

{
    echo "# What continuing an interrupted run costs"
    echo
    echo "$(date -u +%F), $("$quern" version), CPU: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) cores." \
        "\`bench/solweig_durable.sh QUERN $size $rounds\`: the fastest of $rounds rounds of"
    echo
    echo "    ${command[*]} --out o"
    echo
    echo "| run | seconds | user + system seconds |"
    echo "|---|---:|---:|"
    echo "| as it is | $(least all) | $(cpu all) |"
    echo "| an fsync that does nothing | $(least no-fsync) | $(cpu no-fsync) |"
    echo
    echo "The run as it is takes $fsync % more. Ten days take $total s; for $held s of them, $checkpoints %, the run waits for checkpoints."
} | tee "$result"
awk -v a="$fsync" -v b="$checkpoints" 'BEGIN { exit a > 3 || b > 2 }'
