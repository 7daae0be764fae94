#!/usr/bin/env bash
# cli_help.sh - help of every command and verb; all examples run as pasted; bad lines are refused.
# test: long, cost 12
. "$(dirname "$0")/lib.sh"

# Indented names below a heading of the last help text.
names_below() {
    awk -v heading="$1:" '
        $0 == heading { on = 1; next }
        on && !/^  [a-z]/ { exit }
        on { print $1 }' "$out"
}

kernels=${QUERN_CACHE_DIR:-$scratch/cache}
export QUERN_CACHE_DIR=$kernels

# Everything below the last "Example:" is a script.
run_examples() {
    local title=$1 script=$scratch/example.sh folder=$scratch/example code=0
    awk '/^Example:$/ { on = 1; text = ""; next } on { text = text substr($0, 3) "\n" }
         END { printf "%s", text }' "$out" >"$script"
    [ -s "$script" ] || fail "help of '$title' does not end with an example"
    [[ $title != 'quern bench fft' && $title != 'quern les'* ]] || has_fftw || return 0
    [ "$title" != 'quern cache pack' ] || has_nvrtc || return 0
    rm -rf "$folder"
    mkdir "$folder"
    last="example of $title: $(cat "$script")"
    # Other tests may use compiled kernels, but not these hasty profiles.
    [ "$title" != 'quern calibrate' ] || export QUERN_CACHE_DIR=$scratch/cache
    (cd "$folder" && timeout 1000 bash -e "$script") >"$out" 2>"$err" </dev/null || code=$?
    export QUERN_CACHE_DIR=$kernels
    [ "$code" -eq 0 ] || fail "exit code $code"
}

# Help of one command line goes to stdout, alone, and fits the screen.
check_help() {
    exits 0 quern "$@" --help
    empty "$err"
    has "$out" '^usage: quern'
    if awk 'length > 100 { exit 1 }' "$out"; then :; else fail "a line is longer than 100"; fi
}

check_help
commands=$(names_below Commands)
[ "$(printf '%s\n' "$commands" | wc -l)" -ge 3 ] || fail "fewer than three commands: $commands"
run_examples quern

for command in $commands; do
    check_help "$command"
    verbs=$(names_below Verbs)
    # A command with verbs has the example of its first verb.
    [ -n "$verbs" ] || run_examples "quern $command"
    for verb in $verbs; do
        check_help "$command" "$verb"
        run_examples "quern $command $verb"
    done
    refused 2 'unknown option --no-such-thing$' quern "$command" --no-such-thing
    lines "$err" 3
    has "$err" "^usage: quern $command"
done

# --version, and help where the rest of the line is incomplete
exits 0 quern --version
has "$out" '^quern [0-9]+\.[0-9]+\.[0-9]+$'
exits 0 quern -h
cp "$out" whole
exits 0 quern help
cmp -s "$out" whole || fail 'quern help is not quern --help'
exits 0 quern help tasks run
has "$out" '^usage: quern tasks run'
exits 0 quern tasks help
has "$out" '^usage: quern tasks run\|bench'
QUERN_THREADS=nonsense exits 0 quern devices --help

# usage errors
refused 2 'no command given$' quern
refused 2 "unknown command 'devcies'; did you mean devices\?$" quern devcies
refused 2 'unknown option --jsn; did you mean --json\?$' quern devices --jsn
refused 2 "unexpected argument 'now'$" quern devices now
refused 2 "--threads: 'abc' is not a number between 1 and 1024$" quern --threads abc devices
refused 2 "--threads: '0' is not a number between 1 and 1024$" quern devices --threads=0
refused 2 "--log: 'loud' is not one of none, error, warn, info, debug$" quern devices --log loud
refused 2 "--mem-budget: 'lots' is not a size such as 512M, 8G or 80%$" quern devices --mem-budget lots
refused 2 '--metrics needs a value$' quern devices --metrics
refused 2 'unknown option --mpi' quern devices --mpi
QUERN_ROUTE=left refused 2 "QUERN_ROUTE: 'left' is not one of" quern devices

# A full disk behind stdout is a failure, not a short answer.
if [ -w /dev/full ]; then
    for line in "--help" "--version" "devices" "cache stat"; do
        code=0
        last="quern $line >/dev/full"
        # shellcheck disable=SC2086
        quern $line >/dev/full 2>"$err" || code=$?
        [ "$code" -eq 1 ] || fail "exit code $code, expected 1"
        has "$err" '^quern.*: cannot write'
    done
fi
