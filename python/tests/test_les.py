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
        now = flow.inspect()
        assert now["step"] == 40 and now["time"] == pytest.approx(want.series["time"][-1], rel=1e-14)
        assert now["energy"] == pytest.approx(want.series["energy"][-1], rel=1e-12)
        assert np.allclose(flow.spectrum(), want.spectrum["end"], rtol=1e-9, atol=1e-15)
        assert flow.inspect()["energy"] == now["energy"]


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
    with pytest.raises(TypeError, match="steps does not take an array"):
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


def test_a_run_in_memory_writes_no_file(cpu, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 32
    x = np.arange(n) * 2 * np.pi / n
    omega = np.outer(np.sin(x), np.cos(2 * x))
    result = quern.les.run(n=n, steps=4, stride=2, ic=omega, precision="f64", k_cut=5, k_mid=8,
                           encode_every=1, ctx=cpu)
    assert list(tmp_path.iterdir()) == []
    assert np.allclose(result.omega[0], omega, atol=1e-12)
    assert result.decoded.shape == result.lowpass.shape == (3, n, n)
    assert result.series.dtype.names[:3] == ("step", "time", "energy")
    assert result.spectrum.dtype.names == ("k", "start", "end")
    assert result.encoded["A"].shape == 2 * result.encoded["mu"].shape
    assert result.metrics["les"]["config"]["ic"] == "file"


def test_a_resumed_run_has_the_fields_from_before_its_checkpoint(cpu, tmp_path):
    settings = dict(n=32, steps=40, stride=10, checkpoint_every=20)
    out = tmp_path / "interrupted"
    want = quern.les.run(out=tmp_path / "whole", ctx=cpu, **settings)
    with quern.Context(backend="sim", fallback="error", fault="copy_d2h@20*1") as failing:
        with pytest.raises(quern.Error, match="copy_d2h"):
            quern.les.run(out=out, ctx=failing, **settings)
    assert any(out.glob("run.unfinished/checkpoint.*"))
    again = quern.les.run(resume=True, out=out, ctx=cpu, **settings)
    assert again.steps.tolist() == want.steps.tolist()
    assert np.array_equal(again.omega, want.omega)
    assert np.array_equal(again.series, want.series)
    with pytest.raises(quern.Error, match="checkpoint_every: checkpoints need out, a folder"):
        quern.les.run(n=32, steps=40, checkpoint_every=20, ctx=cpu)


def test_a_static_force_may_be_an_array(cpu, tmp_path):
    force = np.zeros((32, 32))
    force[3, 5] = 1e-3
    np.save(tmp_path / "force.npy", force)
    by_array = quern.les.run(n=32, steps=4, what="sim", forcing=force, ctx=cpu)
    by_file = quern.les.run(n=32, steps=4, what="sim", forcing_file=tmp_path / "force.npy", ctx=cpu)
    free = quern.les.run(n=32, steps=4, what="sim", ctx=cpu)
    assert by_array.series["energy"][-1] == by_file.series["energy"][-1]
    assert by_array.series["energy"][-1] != free.series["energy"][-1]


def test_the_former_name_of_inspect_still_works(cpu):
    with quern.les.Flow(n=32, ctx=cpu) as flow:
        with pytest.warns(DeprecationWarning, match="inspect"):
            assert flow.look() == flow.inspect()
