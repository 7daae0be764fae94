"""Flows and whole runs, against the command and against what is known."""

import numpy as np
import pytest

import quern


def test_a_run_has_the_fields_of_the_command(cpu, command, tmp_path):
    command(tmp_path, "les", "run", "--n", 32, "--steps", 40, "--stride", 20, "--observer",
            "snapshots", "--video", "none", "--out", "flow", "--backend", "cpu")
    result = quern.les.run(n=32, steps=40, stride=20, ctx=cpu)
    assert result.steps.tolist() == [0, 20, 40]
    for kind, fields in (("omega", result.omega), ("full", result.decoded),
                         ("lp", result.lowpass)):
        want = [np.load(path) for path in sorted((tmp_path / "flow").glob(f"les_*_{kind}_t*.npy"))]
        assert np.array_equal(fields, want), kind
    assert np.array_equal(result.encoded["z"], np.load(tmp_path / "flow" / "z.npy"))
    assert result.series["step"].tolist() == list(range(41))
    assert result.metrics["status"] == "ok"


def test_a_flow_goes_where_the_run_goes(cpu):
    want = quern.les.run(n=32, steps=40, stride=20, what="sim", ctx=cpu)
    with quern.les.Flow(n=32, ctx=cpu) as flow:
        flow.step(21)  # many at a time, and one by one
        flow.step(19)
        assert np.array_equal(flow.vorticity(), want.omega[-1])
        now = flow.look()
        assert now["step"] == 40 and now["time"] == pytest.approx(0.4)
        assert now["energy"] == pytest.approx(want.series["energy"][-1], rel=1e-12)
        assert np.allclose(flow.spectrum(), want.spectrum["end"], rtol=1e-9, atol=1e-15)
        assert flow.look()["energy"] == now["energy"]


def test_a_field_of_ones_own_decays_as_theory_says(cpu):
    n, nu, steps = 32, 0.01, 50
    x = np.arange(n) * 2 * np.pi / n
    omega = 2 * np.outer(np.sin(x), np.sin(x))
    with quern.les.Flow(n=n, ic=omega, precision="f64", nu0=nu, cs=0.0, dt=0.01, ctx=cpu) as flow:
        assert np.allclose(flow.vorticity(), omega, atol=1e-12)
        flow.step(steps)
        decay = np.exp(-2 * nu * 0.01 * steps)
        assert np.allclose(flow.vorticity(), decay * omega, atol=1e-6)


def test_members_of_an_ensemble_are_stacked(cpu):
    with quern.les.Flow(n=32, ensemble=3, seed=5, ctx=cpu) as flow:
        fields = flow.vorticity()
        assert fields.shape == (3, 32, 32) and not np.array_equal(fields[0], fields[1])
        assert flow.spectrum(2).shape == flow.spectrum(0).shape
        with pytest.raises(quern.Error, match="member 3 of 3"):
            flow.spectrum(3)


def test_bad_settings_have_the_sentence_of_the_command(cpu):
    with pytest.raises(quern.Error, match="setps.*steps") as caught:
        quern.les.run(setps=3, ctx=cpu)
    assert caught.value.status == "usage"
    with pytest.raises(quern.Error, match="N: 3 is below the least value, 16"):
        quern.les.Flow(n=3, ctx=cpu)
    with pytest.raises(TypeError, match="steps is no array"):
        quern.les.run(steps=np.array([1]), ctx=cpu)
    with pytest.raises(quern.Error):  # another shape than n x n
        quern.les.Flow(n=32, ic=np.zeros((4, 4)), ctx=cpu)
    with pytest.raises(quern.Error, match="-1 steps"):
        quern.les.Flow(n=32, ctx=cpu).step(-1)


def test_a_flow_may_have_a_context_of_its_own():
    flow = quern.les.Flow(n=32, backend="cpu")
    flow.step(2)
    flow.close()
    with pytest.raises(quern.Error, match="closed"):
        flow.step(1)


def test_values_that_do_not_fit_are_refused_by_name(cpu):
    for keywords, words in (({"form": "fluks"}, "form: 'fluks' is not one of flux, advective"),
                            ({"steps": 2.5}, "steps: '2.5' is not a whole number"),
                            ({"nu0": "much"}, "nu0: 'much' is not a number"),
                            ({"seed": -1}, "seed: '-1' is not a whole number from 0")):
        with pytest.raises(quern.Error, match=words):
            quern.les.Flow(ctx=cpu, **keywords)


def test_a_profile_brings_its_own_defaults():
    options = quern.les._OPTIONS.make({"Train-Frac": 0.5, "profile": "origin", "l": "2*pi"})
    assert (options.N, options.steps, options.train_frac) == (64, 300, 0.5)
    assert options.L == 2 * np.pi
