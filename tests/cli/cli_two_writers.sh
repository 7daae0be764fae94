#!/usr/bin/env bash
# cli_two_writers.sh - two processes that write one file at once: whoever reads it finds the file of one
# of them, whole, and in the end no other file is left, even if both were killed before.
. "$(dirname "$0")/lib.sh"

exits 0 quern make town --size 48 --out city
echo '{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[]}' >turn.json
for way in h v; do
    printf 'def solve_turn(I):\n    O = %smirror(I)\n    return O\n' $way >$way.py
done
exits 0 quern fit new mesh
cp "$out" ball.fit
printf 'id,op,n,seed,arg\n1,vadd,2000,7,\n' >1.csv
printf 'id,op,n,seed,arg\n1,merkle,64,9,\n' >2.csv

# write 1|2 KIND FILE
write() {
    local azimuth=$((45 * $1)) program=v target=cuda
    [ "$1" = 1 ] || program=h target=opencl
    case $2 in
    tif | npy | png) quern solweig shadow --dsm city/dsm.npy --azimuth $azimuth --altitude 30 --backend cpu -o "$3" ;;
    jsonl) quern arc run $program.py --tasks turn.json --match all --backend cpu -o "$3" ;;
    cu) quern fit emit ball.fit --target $target -o "$3" ;;
    csv) quern tasks run "$1.csv" --backend cpu -o "$3" ;;
    esac
}

# The last column of a table of tasks is a time.
sum() {
    case $1 in
    *.csv) cut -d, -f1-8 "$1" | sha256sum ;;
    *) sha256sum <"$1" ;;
    esac
}

is_whole() {
    [ -e "$1" ] || return 0
    cp "$1" "seen.$kind"
    grep -qF "$(sum "seen.$kind")" known || fail "$1 is neither of the two files"
}

for kind in tif npy png jsonl cu csv; do
    : >known
    for i in 1 2; do
        exits 0 write $i $kind "one.$kind"
        sum "one.$kind" >>known
    done
    [ "$(sort -u known | wc -l)" = 2 ] || fail "$kind: both write the same"
    mkdir at
    for round in {1..4}; do
        write 1 $kind "at/a.$kind" >log.1 2>&1 &
        first=$!
        write 2 $kind "at/a.$kind" >log.2 2>&1 &
        second=$!
        while kill -0 $first 2>/dev/null || kill -0 $second 2>/dev/null; do
            is_whole "at/a.$kind"
            [ "$round" != 4 ] || kill -KILL $first $second 2>/dev/null || true # as soon as they can be
        done
        if [ "$round" != 4 ]; then
            wait $first && wait $second || fail "$kind: one of two failed: $(cat log.1 log.2)"
        fi
    done
    wait || true
    is_whole "at/a.$kind"
    exits 0 write 1 $kind "at/a.$kind"
    is_whole "at/a.$kind"
    [ "$(ls at)" = "a.$kind" ] || fail "$kind: files are left: $(ls at)"
    rm -r at
done
