"""Programs over grids, against the command and against NumPy."""

import json

import numpy as np
import pytest

import quern

MIRROR = "def solve(I):\n    return vmirror(I)\n"
TASK = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4, 5]]}]}


# OpenCL's compilers take minutes for the virtual machine; tests/parity covers it.
@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_grids_come_back_turned(backend):
    grid = np.arange(6).reshape(2, 3)
    runs = quern.arc.run({"v": MIRROR, "h": MIRROR.replace("vmirror", "hmirror")}, [grid, [[7]]],
                         backend=backend)
    found = {(run.program, run.pair): run.output for run in runs}
    assert np.array_equal(found["v", 0], grid[:, ::-1]) and found["v", 0].dtype == np.int8
    assert np.array_equal(found["h", 0], grid[::-1])
    assert found["h", 1].tolist() == [[7]]
    assert all(run.status == "ok" and run.equal is None and run.steps == 1 for run in runs)


def test_runs_are_those_of_the_command(cpu, command, tmp_path):
    (tmp_path / "solvers.py").write_text(MIRROR.replace("solve", "solve_turn"))
    (tmp_path / "turn.json").write_text(json.dumps(TASK))
    command(tmp_path, "arc", "run", "solvers.py", "--tasks", "turn.json", "--backend", "cpu", "-o",
            "results.jsonl")
    want = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    runs = quern.arc.run({"turn": MIRROR}, {"turn": TASK}, ctx=cpu)
    assert [(run.part, run.pair, run.status, run.equal, run.steps) for run in runs] == \
        [(line["part"], line["pair"], line["status"], line.get("equal"), line["steps"])
         for line in want]
    assert ["".join(map(str, run.output[0])) for run in runs] == \
        [line["output"]["g"][0] for line in want]


def test_a_search_keeps_its_tasks(cpu):
    with quern.arc.Session(ctx=cpu) as session:
        session.add_tasks({"turn": {"train": [{"input": np.array([[1, 2]]),
                                               "output": np.array([[2, 1]])}]}})
        session.add_programs({"good": MIRROR, "bad": MIRROR.replace("vmirror", "rot90")})
        scores = session.run(match="all", pairs="train")["scores"]
        assert scores["good"]["solved"] == 1 and scores["bad"]["solved"] == 0
        session.ask(clear="programs")
        session.add_programs({"turn": MIRROR})
        assert session.run(programs=["turn"], tasks=["turn"])["solved"] == 1
        assert session.ask(stats=True)["stats"]["instances"] == 3


def test_a_program_that_fails_says_where(cpu):
    failing = "def solve(I):\n    x = objects(I, T, F, T)\n    return argmax(x, size)\n"
    run, = quern.arc.run(failing, [[[0, 0]]], ctx=cpu)
    assert run.status == "error" and run.output is None and "line 3" in run.error


def test_other_values_than_grids_come_as_python_has_them(cpu):
    run, = quern.arc.run("def solve(I):\n    return shape(I)\n", [[[1, 2, 3]]], ctx=cpu)
    assert run.output == (1, 3)


def test_programs_with_errors_are_refused_with_all_of_them(cpu):
    with pytest.raises(quern.Error, match="did you mean 'vmirror'") as caught:
        quern.arc.run({"a": MIRROR.replace("vmirror", "vmiror"), "b": "def solve(I)"}, [[[1]]],
                      ctx=cpu)
    assert caught.value.status == "input"
    assert "a: " in caught.value.faults and "b: " in caught.value.faults


def test_bad_grids_and_orders_are_refused(cpu):
    with pytest.raises(TypeError, match="rows and columns of whole numbers"):
        quern.arc.run(MIRROR, [[[1.5]]], ctx=cpu)
    with pytest.raises(quern.Error):
        quern.arc.run(MIRROR, [[[10]]], ctx=cpu)
    with quern.arc.Session(ctx=cpu) as session:
        with pytest.raises(quern.Error, match="'match' is not one of"):
            session.run(match="some")
        with pytest.raises(quern.Error, match="no program 'x'"):
            session.run(programs=["x"])
    with pytest.raises(ValueError, match="closed"):
        session.run()
