#!/usr/bin/env bash
# cli_options.sh - consistency: an option name means the same in every command.
. "$(dirname "$0")/lib.sh"

exits 0 quern --help
commands=$(awk '/^Commands:$/ { on = 1; next } on && !/^  [a-z]/ { exit } on { print $1 }' "$out")

# "tasks run<TAB>--samples N" for each option of each command
for command in $commands; do
    exits 0 quern "$command" --help
    verbs=$(awk '/^Verbs:$/ { on = 1; next } on && !/^  [a-z]/ { exit } on { print $1 }' "$out")
    for verb in ${verbs:-''}; do
        # shellcheck disable=SC2086
        exits 0 quern $command ${verb//\'/} --help
        sed -nE "s/^ +(-[a-z]|(-[a-z], )?--[a-z0-9-]+)( [^ ]+)?( .*)?$/$command $verb\t\1\3/p" "$out" |
            sed -E 's/\t-[a-z], /\t/' >>options
    done
done

# one FLAG VALUE [EXCEPT]: wherever FLAG exists, it takes VALUE ('' for none), except in the commands EXCEPT.
one() {
    local wrong
    wrong=$(awk -F'\t' -v want="$1${2:+ $2}" -v flag="$1" -v except="${3:-^$}" \
        '($2 == flag || index($2, flag " ") == 1) && $2 != want && $1 !~ except' options)
    [ -z "$wrong" ] || fail "$1 is '$1${2:+ $2}' elsewhere: $wrong"
    grep -q -- "$(printf '\t')$1" options || fail "no command has $1"
}
one --json ''
one --out DIR
one --samples N
one --warmup N
one --steps N
one --stats FILE.json
one --golden DIR
one --sizes LIST
one --size N
one --op LIST '^tasks'
one --precision LIST '^(les run|fit)'
one --tasks 'DIR|FILE' '^tasks pipe'
one --csv FILE
one --report FILE
one --picture FILE.png
one --resume ''
one --verbose ''
one --dsm FILE
one --tile 'auto|N'

# Output options come last, so that the end of a help text says where results are.
outputs='^(-o|--(out|json|csv|md|report|stats|picture|trace|digest|op-times|save|log-metrics|video))( |$)'
misplaced=$(awk -F'\t' -v outputs="$outputs" '
    $1 != verb { verb = $1; seen = "" }
    $2 ~ outputs { seen = $2; next }
    seen != "" && $1 !~ /^(les|compare) / { print $1 ": " $2 " comes after " seen }' options)
[ -z "$misplaced" ] || fail "$misplaced"

# Folders of results have one default, and no help shows an empty one.
for verb in 'les run' 'solweig run' 'solweig svf' 'solweig walls' 'make programs' 'make town' 'fit run'; do
    # shellcheck disable=SC2086
    exits 0 quern $verb --help
    has "$out" '--out DIR .*\(default out\)$'
    tr -s ' \n' ' ' <"$out" >flat
    lacks flat '\(default *\)'
done

# Old spellings work, and one line on stderr says so.
exits 0 quern arc make --programs 2 --grids 1 --out old
lines "$err" 1
has "$err" "^quern: 'arc make' is now 'make programs'; the old spelling will be removed$"
exits 0 quern make programs --programs 2 --grids 1 --out new
empty "$err"
cmp -s old/solvers.py new/solvers.py || fail 'make programs is not arc make'
exits 0 quern fit mesh icosphere 1 old.obj
has "$err" "^quern: 'fit mesh' is now 'make mesh'; the old spelling will be removed$"
exits 0 quern fit mesh icosphere 1 new.obj --quiet
empty "$err"
exits 0 quern solweig bench --size 32 --steps 1 --samples 1 --save old --backend cpu
has "$err" '^quern solweig bench: --save is now `quern make town --out old`; the old spelling will be removed$'
exits 0 quern make town --size 32 --out new
has "$out" '^new/dsm.npy, cdsm.npy: 32 x 32 pixels of 1 m$'
has "$out" '^next: quern solweig svf --dsm new/dsm.npy --cdsm new/cdsm.npy '
for layer in dsm cdsm; do
    cmp -s old/$layer.npy new/$layer.npy || fail "$layer.npy of make town is not that of bench --save"
done
