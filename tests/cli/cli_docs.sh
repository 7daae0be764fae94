#!/usr/bin/env bash
# cli_docs.sh - blocks marked `sh` in README.md and docs/ run as they stand, in an empty folder.
# Lines that neither call quern nor echo (make, scripts/...) are left out: the tests are part of them.
. "$(dirname "$0")/lib.sh"

root=$(cd "$test_dir/../.." && pwd)
export QUERN_CACHE_DIR=$scratch/cache
n=0

for page in "$root"/README.md "$root"/docs/*.md; do
    sed -e ':again' -e '/\\$/ { N; s/\\\n */ /; b again' -e '}' "$page" |
        awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on && /(^| )quern |^echo / { print }' \
            >"$scratch/script.sh"
    [ -s "$scratch/script.sh" ] || continue
    mkdir "$scratch/work/$(basename "$page" .md)"
    cd "$scratch/work/$(basename "$page" .md)"
    while IFS= read -r line; do
        [[ $line != *' bench fft'* && $line != *' les '* ]] || has_fftw || continue
        n=$((n + 1))
        exits 0 bash -c "$line" </dev/null
    done <"$scratch/script.sh"
done
[ "$n" -gt 0 ] || fail "no example was found"
