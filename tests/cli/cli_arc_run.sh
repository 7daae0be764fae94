#!/usr/bin/env bash
# cli_arc_run.sh - `quern arc run`: programs on tasks, scores, files, errors with their positions.
# test: cost 25
. "$(dirname "$0")/lib.sh"

cat >solvers.py <<'PROGRAMS'
from dsl import *


def solve_turn(I):
    O = vmirror(I)
    return O


def solve_fails(I):
    x1 = objects(I, T, T, T)
    x2 = argmax(x1, size)
    O = subgrid(x2, I)
    return O


def solve_half(I):
    O = hmirror(I)
    return O
PROGRAMS
mkdir tasks
echo '{"train":[{"input":[[1,2]],"output":[[2,1]]},{"input":[[3,4,5]],"output":[[5,4,3]]}],
       "test":[{"input":[[6,7]]}]}' >tasks/turn.json
echo '{"train":[{"input":[[0,0],[0,0]],"output":[[1]]}],"test":[]}' >tasks/fails.json
echo '{"train":[{"input":[[1,1]],"output":[[1,1]]},{"input":[[1,2]],"output":[[2,1]]}],"test":[]}' \
    >tasks/half.json
common=(--backend cpu --quiet)

# Scores.
exits 0 quern arc run solvers.py --tasks tasks --check "${common[@]}"
has "$out" '^turn +3 +2 +0 '
has "$out" '^half +2 +1 +0 '
has "$out" '^fails +1 +0 +1 .*prog fails line 11: argmax: empty container$'
[ "$(tail -1 "$out")" = 'solved 3 of 5 pairs, 1 errors' ] || fail 'the last line is another'
exits 0 quern arc run solvers.py --tasks tasks/turn.json --check --backend cpu
has "$err" "^not run: 2 of 3 programs; they have no task here \\(the first is 'fails'\\)$"
exits 0 quern arc run solvers.py --tasks tasks --check --pairs test "${common[@]}"
lacks "$err" 'not run'
has "$out" '^solved 0 of 0 pairs, 0 errors$'
exits 0 quern arc run solvers.py --tasks tasks/half.json --check --pairs first "${common[@]}"
has "$out" '^solved 1 of 1 pairs, 0 errors$'
exits 0 quern arc run solvers.py --tasks tasks --check --match all "${common[@]}"
has "$out" '^solved 5 of 15 pairs, 2 errors$'
exits 0 quern arc run solvers.py --tasks tasks "${common[@]}"
has "$out" '^6 runs on cpu:0: 5 ok, 1 errors, '
has "$err" '^prog fails line 11: argmax: empty container$'

# Files.
exits 0 quern arc run solvers.py --tasks tasks -o r.jsonl --trace t.txt --digest d.txt \
    --stats s.json "${common[@]}"
lines r.jsonl 6
has r.jsonl '"program":"turn","task":"turn","part":"train","pair":1,.*"equal":true,"differing":0,"output":\{"g":\["543"\]\}'
has r.jsonl '"program":"turn","task":"turn","part":"test","pair":0,"status":"ok","steps":1,"output":\{"g":\["76"\]\}'
has r.jsonl '"program":"fails".*"status":"error".*"equal":false,"error":"prog fails line 11: argmax: empty container"'
has r.jsonl '"program":"half".*"pair":1,.*"equal":false,"differing":2,'
has t.txt '^turn turn train 0 5 vmirror [0-9a-f]{16}$'
has t.txt '^fails fails train 0 11 argmax EMPTY$'
has d.txt '^fails fails train 0 EMPTY [0-9]+ [0-9a-f]{16}$'
has d.txt '^total 6 [0-9a-f]{16}$'
has s.json '"instances": 6,'
has s.json '"cpu_ops": 6,'
has s.json '"gpu_ops": 0,'
for device in "cpu --group 8" "sim" "sim --arena 8K --frames 8" "sim --disable-op vmirror"; do
    # shellcheck disable=SC2086
    exits 0 quern arc run solvers.py --tasks tasks --quiet --log error --digest again.txt \
        --stats again.json --memory-map map.md --backend $device
    cmp -s d.txt again.txt || fail "other results on $device"
done
has again.json '"UNSUPPORTED": 3'
has map.md '^\| arc.pool \| 1 \| [0-9]+ \| [0-9]+ \| arc.vm \| arc.vm \| sim:0 \| [1-9]'

# Bytecode does the same; a run that fails leaves no file.
exits 0 quern arc dis solvers.py -o solvers.qarc
exits 0 quern arc run solvers.qarc --tasks tasks --digest again.txt "${common[@]}"
cmp -s d.txt again.txt || fail 'other results of bytecode'
exits 6 quern arc run solvers.py --tasks nowhere -o none.jsonl "${common[@]}"
[ ! -e none.jsonl ] || fail 'results of a run that failed'

# Batt files.
cat >batt.py <<'PROGRAMS'
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = env.do_pile(1, [vmirror, I], True)
    t2 = env.do_pile(2, [first, ()], True)
    t3 = env.do_pile(3, [size, t2.t], t2.ok)
    o.append((1, False, 'turn', t1))
    o.append((2, True, 'turn', t3))
    s.append((3, 'turn', 'height', t1))
    return o, s
PROGRAMS
exits 0 quern arc run batt.py --tasks tasks/turn.json --pairs train --check -o b.jsonl "${common[@]}"
has "$out" '^solved 2 of 2 pairs, 0 errors$'
has b.jsonl '"list":"o","number":1,"flag":false,"task":"turn","ok":true,"equal":true,"value":\{"g":\["21"\]\}'
has b.jsonl '"list":"o","number":2,"flag":true,"task":"turn","ok":false,"bad":\{"step":"t2","line":5,"op":"first","error":"empty container","given":\["empty tuple"\]\}'
has b.jsonl '"list":"s","number":3,"task":"turn","name":"height","ok":true'

# A folder of files: batt programs are named after them, each name once.
mkdir many
cp batt.py many/first.py
cp batt.py many/second.py
printf 'def solve_turn(I):\n    return vmirror(I)\n' >many/turn.py
echo 'nothing of ours' >many/notes.txt
exits 0 quern arc run many --tasks tasks/turn.json --pairs train --check -o many.jsonl "${common[@]}"
has "$out" '^first '
has "$out" '^second '
has "$out" '^turn +2 +2 +0 '
[ "$(grep -c '"records":' many.jsonl)" = 4 ] || fail 'not two batt programs on two pairs'
[ "$(sed -n 's/"program":"first"/"program":"batt"/p' many.jsonl)" = "$(cat b.jsonl)" ] ||
    fail 'a batt program of a folder gives something else'
exits 0 quern arc dis many -o many.qarc --quiet
exits 0 quern arc run many.qarc --tasks tasks/turn.json --pairs train --check "${common[@]}"
has "$out" '^second '
cp many/turn.py many/again.py
refused 6 "many: again.py and turn.py both have a program 'turn'" quern arc run many --tasks tasks
mkdir none
refused 6 'none: no \*.py and no \*.qarc file in this folder' quern arc run none --tasks tasks
printf 'QARF, but no bytecode' >none/x.qarc
refused 6 'none/x.qarc: not a file of compiled programs' quern arc run none --tasks tasks
rm none/x.qarc
echo 'def solve_x(I):' >none/x.py
exits 6 quern arc run none --tasks tasks
has "$err" '^none/x.py:1'

# Programs that demand too much end at a limit, and others are not affected.
cat >hostile.py <<'PROGRAMS'
def solve_range(I):
    return interval(0, 2000000000, 1)
def solve_grid(I):
    return canvas(0, (60000, 60000))
def solve_number(I):
    f1 = power(double, 20)
    f2 = compose(f1, f1)
    f3 = compose(f2, f2)
    return f3(ONE)
def solve_steps(I):
    f = power(increment, 100000000)
    return f(ONE)
def solve_output(I):
    return canvas(1, (1500, 1500))
def solve_turn(I):
    return vmirror(I)
PROGRAMS
exits 0 quern arc run hostile.py --tasks tasks/turn.json --pairs train --match all --check \
    -o h.jsonl "${common[@]}"
has "$out" '^range .* prog range line 2: interval: a number or size beyond the limits$'
has "$out" '^grid .* prog grid line 4: canvas: more memory than the limit$'
has "$out" '^number .* prog number line 9: call: integer overflow$'
has "$out" '^steps +2 +0 +2 +8000000 +prog steps line 12: call: more steps than the limit$'
has "$out" '^output +2 +0 +0 '
has "$out" '^turn +2 +2 +0 '
[ "$(grep -c '"status":"limit"' h.jsonl)" -eq 8 ] || fail 'not eight limits'

# Time limits; longer ones while a busy machine does not get to the short programs.
for seconds in 0.2 2 20; do
    exits 0 quern arc run hostile.py --tasks tasks/turn.json --pairs first --match all --check \
        --max-steps 2000000000 --timeout $seconds -o h.jsonl --stats h.json "${common[@]}"
    ! grep -q "^not finished in $seconds s: 1 of 6 runs$" "$err" || break
done
has "$err" "^not finished in $seconds s: 1 of 6 runs$"
has "$out" '^turn +1 +1 +0 '
has "$out" '^steps +1 +0 +1 +[0-9]+ +prog steps line 12: call: not finished in time$'
has h.jsonl '"program":"steps".*"status":"limit".*"error":"prog steps line 12: call: not finished in time"'
has h.json '"timeouts": 1,'
refused 2 "--timeout: 'soon' is not a number" quern arc run hostile.py --tasks tasks --timeout soon

# Long runs leave a device; on the CPU there is nothing to leave, and 0 means no limit.
printf 'def solve_turn(I):\n    x = interval(0, 900, 1)\n    return valmax(x, double)\n' >many.py
for limit in 100 0; do
    exits 0 quern arc run many.py --tasks tasks/turn.json --pairs test --backend sim --quiet \
        --max-loops $limit --stats "loops$limit.json"
done
has loops100.json '"LOOPS": 1$'
lacks loops0.json LOOPS
refused 2 "--max-loops: 'few' is not a whole number" \
    quern arc run many.py --tasks tasks --max-loops few
exits 0 quern arc run many.py --tasks tasks/turn.json --pairs test --backend sim --max-turns 100 \
    --stats old.json
grep -q -- '--max-turns is now --max-loops' "$err" || fail "the old name of --max-loops is not noted"
has old.json '"LOOPS": 1$'

# Errors.
refused 2 '--tasks is needed' quern arc run solvers.py
refused 6 'cannot open none.py' quern arc run none.py --tasks tasks
refused 2 "--arena: 1K is below the least value, 8192" quern arc run solvers.py --tasks tasks --arena 1K
refused 2 "--disable-op: 'turn' is not a primitive" \
    quern arc run solvers.py --tasks tasks --disable-op size,turn
printf 'def solve_other(I):\n    O = vmirror(I)\n    return O\n' >other.py
refused 6 "no program has the id of a task \(the first is 'other'\)" \
    quern arc run other.py --tasks tasks "${common[@]}"
printf 'def solve_a(I):\n    x1 = vmiror(I)\n    x2 = add(I)\n    return x9\n' >bad.py
exits 6 quern arc run bad.py --tasks tasks
empty "$out"
has "$err" "^bad.py:2:10: error: unknown name 'vmiror', did you mean 'vmirror'\?$"
has "$err" "^bad.py:3:10: error: 'add' takes 2 arguments, not 1$"
has "$err" "^bad.py:4:12: error: return of unknown name 'x9'"
has "$err" '^quern arc run: bad.py: 3 errors$'
echo '{"train":[{"input":[[1,12]],"output":[[1]]}],"test":[]}' >bad.json
refused 6 '.*bad.json' quern arc run solvers.py --tasks bad.json
