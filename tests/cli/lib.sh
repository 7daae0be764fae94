# lib.sh - assertions for tests of the command. `. "$(dirname "$0")/lib.sh"` with the path of the
# built command as $1: puts `quern` on the PATH and the script into an empty folder, which is
# removed at the end. A failed assertion prints the command and its result, and ends the script.
set -euo pipefail

QUERN_BIN=$(realpath "${1:?usage: $0 path/to/quern}")
test_dir=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/quern-test.XXXXXX")
trap 'chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/work"
ln -s "$QUERN_BIN" "$scratch/bin/quern"
PATH=$scratch/bin:$PATH
out=$scratch/stdout err=$scratch/stderr last=
cd "$scratch/work"

fail() {
    {
        printf 'FAILED: %s\n' "$*"
        [ -z "$last" ] || printf '  command: %s\n' "$last"
        [ ! -s "$out" ] || { echo '  stdout:'; head -40 "$out"; }
        [ ! -s "$err" ] || { echo '  stderr:'; head -40 "$err"; }
    } >&2
    exit 1
}

# exits CODE COMMAND... : runs it, stores its output in $out and $err, checks the exit code.
exits() {
    local want=$1 code=0
    shift
    last=$*
    "$@" >"$out" 2>"$err" || code=$?
    [ "$code" = "$want" ] || fail "exit code $code, expected $want"
}

# has FILE REGEX, lacks FILE REGEX: some line matches, no line matches.
has() {
    grep -Eq -- "$2" "$1" || fail "no line matches /$2/ in ${1##*/}"
}

lacks() {
    ! grep -Eq -- "$2" "$1" || fail "a line matches /$2/ in ${1##*/}"
}

# lines FILE COUNT, empty FILE
lines() {
    local n
    n=$(wc -l <"$1")
    [ "$n" -eq "$2" ] || fail "$n lines in ${1##*/}, expected $2"
}

empty() {
    [ ! -s "$1" ] || fail "${1##*/} is not empty"
}

# refused CODE TEXT COMMAND...: nothing on stdout, "quern <cmd>: TEXT" (a regex) as first message.
refused() {
    local code=$1 text=$2
    shift 2
    exits "$code" "$@"
    empty "$out"
    head -1 "$err" | grep -Eq -- "^quern[a-z ]*: $text" || fail "first message is not: $text"
}

# Without FFTW a build lacks the transforms of the CPU, without VkFFT those of devices, and nothing else.
has_fftw() {
    ! quern version --verbose | grep 'FFTW.*missing' >/dev/null
}

has_nvrtc() {
    ! quern version --verbose | grep 'NVRTC.*missing' >/dev/null
}

has_vkfft() {
    ! quern version --verbose | grep 'VkFFT.*missing' >/dev/null
}
