#!/usr/bin/env bash
# cli_les_resume.sh - an interrupted run is resumed and leaves the files of an uninterrupted one, byte for byte;
# a folder has one run at a time; damaged and foreign folders are refused. tests/torture interrupts more.
# test: long, cost 11, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
les() {
    quern les run --progress off --quiet --backend cpu --n 32 --steps 40 --stride 10 \
        --hash-every 10 --observer snapshots "$@"
}

# same A B: all files but those that tell times are equal, and A has no other.
same() {
    diff <(listing "$1") <(listing "$2") >"$scratch/diff" || fail "$1 and $2 differ: $(head -3 "$scratch/diff")"
    if command -v python3 >/dev/null; then
        python3 - "$1"/*_metrics.json "$2"/*_metrics.json <<'PY' || fail "a resumed run differs"
import json, sys
a, b = (json.load(open(f))["les"] for f in sys.argv[1:])
assert a["hashes"] == b["hashes"] and len(a["hashes"]) > 1
assert a["series"] == b["series"] and a["snapshots"] == b["snapshots"]
PY
    fi
}
listing() {
    (cd "$1" && find . -type f | sort | while read -r file; do
        case $file in
        *_metrics.json | */report.* | */run.journal) echo "$file" ;;
        *) sha256sum "$file" ;;
        esac
    done) | sed 's/les_2[^_]*Z_//'
}

# long OPTION...: about a second; it is killed once it has a checkpoint.
long() {
    quern les run --progress off --quiet --backend cpu --n 64 --steps 4000 --stride 100 --hash-every 500 \
        --observer snapshots --video none "$@"
}
# The process that writes into a folder; its shell ends after it.
owner_of() {
    sed -n 's/.* owner //p' "$1/run.journal"
}
exits 0 long --out long
long --checkpoint-every 100 --out killed >/dev/null 2>&1 &
while ! grep -q ' fact checkpoint ' killed/run.journal 2>/dev/null; do sleep 0.01; done
kill -KILL "$(owner_of killed)"
wait $! 2>/dev/null || true
[ ! -e "$(echo killed/*_metrics.json)" ] || fail "the run was over before it was killed"
[ -s "$(echo killed/*_omega_t000100.npy)" ] || fail "a snapshot from before the checkpoint is missing"
cp -r killed damaged
refused 4 'killed: the run in this folder was another one: it had "seed=0", this one has "seed=5"' \
    long --seed 5 --resume --out killed
refused 4 '.* it had "nu0=0.0001", this one has "nu0=0.002"' long --nu0 0.002 --resume --out killed
mv killed moved
exits 0 env OMP_NUM_THREADS=1 "$QUERN_BIN" les run --progress off --quiet --backend cpu --n 64 --steps 4000 \
    --stride 100 --hash-every 500 --observer snapshots --video none --resume --out ./moved/
same moved long

# A run that never began is started; one that is finished stays as it is, until it is started again.
exits 0 les --checkpoint-every 15 --resume --out again
exits 0 les --out whole
same again whole
exits 0 les --checkpoint-every 30 --resume --out again
has "$out" '^the run in again is finished already: there is nothing to do$'
same again whole
refused 4 '.* it had "seed=0", this one has "seed=5"' les --seed 5 --resume --out again
exits 0 les --ensemble 2 --precision f64 --checkpoint-every 15 --resume --out pair
exits 0 les --ensemble 2 --precision f64 --out pair2
same pair pair2

# One run at a time.
long --steps 1000000 --out mine >/dev/null 2>&1 &
while ! grep -q ' owner ' mine/run.journal 2>/dev/null; do sleep 0.01; done
owner=$(owner_of mine)
for resume in '' --resume; do
    refused 1 "mine: another run, process $owner, is writing into this folder" long $resume --out mine
done
kill -KILL "$owner"
wait $! 2>/dev/null || true

# Damaged checkpoints are refused with one sentence, and a new run does without.
checkpoint=damaged/run.unfinished/checkpoint.$(sed -n 's/.* fact checkpoint //p' damaged/run.journal | tail -1)
printf 'x' | dd of="$checkpoint" bs=1 seek=2000 conv=notrunc status=none
refused 6 'damaged/run.unfinished/checkpoint\.[0-9]* is not a whole checkpoint: its content does not fit its SHA-256' \
    long --resume --out damaged
lines "$err" 1
truncate -s 3000 "$checkpoint"
refused 6 'damaged/run.unfinished/checkpoint\.[0-9]* is missing or cut short' long --resume --out damaged
exits 0 long --out damaged
[ "$(ls damaged/*_spectrum.csv | wc -l)" = 1 ] && [ ! -e damaged/run.unfinished ] || fail "something was left"

# A flow that blows up leaves the last good checkpoint.
exits 1 les --steps 400 --dt 0.6 --allow-unstable --nu0 0 --cs 0 --what sim --check-every 1 \
    --checkpoint-every 1 --out blown
has "$err" 'not finite: they came between steps [0-9]+ and [0-9]+; use a smaller --dt, or --dt-mode cfl; the checkpoint of step [0-9]+ remains$'
[ -s "$(echo blown/run.unfinished/checkpoint.*)" ] || fail "the last good checkpoint is gone"

# A folder may have as long a path as the system allows.
name=$(printf 'd%.0s' $(seq 250))
exits 0 les --out "$name/$name/$name"
[ -s "$name/$name/$name/report.html" ] || fail "no report in a folder with a long path"
refused 1 'cannot make the folder d' les --out "d$name$name"
