#!/usr/bin/env bash
# cli_arc_serve.sh - `quern arc serve`: a client that asks, makes a mistake, and asks again.
. "$(dirname "$0")/lib.sh"

cat >batch.jsonl <<'LINES'
{"programs": {"turn": "def solve(I):\n    return vmirror(I)\n", "none": "def solve(I):\n    return J\n"}}

{"tasks": {"turn": {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4]]}]}}}
{"run": {"want": "outputs"}, "id": 7}
not JSON
{"run": {"programs": ["gone"]}}
{"end": true}
{"stats": true}
LINES
exits 0 quern arc serve --batch batch.jsonl --backend cpu --quiet
lines "$out" 6
has "$out" '^\{"ok":true,"added":1,"programs":1,"refused":\{"none":"none:2:12: error: return of unknown name'
has "$out" '^\{"ok":true,"added":1,"tasks":1,"pairs":2\}$'
has "$out" '^\{"ok":true,"runs":2,"solved":1,"errors":0,"scores":\{"turn":\{"runs":2,"solved":1,"errors":0,"differing":0,"other_shape":0,"steps":2\}\},"id":7,"results":\[.*"output":\{"g":\["43"\]\}\}\]\}$'
has "$out" "^\{\"ok\":false,\"error\":\"there is no program 'gone'\",\"status\":\"input\"\}$"
exits 0 quern arc serve --batch batch.jsonl -o answers.jsonl --backend cpu --quiet
cmp -s "$out" /dev/null || fail 'answers on stdout'
lines answers.jsonl 6
refused 6 'cannot open none' quern arc serve --batch none
refused 2 "--max-line: '1' is not a size of 1K or more" quern arc serve --max-line 1
{ head -c 5000 /dev/zero | tr '\0' x; echo; echo '{"run": {"timeout": 1}}'; } >long.jsonl
exits 0 quern arc serve --batch long.jsonl --max-line 4K --backend cpu --quiet
has "$out" '^\{"ok":false,"error":"line 1 has 5000 bytes, more than the limit of 4096 \(--max-line\)","status":"limit"\}$'
has "$out" '^\{"ok":true,"runs":0,'

command -v python3 >/dev/null || { echo "skipped: no python3 for the client"; exit 77; }
cat >client.py <<'CLIENT'
import json
import random
import subprocess

serve = subprocess.Popen(["quern", "arc", "serve", "--backend", "cpu", "--quiet"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tell(line):
    serve.stdin.write(line + "\n")
    serve.stdin.flush()
    return json.loads(serve.stdout.readline())


def ask(**request):
    answer = tell(json.dumps(request))
    assert answer["ok"], answer
    return answer


# A search among generated programs: the best of each generation survives.
random.seed(5)
words = ["vmirror", "hmirror", "dmirror", "cmirror", "rot90", "rot180", "rot270"]
grids = [[[random.randrange(10) for _ in range(4)] for _ in range(3)] for _ in range(6)]
ask(tasks={"goal": {"train": [{"input": g, "output": [r[::-1] for r in g[::-1]]} for g in grids],
                    "test": []}})
for generation in range(20):
    texts = {}
    for number in range(50):
        chain = [random.choice(words) for _ in range(3)]
        texts[f"p{number}"] = "def solve(I):\n" + "".join(
            f"    x{i + 1} = {word}({'I' if i == 0 else 'x' + str(i)})\n"
            for i, word in enumerate(chain)) + f"    return x{len(chain)}\n"
    assert ask(programs=texts)["added"] == 50
    answer = ask(run={"match": "all", "pairs": "train"})
    assert answer["runs"] == 300, answer
    for name, score in answer["scores"].items():
        assert score["runs"] == 6 and score["errors"] == 0, (name, score)
        if score["solved"] == 6:
            assert score["differing"] == 0 and score["other_shape"] == 0
    assert any(score["solved"] == 6 for score in answer["scores"].values()), generation
    assert ask(clear="programs")["programs"] == 0

# Whatever the input, there is an answer, and the next answer is right.
for bad in ["{", "[]", "{}", "null", '{"run": 3}', '{"run": {"x": 1}}', '{"run": {"pairs": "odd"}}',
            '{"run": {"match": 1}}', '{"run": {"tasks": ["none"]}}', '{"run": {"programs": {}}}',
            '{"programs": []}', '{"tasks": {"a": {"train": [{"input": [[11]]}], "test": []}}}',
            '{"tasks": 1}', '{"clear": 1}', '{"odd": 1}', '{"stats": 1, "run": {}}', "\x00", "x" * 100000]:
    answer = tell(bad)
    assert answer["ok"] is False and answer["error"], (bad[:40], answer)
assert ask(run={})["runs"] == 0
assert ask(stats=True)["stats"]["instances"] == 6000
ask(clear="all")
assert ask(run={"match": "all"})["runs"] == 0
serve.stdin.close()
assert serve.wait() == 0
CLIENT
exits 0 python3 client.py
