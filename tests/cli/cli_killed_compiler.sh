#!/usr/bin/env bash
# cli_killed_compiler.sh - a run that is killed while it waits for the compiler: that ends, too, and the
# next run removes the files of both.
. "$(dirname "$0")/lib.sh"

cat >slow_cc <<'END'
#!/bin/sh
case "$*" in *unit.c*) echo $$ >pid; sleep 300 ;; esac
exec cc "$@"
END
chmod +x slow_cc
echo '{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[]}' >turn.json
printf 'def solve_turn(I):\n    O = vmirror(I)\n    return O\n' >solvers.py
mkdir temp
export TMPDIR=$PWD/temp QUERN_CACHE=0 QUERN_CC=$PWD/slow_cc
compiles=(quern arc run solvers.py --tasks turn.json --match all --backend sim --group 8 --fallback error)

"${compiles[@]}" >/dev/null 2>&1 &
pid=$!
for _ in {1..600}; do [ ! -s pid ] || break; sleep 0.1; done
[ -s pid ] || fail 'the compiler was not started'
kill -KILL $pid
wait $pid 2>/dev/null || true
for _ in {1..100}; do kill -0 "$(cat pid)" 2>/dev/null || break; sleep 0.1; done
! kill -0 "$(cat pid)" 2>/dev/null || fail 'the compiler goes on'
[ -n "$(ls temp)" ] || fail 'the killed run has left no folder, so this test shows nothing'
QUERN_CC=false exits 3 "${compiles[@]}" # it removes what is left before it compiles
[ -z "$(ls temp)" ] || fail "files are left: $(ls temp)"
