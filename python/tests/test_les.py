"""Flows and whole runs, against the command and against what is known."""

import importlib.util
import os
import signal
import threading
import time

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
        want = [np.load(path) for path in sorted((tmp_path / "flow").glob(f"les_{kind}_t*.npy"))]
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


def test_fields_of_a_known_flow(ctx):
    n = 32
    x = np.arange(n) * 2 * np.pi / n
    with quern.les.Flow(n=n, ic="taylor_green", precision="f64", mean_u=0.5, ctx=ctx) as flow:
        u, v = flow.velocity()
        assert np.allclose(flow.vorticity(), 2 * np.outer(np.cos(x), np.cos(x)), atol=1e-12)
        assert np.allclose(flow.streamfunction(), np.outer(np.cos(x), np.cos(x)), atol=1e-12)
        assert np.allclose(u, 0.5 - np.outer(np.sin(x), np.cos(x)), atol=1e-12)
        assert np.allclose(v, np.outer(np.cos(x), np.sin(x)), atol=1e-12)
        assert not flow.forcing().any()


def test_a_callback_reads_the_flow_and_changes_it(ctx):
    wave = np.cos(2 * np.arange(32) * 2 * np.pi / 32) * np.ones((32, 1))
    seen = []

    def drive(flow):
        seen.append(flow.inspect()["step"])
        flow.set_forcing(wave if len(seen) % 2 == 0 else -wave)

    with quern.les.Flow(n=32, precision="f64", nu0=0.0, cs=0.0, dt=0.01, ctx=ctx) as flow:
        flow.set_vorticity(np.zeros((32, 32)))
        flow.set_forcing(wave)
        flow.run(25, drive, every=10)
        assert seen == [10, 20, 25]
        assert np.allclose(flow.vorticity(), 0.01 * (10 - 10 + 5) * wave, atol=1e-13)
        assert [state["step"] for state in flow.steps(7, every=3)] == [28, 31, 32]
        with pytest.raises(ValueError, match="every=0"):
            next(flow.steps(3, every=0))
        with pytest.raises(ValueError, match=r"forcing: an array of shape \(3, 3\), not"):
            flow.set_forcing(np.zeros((3, 3)))


def test_views_are_the_memory_of_the_flow(cpu):
    with quern.les.Flow(n=32, ctx=cpu) as flow:
        field = flow.field("vorticity")
        view = field.view()
        assert not view.flags.writeable and np.array_equal(view, flow.vorticity())
        assert np.shares_memory(view, np.from_dlpack(field))
        flow.step(5)
        assert flow.field("vorticity") is field
        assert np.shares_memory(view, field.view()) and np.array_equal(view, flow.vorticity())
        field.view("update")[...] = 0
        flow.set_vorticity(field)
        assert not flow.vorticity().any()
        with pytest.raises(ValueError, match="this is not the field 'forcing' of this flow"):
            flow.set_forcing(field)
        with pytest.raises(ValueError, match="no field 'speed'"):
            flow.field("speed")
        with pytest.raises(AttributeError, match="no CUDA device"):
            field.__cuda_array_interface__
    assert view.shape == (32, 32)  # which outlives the flow


def test_a_flow_is_saved_and_loaded(cpu, tmp_path):
    settings = dict(n=32, ensemble=2, seed=3, ctx=cpu)
    with quern.les.Flow(**settings) as flow, quern.les.Flow(**{**settings, "seed": 9}) as other:
        flow.set_forcing(0.01 * flow.vorticity()[0])
        flow.step(20)
        flow.save(tmp_path / "a.flow")
        other.load(tmp_path / "a.flow")
        flow.step(9)
        other.step(9)
        assert np.array_equal(flow.vorticity(), other.vorticity())
        assert other.inspect() == flow.inspect()
    with quern.les.Flow(n=64, ctx=cpu) as small:
        with pytest.raises(quern.Error, match="a.flow: the flow there has another N"):
            small.load(tmp_path / "a.flow")
    out = tmp_path / "whole"
    want = quern.les.run(n=32, steps=40, stride=20, checkpoint_every=40, out=out, ctx=cpu)
    with quern.les.Flow(n=32, ctx=cpu) as flow:
        flow.load(out / "les_t000040.checkpoint")
        assert np.array_equal(flow.vorticity(), want.omega[-1]) and flow.inspect()["step"] == 40


def test_a_flow_goes_on_when_its_device_fails(cpu):
    def drive(flow):
        flow.set_forcing(0.1 * flow.vorticity())

    def end_of(ctx):
        with quern.les.Flow(n=32, precision="f64", seed=4, ctx=ctx) as flow:
            flow.run(60, drive, every=20)
            return flow.vorticity()

    want = end_of(cpu)
    with quern.Context(backend="sim", fault="device_lost@90*1") as failing:
        with pytest.warns(quern.FallbackWarning, match="les.flow failed"):
            assert np.array_equal(end_of(failing), want)
    with quern.Context(backend="sim", fault="copy_d2h@3*1", fallback="error") as failing:
        with pytest.raises(quern.Error, match="les.flow failed .* fallback is forbidden"):
            end_of(failing)


def test_ctrl_c_ends_the_steps_and_not_the_flow(cpu):
    with quern.les.Flow(n=32, what="sim", ctx=cpu) as flow:
        flow.step(1)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            flow.step(100_000_000)
        assert time.monotonic() - start < 20
        made = flow.inspect()["step"]
        flow.step(3)
        assert 1 < made < 100_000_000 and flow.inspect()["step"] == made + 3


@pytest.mark.skipif(not importlib.util.find_spec("xarray"), reason="xarray is not installed")
def test_a_flow_as_a_dataset(cpu):
    with quern.les.Flow(n=32, ensemble=2, ctx=cpu) as flow:
        flow.step(4)
        data = flow.to_xarray()
        assert data.vorticity.dims == ("member", "y", "x") and data.attrs["step"] == 4
        assert np.array_equal(data.u, flow.velocity()[0])
        assert data.x[1] == pytest.approx(2 * np.pi / 32)
