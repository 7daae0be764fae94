#!/usr/bin/env bash
# cli_full_disk.sh - a disk that is really full, which is a small one in memory: runs fail and say so,
# keep what is finished, and once there is room they are continued to the files of an undisturbed run.
# test: long, cost 20
if [ -z "${own_mounts:-}" ]; then
    unshare -rm true 2>/dev/null || { echo 'skipped: this system does not let a test mount a disk'; exit 77; }
    own_mounts=1 exec unshare -rm bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

mkdir disk
mount -t tmpfs -o size=8m none disk || { echo 'skipped: no disks in memory can be mounted'; exit 77; }
trap 'cd /; umount "$scratch/work/disk"; rm -rf "$scratch"' EXIT
export QUERN_CHECKPOINT_S=0

exits 0 quern make town --size 64 --out city
for hour in 6 10 13 20; do
    echo "2006 207 $hour 0 0 0 0 0 0 2 60 20 -999 0 300 0 0 0 0 0 0 -999 -999 0"
done >day.txt
hot() {
    quern solweig run --dsm city/dsm.npy --backend cpu --progress off --weather day.txt --lat 57.7 --lon 12 --utc 1 \
        --patches 145 --outputs tmrt "$@"
}
flow() {
    quern les run --n 16 --k-cut 3 --k-mid 5 --pairs 4 --steps 40 --stride 5 --observer snapshots \
        --checkpoint-every 10 --video none --backend cpu --progress off "$@"
}

# leaves KB: so much room.
leaves() {
    rm -f disk/ballast
    head -c $(((8192 - $1) * 1024)) /dev/zero >disk/ballast
}

# Names, and checksums of all that does not tell times of the run.
listing() {
    (
        cd "$1" && find . -type f | sort | while read -r file; do
            case $file in
            */run.journal | */run_metadata.json | */report.* | *_metrics.json) sum=- ;;
            *) sum=$(sha256sum <"$file") ;;
            esac
            echo "$file $sum"
        done
    )
}

# fills COMMAND...: on disks of several sizes. At least one run is interrupted after it has made progress.
fills() {
    local size kept=0

    exits 0 "$@" --out all
    listing all >all.list
    for ((size = 20;; size += 200)); do
        rm -rf disk/o
        leaves "$size"
        last="$*, with $size KB of room"
        "$@" --out disk/o >"$out" 2>"$err" && break
        has "$err" 'No space left on device'
        if grep -q 'what is finished is kept: repeat the command with --resume$' "$err"; then
            kept=$((kept + 1))
            last="--resume on the full disk"
            "$@" --out disk/o --resume >"$out" 2>"$err" || has "$err" 'No space left on device'
        fi
        rm disk/ballast
        exits 0 "$@" --out disk/o --resume
        listing disk/o | diff all.list - >&2 || fail "files differ from those of an undisturbed run, $size KB"
    done
    [ $kept -gt 0 ] || fail "no run was interrupted after progress"
    rm -rf all disk/o
}

fills hot --tile 20
fills hot
fills flow

# A single file: the old one stays.
printf 'id,op,n,seed,arg\n1,vadd,2000,7,\n' >batch.csv
exits 0 quern tasks run batch.csv --backend cpu -o disk/r.csv
cp disk/r.csv before.csv
! cat /dev/zero >disk/ballast 2>/dev/null || fail 'the disk has no end'
exits 1 quern tasks run batch.csv --backend cpu -o disk/r.csv
has "$err" 'r\.csv: No space left on device'
cmp disk/r.csv before.csv || fail 'the old file has changed'
[ "$(ls disk)" = "$(printf 'ballast\nr.csv')" ] || fail "files are left: $(ls disk)"
