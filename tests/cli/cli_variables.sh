#!/usr/bin/env bash
# cli_variables.sh - every variable that the sources read is in the manual and in the guide, which name no
# others; a bad value is refused.
. "$(dirname "$0")/lib.sh"

root=$(cd "$test_dir/../.." && pwd)
# Names in quotes: arguments of getenv, of settings and of option tables. Messages have blanks.
grep -rhoE '"QUERN_[A-Z_0-9]+"' "$root/src" --include='*.c' --include='*.h' |
    tr -d '"' | LC_ALL=C sort -u >used
[ "$(wc -l <used)" -gt 30 ] || fail "only $(wc -l <used) variables were found in the sources"

exits 0 quern man
sed 's/\\-/-/g' "$out" | grep -oE 'QUERN_[A-Z_0-9]+' | LC_ALL=C sort -u >manual
grep -oE '`QUERN_[A-Z_0-9]+' "$root/docs/variables.md" | tr -d '`' | LC_ALL=C sort -u >guide
for list in manual guide; do
    diff used "$list" >difference || fail "sources (<) and $list (>): $(grep '^[<>]' difference)"
done

# A bad value of any of them is refused, by name, before anything else happens.
for name in $(cat guide); do
    case $name in
    QUERN_CC | QUERN_KERNELS | *_LIB) continue ;; # whatever it is, it is tried
    QUERN_FAULT)
        refused 2 ".*'banana'" env QUERN_FAULT=banana quern devices --backend cpu
        continue
        ;;
    *_DIR | QUERN_DUMP) values=("$PWD/guide") ;;
    *) values=(banana nan -1 1e300 '0 1') ;;
    esac
    for value in "${values[@]}"; do
        refused 2 "$name: '$value' is not " env "$name=$value" quern cache stat
    done
    exits 0 env "$name=" quern cache stat
done
