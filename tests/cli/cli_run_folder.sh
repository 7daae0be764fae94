#!/usr/bin/env bash
# cli_run_folder.sh - what a run may find in its folder: nothing, a finished run, an unfinished one, and runs
# with other options or of other tools.
. "$(dirname "$0")/lib.sh"

exits 0 quern make town --size 48 --out city
for hour in 6 13 20; do
    echo "2006 207 $hour 0 0 0 0 0 0 2 60 20 -999 0 300 0 0 0 0 0 0 -999 -999 0"
done >day.txt
city=(--dsm city/dsm.npy --backend sim --progress off)
hot() {
    QUERN_CHECKPOINT_S=0 quern solweig run "${city[@]}" --weather day.txt --lat 57.7 --lon 12 --utc 1 --outputs tmrt "$@"
}
same() {
    local file
    for file in $(cd all && find . -name '*.csv' -o -name '*.tif' -o -name '*.npy'); do
        cmp -s "all/$file" "$1/$file" || fail "$file of $1 differs"
    done
}

# A run that never began is started; for a finished run, a line says so.
exits 0 hot --out all
exits 0 hot --out new --resume
same new
exits 0 quern compare all new # though no step is at night
exits 0 hot --out new --resume
has "$out" '^the run in new has already finished: nothing to do$'

# Files made with other options stay, and the run says so.
exits 0 hot --out new --sky iso
has "$err" '^quern: warn: new: also has files of an earlier run with other options$'
exits 4 hot --out new --resume
has "$err" 'it has "sky=1", this one has "sky=0"'

# Another tool does not remove an unfinished run. When resumed, it ends as if nothing had happened.
QUERN_FAULT='launch:tmrt@3*1' exits 3 hot --out part --fallback error
has "$err" 'what is finished is kept: repeat the command with --resume$'
find part | sort >before
quern fit new mesh >ball.fit
refused 4 'part: a run of solweig is unfinished in this folder; continue it' quern fit run ball.fit --out part
refused 4 'part: a run of solweig is unfinished in this folder; continue it' quern solweig svf "${city[@]}" --out part
find part | sort | cmp -s - before || fail "the unfinished run has changed"
exits 0 hot --out part --resume
has "$out" '^2 steps of a tile were finished by the interrupted run$'
same part
exits 0 quern fit run ball.fit --out part
same part
