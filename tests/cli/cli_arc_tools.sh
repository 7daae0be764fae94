#!/usr/bin/env bash
# cli_arc_tools.sh - `quern arc` check, bench, dis, ops, show and make.
# test: cost 17
. "$(dirname "$0")/lib.sh"

# Check.
cat >cases.json <<'CASES'
{"format":"quern-arc-cases-1","order":"lexicographic","cases":[
{"op":"add","args":[1,2],"out":3},
{"op":"first","args":[{"t":[]}],"err":"StopIteration"},
{"op":"vmirror","args":[{"g":["12"]}],"out":{"g":["21"]}}
]}
CASES
sed 's/"out":3/"out":4/' cases.json >wrong.json
exits 0 quern arc check --cases cases.json --backend cpu --quiet
has "$out" '^cases.json: 3 of 3 cases pass on cpu:0'
exits 0 quern arc check --cases cases.json,cases.json cases.json --backend cpu --quiet --group 16
lines "$out" 3
exits 4 quern arc check --cases cases.json,wrong.json --backend cpu --quiet
has "$out" '^case 0 add\(1, 2\): wanted 4, got 3$'
has "$err" '^quern arc check: 1 of 6 cases fail$'
refused 2 '--cases FILE is needed' quern arc check
refused 6 'cannot open none.json' quern arc check --cases none.json

# Make, and a picture of the results of generated programs.
exits 0 quern make programs --programs 4 --grids 2 --steps 50 --out one --seed 3
exits 0 quern make programs --programs 4 --grids 2 --steps 50 --out two --seed 3
diff -r one two >/dev/null || fail 'one seed makes different files'
exits 0 quern make programs --programs 4 --grids 2 --out two --seed 4
! diff -r one two >/dev/null || fail 'two seeds make the same files'
exits 0 quern arc run one/solvers.py --tasks one/tasks -o one/results.jsonl --backend cpu --quiet
lines one/results.jsonl 8
exits 0 quern arc run one/batt.py --tasks one/tasks --backend cpu --quiet
has "$out" '^8 runs on cpu:0: 8 ok, '
exits 0 quern arc show one/results.jsonl --tasks one/tasks -o one.html
has one.html 'made3'
exits 0 quern arc show one/tasks/made0.json -o one.png
[ "$(head -c 4 one.png | tail -c 3)" = PNG ] || fail 'no picture'
refused 2 '-o is needed' quern arc show one/tasks/made0.json
refused 6 'cannot open none.json' quern arc show none.json -o none.png

# Dis and ops.
printf 'def solve_turn(I):\n    x1 = hmirror(I)\n    O = vmirror(I)\n    return O\n' >turn.py
exits 0 quern arc dis turn.py
has "$out" '^program turn: '
has "$out" 'vmirror\(s0\)'
exits 0 quern arc dis turn.py --without dead
has "$out" 'hmirror\(s0\)'
refused 2 "--without: 'none' is not a pass" quern arc dis turn.py --without merge,none --quiet
exits 0 quern arc dis turn.py --notes
has "$out" "^turn.py:2:5: warning: 'x1' is never used"
exits 0 quern arc dis turn.py -o turn.qarc
exits 0 quern arc dis turn.qarc --program turn
has "$out" 'vmirror\(s0\)'
refused 2 "--program: there is no program 'none'" quern arc dis turn.py --program none --quiet
exits 0 quern arc ops
has "$out" '^ *0 +identity +1 +any +scalar +3$'
has "$out" '^ *89 +objects +4 +set +more +1$'

# Bench.
exits 0 quern arc bench one/solvers.py --tasks one/tasks --replicate 1,3 --samples 1 --no-check \
    --backend sim --quiet -o bench.json
has "$out" '^cpu:0 +1 +- +8 '
has "$out" '^cpu:0 +1 +made[0-9] +18 '
has "$out" '^sim:0 +- +- +24 '
has "$out" '^sim:0 (overtakes|is behind) the CPU'
has bench.json '"format": "quern-arc-bench-1"'
exits 0 quern arc bench one/solvers.py --tasks one/tasks --without made2 --samples 1 --backend cpu \
    --quiet --json
has "$out" '"without": "made2"'
refused 2 "there is no program 'none' to leave out" \
    quern arc bench one/solvers.py --tasks one/tasks --without none --samples 1 --backend cpu --quiet
refused 2 "--replicate: '0' is not a number" quern arc bench one/solvers.py --tasks one/tasks --replicate 0
