#!/usr/bin/env bash
# cli_few_threads.sh - solweig with hardly any threads, or little address space: GDAL waits forever for
# threads that it does not get.
# test: long
. "$(dirname "$0")/lib.sh"

exits 0 quern make town --size 48 --out city
echo '2006 207 13 0 0 0 0 0 0 2 60 27 -999 0 800 0 0 0 0 0 0 -999 -999 0' >noon.txt
# The limit is per user, and root has none.
as=()
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || { echo 'skipped: no setpriv'; exit 77; }
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 755 "$scratch" "$scratch/work"
    chmod 777 .
    "${as[@]}" test -x "$QUERN_BIN" || { echo 'skipped: nobody may not run the command'; exit 77; }
fi
run() {
    "$@" quern solweig run --dsm city/dsm.npy --weather noon.txt --lat 57.7 --lon 12 --utc 1 \
        --backend cpu --outputs tmrt --progress off --out "$to"
}
export QUERN_CACHE_DIR=$PWD/cache
for most in 1 2 4 8; do
    to=few$most
    exits 0 run timeout 300 "${as[@]}" prlimit --nproc=$most
done
for kib in 250000 400000; do
    to=small$kib
    code=0
    (ulimit -v $kib && run timeout 300) >"$out" 2>"$err" || code=$?
    [ $code != 124 ] || fail "a run with $kib KiB of address space did not end"
done
