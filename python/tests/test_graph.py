"""Kernels from text, and graphs of them."""

import threading
import warnings

import numpy as np
import pytest

import quern

TEXT = """
MAP(saxpy, VAL(float, a), IN(float, x), INOUT(float, y))
{
    y[gx] = a * x[gx] + y[gx];
}

MAP(across, VAL(i32, cols), OUT(i32, out))
{
    out[(i64)gy * cols + gx] = 100 * gy + gx;
}

MAP(count, IN(u8, x), VAL(u64, add), OUT(u64, out))
{
    out[gx] = (u64)x[gx] + add;
}

typedef struct { double scale; i32 shift, pad; } line_par;

MAP(line, VAL(line_par, p), IN(float, x), OUT(float, y))
{
    y[gx] = (float)p.scale * x[gx] + (float)p.shift;
}
"""


def test_a_graph_computes_what_numpy_does(ctx):
    kernels = ctx.kernels(TEXT)
    rng = np.random.default_rng(1)
    x, y = rng.random(1000, "f4"), rng.random(1000, "f4")
    on_x, on_y = ctx.array(x), ctx.array(y)
    with ctx.graph("twice") as graph:
        assert graph.stage(kernels.saxpy, 2.5, on_x, on_y) == 0
        assert graph.stage(kernels["saxpy"], -1, on_x, on_y, name="back") == 1
        graph.run(3)
        graph.wait()
        want = y
        for _ in range(3):
            want = np.float32(2.5) * x + want
            want = np.float32(-1) * x + want
        assert np.array_equal(on_y.numpy(), want)
        assert graph.stats["runs"] == 3 and graph.stats["n_stages"] == len(graph) == 2
        assert all(device for device in graph.stage_devices)


def test_values_are_replaced_between_runs(ctx):
    kernels = ctx.kernels(TEXT)
    x, y = ctx.array(np.ones(4, "f4")), ctx.zeros(4)
    graph = ctx.graph()
    stage = graph.stage(kernels.saxpy, 1, x, y)
    graph.run()
    graph.set(stage, "a", 10)
    graph.run()
    graph.set(stage, 0, 100)
    graph.run()
    assert y.numpy().tolist() == [111, 111, 111, 111]
    for wrong in ((stage, "x"), (stage, 7), (stage, -1)):
        with pytest.raises(ValueError):
            graph.set(*wrong, 1)
    with pytest.raises(IndexError):
        graph.set(5, 0, 1)


def test_ranges_have_x_first(ctx):
    out = ctx.zeros((3, 5), "i4")
    ctx.run(ctx.kernels(TEXT).across, 5, out, over=(5, 3))
    assert np.array_equal(out.numpy(), np.add.outer(100 * np.arange(3), np.arange(5)))


def test_integers_and_structs_arrive_whole(ctx):
    kernels = ctx.kernels(TEXT)
    out = ctx.zeros(3, "u8")
    ctx.run(kernels.count, ctx.array([1, 2, 255], "u1"), 2**63, out)
    assert out.numpy().tolist() == [2**63 + 1, 2**63 + 2, 2**63 + 255]

    record = np.array((0.5, 3, 0), [("scale", "f8"), ("shift", "i4"), ("pad", "i4")])
    y = ctx.zeros(2)
    ctx.run(kernels.line, record, ctx.array([2, 4], "f4"), y)
    assert y.numpy().tolist() == [4, 5]
    ctx.run(kernels.line, record.tobytes(), ctx.array([4, 8], "f4"), y)
    assert y.numpy().tolist() == [5, 7]


def test_a_text_can_be_given_other_constants(ctx):
    kernels = ctx.kernels("MAP(fill, OUT(i32, x)) { x[gx] = N; }", defines="N=7")
    x = ctx.zeros(3, "i4")
    ctx.run(kernels.fill, x)
    assert x.numpy().tolist() == [7, 7, 7]


def test_built_in_kernels_work(cpu):
    a, b = cpu.array([1, 2, 3], "f4"), cpu.array([10, 10, 10], "f4")
    cpu.run("saxpy", 2, a, b)
    assert b.numpy().tolist() == [12, 14, 16]
    assert quern.builtin("saxpy").arguments[0] == "VAL(float, a)"


def test_wrong_arguments_are_refused_before_anything_runs(cpu):
    kernels = cpu.kernels(TEXT)
    x, y = cpu.zeros(4), cpu.zeros(4)
    graph = cpu.graph()
    wrong = [
        (TypeError, "has 3 arguments", (kernels.saxpy, 1, x)),
        (TypeError, "is an array of the context", (kernels.saxpy, 1, x.numpy(), y)),
        (TypeError, "array of float, not of float64", (kernels.saxpy, 1, cpu.zeros(4, "f8"), y)),
        (TypeError, "a number of type float", (kernels.saxpy, "a", x, y)),
        (TypeError, "a number of type float", (kernels.saxpy, [1, 2], x, y)),
        (ValueError, "does not fit i32", (kernels.across, 2**31, cpu.zeros(4, "i4"))),
        (ValueError, "does not fit i32", (kernels.across, 1.5, cpu.zeros(4, "i4"))),
        (ValueError, "does not fit u64", (kernels.count, cpu.zeros(4, "u1"), -1,
                                          cpu.zeros(4, "u8"))),
    ]
    for kind, text, arguments in wrong:
        with pytest.raises(kind, match=text):
            graph.stage(*arguments)
    with pytest.raises(ValueError, match="5 points, but array array has 4"):
        graph.stage(kernels.line, bytes(16), x, y, over=5)
    with pytest.raises(ValueError, match="one to three sides"):
        graph.stage(kernels.saxpy, 1, x, y, over=(2, 0))
    with quern.Context("cpu") as other:
        with pytest.raises(ValueError, match="of another context"):
            graph.stage(kernels.saxpy, 1, other.zeros(4), y)
        with pytest.raises(ValueError, match="of another context"):
            other.graph().stage(kernels.saxpy, 1, other.zeros(4), other.zeros(4))
        with pytest.raises(ValueError, match="of another context"):
            graph.output(other.zeros(4))
    with pytest.raises(ValueError, match="no built-in kernel 'saxpi'"):
        graph.stage("saxpi", 1, x, y)
    with pytest.raises(AttributeError, match="no kernel 'saxpi'"):
        kernels.saxpi
    assert len(graph) == 0


def test_a_kernel_outlives_its_context_as_a_name():
    with quern.Context("cpu") as ctx:
        kernels = ctx.kernels(TEXT)
        kernel, graph = kernels.saxpy, ctx.graph()
    assert kernel.arguments[2] == "INOUT(float, y)"
    with pytest.raises(quern.Error, match="the context is closed"):
        kernels.line
    with pytest.raises((quern.Error, TypeError)):
        graph.stage(kernel, 1, None, None)


def test_outputs_are_brought_to_the_host_by_the_run(ctx):
    x, y = ctx.array(np.ones(4, "f4")), ctx.zeros(4)
    with ctx.graph() as graph:
        graph.stage(ctx.kernels(TEXT).saxpy, 3, x, y)
        graph.output(y)
        graph.run(2)
        graph.wait()
        assert y.numpy().tolist() == [6, 6, 6, 6]


def test_a_text_with_errors_names_the_line(ctx):
    with pytest.raises(quern.Error, match=":2:") as caught:
        ctx.kernels("\nMAP(f, OUT(int, x)) { x[gx] = 1; }", name="mine")
    assert "mine" in caught.value.text
    with pytest.raises(ValueError, match="NUL"):
        ctx.kernels("MAP(f\0)")


def test_a_body_that_does_not_compile_is_an_error(cpu):
    kernels = cpu.kernels("MAP(f, OUT(i32, x)) { x[gx] = nothing; }")
    with pytest.raises(quern.Error) as caught:
        cpu.run(kernels.f, cpu.zeros(3, "i4"))
    assert caught.value.status == "compile"


def test_a_fallback_is_a_warning_and_the_result_is_right():
    with quern.Context("sim", fault="launch:saxpy*1", log="none") as ctx:
        y = ctx.zeros(4)
        with pytest.warns(quern.FallbackWarning, match="saxpy failed: .*; the CPU did it"):
            ctx.run("saxpy", 2, ctx.array(np.ones(4, "f4")), y)
        assert y.numpy().tolist() == [2, 2, 2, 2]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # reported only once
            ctx.run("saxpy", 2, ctx.array(np.ones(4, "f4")), y)


def test_a_device_that_does_not_open_is_a_warning(monkeypatch):
    monkeypatch.setenv("QUERN_HIDE", "cuda")
    with pytest.warns(quern.FallbackWarning,
                      match="init failed: cuda:0: hidden by QUERN_HIDE; the CPU did it"):
        quern.Context("cuda:0", log="none").close()


def test_a_fallback_can_be_forbidden():
    with quern.Context("sim", fault="launch:saxpy*1", fallback="error") as ctx:
        with pytest.raises(quern.Error) as caught:
            ctx.run("saxpy", 2, ctx.array(np.ones(4, "f4")), ctx.zeros(4))
        assert caught.value.status == "fallback"


def test_threads_take_turns_on_one_context(cpu):
    x = cpu.array(np.ones(1000, "f4"))
    results = []

    def work():
        y = cpu.zeros(1000)
        with cpu.graph() as graph:
            graph.stage("saxpy", 1, x, y)
            graph.run(50)
            results.append(float(y.numpy().sum()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [50000.0] * 4


def test_devices_are_listed(ctx, backend):
    assert ctx.devices[0].id == "cpu:0" and ctx.devices[0].kind == "cpu"
    assert any(device.id.startswith(backend) for device in quern.devices(backend))
    assert "cpu:0" in repr(ctx)
    assert ctx.device_number("cpu") == 0
    ctx.sync()
    assert ctx.transfers["h2d_bytes"] >= 0
