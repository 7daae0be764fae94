#!/usr/bin/env bash
# cli_options.sh - one hand: an option of one name means one thing in every command.
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

# one FLAG VALUE [EXCEPT]: wherever FLAG is, it takes VALUE ('' for none), but in commands of EXCEPT.
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

# What is written comes last, so that the end of a help text says where results are.
outputs='^(-o|--(out|json|csv|md|report|stats|picture|trace|digest|op-times|save|log-metrics|video))( |$)'
misplaced=$(awk -F'\t' -v outputs="$outputs" '
    $1 != verb { verb = $1; seen = "" }
    $2 ~ outputs { seen = $2; next }
    seen != "" && $1 !~ /^(les|compare) / { print $1 ": " $2 " comes after " seen }' options)
[ -z "$misplaced" ] || fail "$misplaced"

# Folders of results have one default, and no help ends in an empty one.
for verb in 'les run' 'solweig run' 'solweig svf' 'solweig walls' 'arc make' 'fit run'; do
    # shellcheck disable=SC2086
    exits 0 quern $verb --help
    has "$out" '--out DIR .*\(default out\)$'
    tr -s ' \n' ' ' <"$out" >flat
    lacks flat '\(default *\)'
done
