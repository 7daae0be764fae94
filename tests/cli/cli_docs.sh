#!/usr/bin/env bash
# cli_docs.sh QUERN PAGE - runs the commands of a page of the guide, in an empty folder.
#
#   ```sh          a block of commands: must end with exit code 0
#   ```c own.c     a file: written under that name before the blocks below it run
#   ```out         lines that the block of commands above printed, whatever the numbers are
#
# Files of the reader's own (a raster, a mesh) are made by tests/docs/PAGE.sh, which is run first.
# test: cost 24
. "$(dirname "$0")/lib.sh"

root=$(cd "$test_dir/../.." && pwd)
page=$(realpath "${2:?usage: $0 path/to/quern page.md}")
name=$(basename "$page" .md)
n_blocks=0

# Many readers have no GPU: a page that names no device means the CPU.
export QUERN_BACKEND=cpu

# Numbers and widths of columns differ from machine to machine.
loose() { sed -E -e 's/[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?/#/g' -e 's/[[:space:]]+/ /g' -e 's/ $//'; }

run_block() {
    [[ $(cat "$1") != *' bench fft'* && $(cat "$1") != *' les '* ]] || has_fftw || return 0
    n_blocks=$((n_blocks + 1))
    exits 0 bash -ec "$(cat "$1")" </dev/null
    cat "$out" "$err" | loose >"$scratch/printed"
}

check_output() {
    [ -s "$scratch/printed" ] || return 0
    while IFS= read -r line; do
        [ -z "$line" ] || grep -Fxq -- "$line" "$scratch/printed" || fail "not printed: $line"
    done < <(loose <"$1")
}

# shellcheck disable=SC1090
[ ! -f "$root/tests/docs/$name.sh" ] || . "$root/tests/docs/$name.sh"

kind='' block=$scratch/block
while IFS= read -r line; do
    case $kind,$line in
    ,'```'*)
        kind=${line#'```'}
        kind=${kind:-text}
        : >"$block"
        ;;
    *,'```')
        case $kind in
        sh) run_block "$block" ;;
        out) check_output "$block" ;;
        *' '*) cp "$block" "${kind#* }" ;;
        esac
        kind=''
        ;;
    ,*) ;;
    *) printf '%s\n' "$line" >>"$block" ;;
    esac
done <"$page"
[ -z "$kind" ] || fail "$name: a block of $kind is not closed"
! grep -q '^```sh$' "$page" || [ "$n_blocks" -gt 0 ] || ! has_fftw || fail "no block of $name was run"

# Headings as anchors of links: "Is it right?" is #is-it-right.
anchors() {
    sed -nE 's/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# Links within the repository lead somewhere. A tree may lack Python and reports.
while IFS= read -r link; do
    target=$(dirname "$page")/${link%%#*}
    case $link in
    http*) continue ;;
    *python/README.md | report.md) [ -e "$target" ] || continue ;;
    '#'*) target=$page ;;
    esac
    last="link of $name"
    [ -e "$target" ] || fail "$link: there is no such file"
    [[ $link != *'#'* ]] || anchors "$target" | grep -Fxq -- "${link#*#}" || fail "$link: no such heading"
done < <(grep -oE '\]\([^) ]+' "$page" | sed 's/^](//')
