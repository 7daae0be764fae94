#!/usr/bin/env bash
# cli_cache.sh - `quern cache` shows and clears the kernel cache.
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$scratch/cache
unset QUERN_CACHE

# A folder that does not exist is an empty cache, and looking at it does not create it.
exits 0 quern cache stat
has "$out" "^folder +$QUERN_CACHE_DIR \(not made yet\)$"
has "$out" '^entries +0, 0 B of 512.0 MiB$'
exits 0 quern cache list
lines "$out" 1
exits 0 quern cache clear
has "$out" '^removed 0 entries from '
[ ! -e "$QUERN_CACHE_DIR" ] || fail "the folder was made"

# entry KEY_DIGIT KIND PAYLOAD_BYTES CLAIMED_BYTES
key() { printf "%064d" 0 | tr 0 "$1"; }
entry() {
    {
        printf 'QNKC\2\0\0\0'
        printf "\\x$(printf %02x "$2")\\0\\0\\0\\0\\0\\0\\0"
        printf "\\x$(printf %02x "$4")\\0\\0\\0\\0\\0\\0\\0"
        head -c 32 /dev/zero
        head -c "$3" /dev/zero
    } >"$QUERN_CACHE_DIR/$(key "$1").qnk"
}

mkdir -p "$QUERN_CACHE_DIR/profile"
entry a 1 100 100
entry b 2 50 50
entry c 4 10 10
entry d 3 10 11                                       # shorter than it says
entry e 9 10 10                                       # no such kind
printf 'short' >"$QUERN_CACHE_DIR/$(key f).qnk"
echo mine >"$QUERN_CACHE_DIR/notes.txt"               # not an entry
echo mine >"$QUERN_CACHE_DIR/abc.qnk"
echo mine >"$QUERN_CACHE_DIR/profile/cpu.json"
touch -d '2001-02-03 04:05:06 UTC' "$QUERN_CACHE_DIR/$(key a).qnk"

exits 0 quern cache stat
has "$out" '^entries +6, '
has "$out" '^  damaged 3, '
has "$out" '^  cubin +1, 156 B$'
has "$out" '^  ptx +1, 106 B$'
has "$out" '^  object +1, 66 B$'
lacks "$out" opencl
has "$out" '^oldest +2001-02-03T04:05:06Z$'
QUERN_CACHE=0 exits 0 quern cache stat
has "$out" '^use +off'

exits 0 quern cache list
lines "$out" 7
has "$out" '^KEY +KIND +BYTES +USED$'
has "$out" "^$(key a)  cubin +156  2001-02-03T04:05:06Z$"
has "$out" "^$(key f)  damaged +5 "
tail -1 "$out" | grep -q "^$(key a)" || fail "the oldest is not last"

exits 0 quern cache clear
has "$out" '^removed 6 entries from '
for kept in notes.txt abc.qnk profile/cpu.json; do
    [ -e "$QUERN_CACHE_DIR/$kept" ] || fail "$kept is gone"
done
[ -z "$(find "$QUERN_CACHE_DIR" -name '????????????????????*.qnk')" ] || fail "entries are left"

# An entry that cannot be removed (here: a folder of its name) is named.
mkdir "$QUERN_CACHE_DIR/$(key b).qnk"
exits 1 quern cache clear
empty "$out"
has "$err" "^quern cache clear: cannot remove $QUERN_CACHE_DIR/$(key b).qnk: "
lines "$err" 1

# A file where a folder is needed; no folder at all; verbs
QUERN_CACHE_DIR=$QUERN_CACHE_DIR/notes.txt refused 2 "QUERN_CACHE_DIR: .*notes.txt.* is not a folder" quern cache stat
lines "$err" 1
for verb in stat list clear; do
    refused 2 'no cache folder: ' env -u QUERN_CACHE_DIR -u XDG_CACHE_HOME HOME= quern cache $verb
done
env -u QUERN_CACHE_DIR XDG_CACHE_HOME="$scratch/xdg" quern cache stat >"$out"
has "$out" "^folder +$scratch/xdg/quern "
refused 2 'no verb given; there are: stat, list, clear, pack$' quern cache
refused 2 "unknown verb 'clean'; did you mean clear\?$" quern cache clean

# A pack of compiled kernels: made here without a GPU, from what was there before where it fits.
refused 2 "--modules: 'vector,nothing' is not a list of kernel files, each once" \
    quern cache pack --modules vector,nothing
if has_nvrtc; then
    refused 2 "--archs: '90,x' is not a list such as 80,90" quern cache pack --archs 90,x
    exits 0 quern cache pack --archs 80,90 --modules sw_utci,scan -o two.qnp
    has "$out" '^two.qnp: 2 modules for 2 architectures, 4 compiled, [0-9.]+ KiB$'
    cp two.qnp one.qnp
    exits 0 quern cache pack --archs 90 --modules scan -o one.qnp
    has "$out" '^one.qnp: 1 module for 1 architecture, 0 compiled, '
    refused 3 'NVRTC [0-9.]+ does not know sm_12$' quern cache pack --archs 12 --modules scan -o new.qnp
    [ ! -e new.qnp ] || fail 'a file was left'
else
    refused 3 'no compiler for NVIDIA GPUs: ' quern cache pack --modules scan
fi
