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
        python3 - "$1"/les_metrics.json "$2"/les_metrics.json <<'PY' || fail "a resumed run differs"
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
        *.checkpoint) ;; # only runs with --checkpoint-every keep one
        *_metrics.json | */report.* | */run.journal) echo "$file" ;;
        *) sha256sum "$file" ;;
        esac
    done)
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
[ ! -e killed/les_metrics.json ] || fail "the run was over before it was killed"
[ -s killed/les_omega_t000100.npy ] || fail "a snapshot from before the checkpoint is missing"
cp -r killed damaged
cp -r killed longer
refused 4 'killed: the run in this folder is a different one: it has "seed=0", this one has "seed=5"' \
    long --seed 5 --resume --out killed
refused 4 '.* it has "nu0=0.0001", this one has "nu0=0.002"' long --nu0 0.002 --resume --out killed
mv killed moved
exits 0 env OMP_NUM_THREADS=1 "$QUERN_BIN" les run --progress off --quiet --backend cpu --n 64 --steps 4000 \
    --stride 100 --hash-every 500 --observer snapshots --video none --resume --out ./moved/
same moved long

# A run that never began is started; a finished one stays unchanged until it is started again.
exits 0 les --checkpoint-every 15 --resume --out again
exits 0 les --out whole
same again whole
exits 0 les --checkpoint-every 30 --resume --out again
has "$out" '^the run in again has already finished: nothing to do$'
same again whole
refused 4 '.* it has "seed=0", this one has "seed=5"' les --seed 5 --resume --out again
exits 0 les --ensemble 2 --precision f64 --checkpoint-every 15 --resume --out pair
exits 0 les --ensemble 2 --precision f64 --out pair2
same pair pair2

# A run goes on with more steps, finished or not, and leaves the files of one that had them from the beginning.
exits 0 les --checkpoint-every 15 --out more
exits 0 les --steps 80 --resume --out more
exits 0 les --steps 80 --checkpoint-every 30 --out once
same more once
cmp -s more/les_t000080.checkpoint once/les_t000080.checkpoint || fail "the last checkpoints differ"
[ "$(ls more | grep -c checkpoint)" = 1 ] || fail "an old checkpoint was left"
refused 4 'more: the run in this folder is finished with 80 steps: give more --steps' les --steps 60 --resume --out more
refused 4 'whole: .* is finished and kept no checkpoint to go on from' les --steps 80 --resume --out whole
refused 4 'longer: .* has made [0-9]* steps already, more than --steps 50' long --steps 50 --resume --out longer
exits 0 long --steps 4100 --resume --out longer
exits 0 long --steps 4100 --out longest
same longer longest

# Rows of the series that were not written cannot be made again: their interval stays.
les --n 16 --what sim --k-cut 3 --stride 200 --checkpoint-every 400 --steps 400 --out rows >/dev/null
exits 0 les --n 16 --what sim --k-cut 3 --stride 200 --steps 1000 --resume --out rows
[ "$(sed -n 3p rows/les_series.csv | cut -d, -f1)" = 2 ] || fail "the rows of the series have another interval"
[ "$(tail -1 rows/les_series.csv | cut -d, -f1)" = 1000 ] || fail "the last step is not in the series"
refused 4 '.* it has "log_every=2", this one has "log_every=5"' \
    les --n 16 --what sim --k-cut 3 --stride 200 --steps 2000 --log-every 5 --resume --out rows

# Other physics, where that is asked for; never another grid.
refused 4 '.* it has "nu0=0.0001", this one has "nu0=0.01"; repeat its options, add --resume-with-changes,' \
    les --steps 120 --nu0 0.01 --resume --out more
refused 4 '.* it has "N=32", this one has "N=64"; a run continues on its own grid only' \
    les --steps 120 --n 64 --resume-with-changes --out more
exits 0 les --steps 80 --resume --out more
has "$out" 'has already finished'
refused 2 'dt: 5 is unstable' les --steps 120 --dt 5 --resume-with-changes --out more
exits 0 les --steps 80 --resume --out more
has "$out" 'has already finished'
exits 0 les --steps 120 --nu0 0.01 --resume-with-changes --out more
has more/les_metrics.json 'from step 80 with nu0=0.01 instead of nu0=0.0001'
cmp -s more/les_omega_t000080.npy once/les_omega_t000080.npy || fail "the field before the change differs"

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
[ "$(ls damaged/les_spectrum.csv | wc -l)" = 1 ] && [ ! -e damaged/run.unfinished ] || fail "something was left"

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
