"""Fits, against the command and against NumPy."""

import json

import numpy as np
import pytest

import quern

CURVE = """fit 1;
table T = csv("points.csv", header=1);
const weight_of_all = 1;
param a = 1;
param b = 0.1;
residual r over i in T { yield weight_of_all*(i.y - a*exp(-b*i.t)); }
solve lm { max_iterations = 100; function_tolerance = 1e-18; }
"""


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    t = np.linspace(0, 4, 40)
    return {"t": t, "y": 3 * np.exp(-0.7 * t) + 0.01 * rng.standard_normal(40)}


def test_a_fit_has_the_numbers_of_the_command(cpu, command, points, tmp_path):
    solution = quern.fit.run(CURVE, {"points.csv": points}, ctx=cpu)
    lines = ["t,y", *(f"{t!r},{y!r}" for t, y in zip(points["t"].tolist(), points["y"].tolist()))]
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "curve.fit").write_text(CURVE)
    command(tmp_path, "fit", "run", "curve.fit", "--backend", "cpu", "--report", "curve.json")
    want = json.loads((tmp_path / "curve.json").read_text())
    assert solution.converged and solution.cost == want["final_cost"]
    for parameter in want["parameters"]:
        assert solution[parameter["name"]] == parameter["values"][0]
        assert solution.deviations[parameter["name"]] == parameter["deviations"][0]
        assert solution.start[parameter["name"]] == parameter["start"][0]
    by_folder = quern.fit.run(CURVE, folder=tmp_path, ctx=cpu)
    assert by_folder.values == solution.values


def test_a_linear_fit_is_that_of_numpy(cpu):
    t = np.linspace(0, 1, 20)
    y = 3 - 2 * t + 0.1 * np.cos(40 * t)
    text = CURVE.replace("a*exp(-b*i.t)", "(a + b*i.t)")
    table = np.array(list(zip(t, y)), [("t", "f8"), ("y", "f8")])
    solution = quern.fit.run(text, {"points.csv": table}, ctx=cpu)
    b, a = np.polyfit(t, y, 1)
    assert np.allclose([solution["a"], solution["b"]], [a, b], rtol=1e-9)


def test_vectors_come_as_arrays(cpu):
    text = """fit 1;
mesh M = grid(4, 3, 1.0, 1.0);
param x[M.verts] : vec3 = M.pos fixed where self.boundary == 1;
residual spring over e in M.edges { yield x[e.a] - x[e.b]; }
solve lm { max_iterations = 20; }
"""
    solution = quern.fit.run(text, ctx=cpu)
    assert solution["x"].shape == (20, 3) and solution.start["x"].shape == (20, 3)
    assert np.isfinite(solution["x"]).all()


def test_starts_and_constants_can_be_set(cpu, points):
    solution = quern.fit.run(CURVE, {"points.csv": points}, set={"a": 2.5, "weight_of_all": 2},
                             ctx=cpu)
    assert solution.start["a"] == 2.5 and solution["a"] == pytest.approx(3, abs=0.05)
    with pytest.raises(quern.Error, match="nobody"):
        quern.fit.run(CURVE, {"points.csv": points}, set={"nobody": 1}, ctx=cpu)


def test_a_solve_that_stops_early_says_so(cpu, points):
    solution = quern.fit.run(CURVE.replace("= 100", "= 1"), {"points.csv": points}, ctx=cpu)
    assert not solution.converged and np.isfinite(solution["a"])


def test_a_callback_sees_every_iteration(cpu, points):
    seen = []
    solution = quern.fit.run(CURVE, {"points.csv": points}, callback=seen.append, ctx=cpu)
    history = solution.report["history"][1:]  # without the start
    assert [p.iteration for p in seen] == list(range(1, len(history) + 1))
    assert [(p.cost, p.accepted) for p in seen] == [(h["cost"], h["accepted"]) for h in history]
    assert {(p.solver, p.solve, p.max_iterations) for p in seen} == {("lm", 0, 100)}
    assert solution.values == quern.fit.run(CURVE, {"points.csv": points}, ctx=cpu).values


def test_a_callback_can_stop_a_solve(cpu, points):
    def stop(progress):
        if progress.iteration == 2:
            raise StopIteration

    for callback in (stop, lambda progress: progress.iteration == 2):
        solution = quern.fit.run(CURVE, {"points.csv": points}, callback=callback, ctx=cpu)
        assert not solution.converged and solution.report["status"] == "user_stop"
        assert len(solution.report["history"]) == 3
    two = quern.fit.run(CURVE.replace("= 100", "= 2"), {"points.csv": points}, ctx=cpu)
    assert solution.values == two.values


def test_an_exception_of_a_callback_reaches_the_caller(cpu, points):
    with pytest.raises(ZeroDivisionError):
        quern.fit.run(CURVE, {"points.csv": points}, callback=lambda progress: 1 / 0, ctx=cpu)


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_single_precision_is_near(backend, points):
    solution = quern.fit.run(CURVE.replace("1e-18", "1e-6"), {"points.csv": points},
                             precision="f32", backend=backend)
    assert solution["a"] == pytest.approx(3, abs=0.05)


def test_all_faults_of_a_program_are_reported(cpu):
    with pytest.raises(quern.Error) as caught:
        quern.fit.run("fit 1;\nparam a = nothing;\nparam b = alsonothing;\n", name="mine.fit",
                      ctx=cpu)
    assert caught.value.status == "input" and "mine.fit:2" in caught.value.text
    assert "mine.fit:2" in caught.value.faults and "mine.fit:3" in caught.value.faults


def test_bad_data_is_refused(cpu, points):
    with pytest.raises(quern.Error, match="points.csv"):
        quern.fit.run(CURVE, ctx=cpu)
    with pytest.raises(quern.Error, match="points.csv"):
        quern.fit.run(CURVE, {"points.csv": "t,y\n1,two\n"}, ctx=cpu)
    with pytest.raises(ValueError, match="columns of one length"):
        quern.fit.run(CURVE, {"points.csv": {"t": [1, 2], "y": [1]}}, ctx=cpu)
    with pytest.raises(TypeError, match="points.csv: data is text"):
        quern.fit.run(CURVE, {"points.csv": np.zeros((3, 2))}, ctx=cpu)
    with pytest.raises(quern.Error, match="precision: 'f16' is not one of f64, f32"):
        quern.fit.run(CURVE, {"points.csv": points}, precision="f16", ctx=cpu)
    with pytest.raises(quern.Error, match="covarience is unknown; did you mean covariance"):
        quern.fit.run(CURVE, {"points.csv": points}, covarience=True, ctx=cpu)
    with pytest.raises(quern.Error, match="points.csv: column y, row 2: nan is not finite"):
        quern.fit.run(CURVE, {"points.csv": {"t": [1, 2], "y": [1, np.nan]}}, ctx=cpu)


def test_columns_give_the_bits_of_their_text(cpu, points):
    lines = ["t,y", *(f"{t!r},{y!r}" for t, y in zip(points["t"].tolist(), points["y"].tolist()))]
    want = quern.fit.run(CURVE, {"points.csv": "\n".join(lines) + "\n"}, ctx=cpu)
    both = np.empty((len(points["t"]), 2))
    both[:, 0], both[:, 1] = points["t"], points["y"]
    for table in (points, {"t": both[:, 0], "y": both[:, 1]},
                  {"t": points["t"][::-1][::-1], "y": points["y"].astype(">f8")}):
        assert quern.fit.run(CURVE, {"points.csv": table}, ctx=cpu).values == want.values


@pytest.mark.parametrize("dtype", ["f4", "i8", "i4", "?"])
def test_columns_may_have_other_types(cpu, dtype):
    t = np.array([0, 1, 1, 0, 1, 0]).astype(dtype)
    y = np.arange(6).astype(dtype if dtype != "?" else "i2")
    text = CURVE.replace("a*exp(-b*i.t)", "(a + b*i.t)")
    as_f8 = {"points.csv": {"t": t.astype("f8"), "y": y.astype("f8")}}
    got = quern.fit.run(text, {"points.csv": {"t": t, "y": y}}, ctx=cpu)
    assert got.values == quern.fit.run(text, as_f8, ctx=cpu).values
