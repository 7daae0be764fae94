#!/usr/bin/env bash
# cli_tasks_bad.sh - refusals of `quern tasks`; nothing is left half-written.
. "$(dirname "$0")/lib.sh"

export QUERN_BACKEND=sim
good='id,op,n,seed,arg\n1,vadd,20000,7,\n'
printf "$good" >good.csv

# Usage
refused 2 'give either BATCH.csv or --scenario$' quern tasks run
refused 2 'give either BATCH.csv or --scenario$' quern tasks run good.csv --scenario all
refused 2 "unknown scenario 'Uniform-31k'; did you mean Uniform-32k\?$" quern tasks run --scenario Uniform-31k
refused 2 "unknown scenario 'nonsense'; there are: all, Uniform-32k, " quern tasks run --scenario nonsense
refused 2 "unknown scenario 'nonsense'" quern tasks bench --scenario nonsense
refused 2 "Uniform-32k: task 1: unknown op 'vsub'; there are: vadd, saxpy, " quern tasks run --scenario all --op vsub
refused 2 'Uniform-32k: task 1: size 32000 exceeds the limit 8192 of matmul$' quern tasks run --scenario all --op matmul
refused 2 "Uniform-32k: task 1: arg 'x' is not a number$" quern tasks run --scenario all --op saxpy --arg x
refused 2 '-o is for BATCH.csv' quern tasks run --scenario all -o x.csv
refused 2 '--op and --arg are for --scenario' quern tasks run good.csv --op vadd
refused 2 "--merkle-rule: 'bitcoin' is not one of plain, rfc6962$" quern tasks run good.csv --merkle-rule bitcoin
refused 2 "--samples: '4' is not a number between 5 and" quern tasks bench --samples 4
refused 2 "--depths: '0,2' is not a list of numbers from 1 to 8" quern tasks pipe --depths 0,2
refused 2 "--depths: '1,2,' is not a list" quern tasks pipe --depths 1,2,
refused 2 "--depths: '9' is not a list" quern tasks pipe --depths 9
refused 2 "--chunk: '0' is not a size from 1 to 1G$" quern tasks hash good.csv --chunk 0
refused 2 "--chunk: '2G' is not a size" quern tasks hash good.csv --chunk 2G
refused 2 'FILE... is missing$' quern tasks hash
refused 2 "unknown verb 'hsah'; did you mean hash\?$" quern tasks hsah

# Bad input files: 6, with the line; no result, not even an empty one
bad() {
    local text=$1 message=$2
    printf "$text" >bad.csv
    refused 6 "$message" quern tasks run bad.csv -o result.csv
    lines "$err" 1
    [ ! -e result.csv ] || fail "a result was written"
}
bad '' 'bad.csv: no header line$'
bad 'id,op,n\n1,vadd,5\n' 'bad.csv: no column "seed"'
bad 'id,op,n,seed,arg\n' 'bad.csv: 0 tasks; a batch has 1 to 1048576$'
bad "${good}2,vadd,5\n" 'bad.csv:3: expected 5 fields, found 3$'
bad "${good}2,vadd,many,1,\n" 'bad.csv:3: n "many" is not'
bad "${good}2,vadd,0,1,\n" 'bad.csv:3: size 0; vadd needs at least 1$'
bad "${good}2,merkle,0,1,\n" 'bad.csv:3: size 0; merkle needs at least 1$'
bad "${good}2,sum,-1,1,\n" 'bad.csv:3: size -1;'
bad "${good}2,vadd,2000000000,1,\n" 'bad.csv:3: size 2000000000 exceeds the limit 1073741824 of vadd$'
bad "${good}2,vsub,5,1,\n" "bad.csv:3: unknown op 'vsub'; there are: vadd, "
bad "${good}2,chain,5,1,\"mul:2,cube\"\n" "bad.csv:3: arg: unknown map 'cube'; there are: mul:K "
bad "${good}2,sha256,5,1,-7\n" "bad.csv:3: arg '-7' is not LEN or LEAST-MOST in bytes$"
bad 'id,op,n,seed,arg\n1,vadd,5,1,\0\n' 'bad.csv:2: NUL byte'

# Files that cannot be read
refused 6 'cannot open missing.csv: ' quern tasks run missing.csv -o result.csv
mkdir folder
refused 6 'cannot read folder: it is a folder$' quern tasks run folder
refused 6 'cannot open missing: ' quern tasks hash good.csv missing
refused 6 'cannot read folder: it is a folder$' quern tasks hash folder

# Paths that cannot be written: found before the work, and nothing else is touched
refused 1 'cannot write .*no/such/folder/result.csv' quern tasks run good.csv -o no/such/folder/result.csv
refused 1 'cannot write folder: it is a folder$' quern tasks run good.csv -o folder
refused 1 'cannot write .*no/such/folder/b.csv' quern tasks bench --scenario Uniform-32k --csv no/such/folder/b.csv
refused 1 'cannot write .*no/such/folder/p.csv' quern tasks pipe --csv no/such/folder/p.csv
exits 1 quern -q tasks run good.csv -o result.csv --memory-map good.csv/map.md
rm -f result.csv

# A full disk: the old result stays, no temporary file is left
echo old >result.csv
{ echo id,op,n,seed,arg; for i in $(seq 200); do echo "$i,vadd,10,1,"; done; } >many.csv
if (trap '' XFSZ && ulimit -f 4 && exec quern -q tasks run many.csv -o result.csv >"$out" 2>"$err"); then fail "a full disk went unnoticed"; fi
[ "$(cat result.csv)" = old ] || fail "the old result was touched"
rm -f result.csv
QUERN_FAULT=launch:vadd exits 3 quern -q --fallback=error tasks run good.csv -o result.csv
[ -z "$(find . -name 'result.csv*' -o -name '*.tmp')" ] || fail "something is left: $(ls)"

# More memory than the machine has
printf 'id,op,n,seed,arg\n1,sha256,60000000,1,1000000000\n' >huge.csv
refused 5 'batch of 1 tasks: out of memory \(need ' quern tasks run huge.csv -o result.csv
[ ! -e result.csv ] || fail "a result was written"

# stdout that cannot be written
if [ -w /dev/full ]; then
    for line in "run good.csv" "run --scenario Uniform-32k" "hash good.csv"; do
        code=0
        last="quern tasks $line >/dev/full"
        # shellcheck disable=SC2086
        quern -q tasks $line >/dev/full 2>"$err" || code=$?
        [ "$code" -eq 1 ] || fail "exit code $code, expected 1"
        has "$err" '^quern tasks .*: cannot write'
    done
fi
