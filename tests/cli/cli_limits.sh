#!/usr/bin/env bash
# cli_limits.sh - files that are too large, and control sequences in the text of files.
. "$(dirname "$0")/lib.sh"

root=$(cd "$test_dir/../.." && pwd)

# A hole in a file takes no disk space. A file can be refused with less memory than its size. Sanitizers need
# more address space than the limit.
too_large() {
    local name=$1 limit=$2
    shift 2
    rm -f "$name"
    truncate -s 6G "$name"
    refused 2 "$name: 6442450944 bytes, the limit for such a file is $limit$" "$@"
    rm "$name"
}
mega=$((1 << 20))
too_large x.json $((64 * mega)) quern les run --config x.json
too_large tasks.csv $((256 * mega)) quern tasks run tasks.csv --backend cpu
too_large x.fit $((64 * mega)) quern fit run x.fit --backend cpu
printf 'def solve(I):\n    return I\n' >p.py
too_large t.json $((64 * mega)) quern arc run p.py --tasks t.json --backend cpu
too_large p.py $((64 * mega)) quern arc dis p.py

# The table of the guide has the limits of the sources.
sed -n 's/^#define QN_MOST_[A-Z]* *((size_t)\([0-9]*\) << \([23]0\)).*/\1 \2/p' "$root/src/util/file.h" |
    sed 's/ 20$/ MB/; s/ 30$/ GB/' | sort -u >limits
[ "$(wc -l <limits)" -gt 3 ] || fail 'no limits in file.h'
while read -r limit; do
    sed -n '/^## How large/,/^## Arrays/p' "$root/docs/formats.md" >table
    has table "$limit"
done <limits

# Escape sequences of files are shown, not sent to the terminal.
escape=$(printf '\033')
printf 'id,op,n,seed,arg\n1,\033[31mRED,2,3,\n' >red.csv
refused 6 "red.csv:2: unknown op '.x1b\[31mRED'" quern tasks run red.csv
printf 'def solve(I):\n    return \033[31mred\n' >red.py
exits 6 quern arc run red.py --tasks red.csv --backend cpu
lacks "$err" "$escape"
printf 'fit 1;\nparam \033]0;title\a = 1;\n' >red.fit
exits 6 quern fit run red.fit --backend cpu
lacks "$err" "$escape"
