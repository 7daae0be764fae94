"""Threads and forked processes."""

import multiprocessing
import threading

import numpy as np
import pytest

import quern


def test_threads_open_contexts_at_once(backend):
    """In a new process, whose first contexts these are."""
    process = multiprocessing.get_context("spawn").Process(target=_open_many, args=(backend,))
    process.start()
    process.join(300)
    assert process.exitcode == 0


def _open_many(backend):
    sums, start = [], threading.Barrier(4)

    def work():
        start.wait()
        with quern.Context(backend, fallback="error") as ctx:
            x = ctx.array(np.ones(100, "f4"))
            out = ctx.zeros(100)
            ctx.run("vadd", x, x, out)
            sums.append(float(out.numpy().sum()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [200.0] * 4


def _use(ctx, x, answers):
    try:
        answers.put(x.numpy().tolist())
    except quern.Error as error:
        answers.put(str(error))


def test_a_forked_child_is_told_what_to_do(ctx, backend):
    x = ctx.array(np.ones(2, "f4"))
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_use, args=(ctx, x, answers))
    child.start()
    answer = answers.get(timeout=120)
    child.join(60)
    assert child.exitcode == 0
    if backend == "cpu":
        assert answer == [1, 1]
    else:
        assert "devices do not survive a fork: open the context in the child" in answer
    assert x.numpy().tolist() == [1, 1]


def test_a_range_beyond_an_array_is_refused(ctx):
    kernels = ctx.kernels("MAP(add, VAL(float, a), INOUT(float, x)) { x[gx] = x[gx] + a; }")
    x = ctx.zeros(1000)
    with pytest.raises(quern.Error, match=r"needs elements 0 to 19999 of argument 1 \(x\)"):
        ctx.run(kernels.add, 2.0, x, over=20000)
