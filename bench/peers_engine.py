#!/usr/bin/env python3
"""peers_engine.py - the engine's reference work in CuPy and torch, on the same device.

Prints one line per measurement: peer, case, microseconds (median), note. The cases are those of
`quern bench`: saxpy over resident arrays, a chain of dependent tiny stages, and the vadd
scenarios from host memory to host memory (pinned, copies queued, one wait per batch).
"""
import argparse
import statistics
import time

SCENARIOS = {
    "Uniform-32k": [32000] * 4,
    "Uniform-64k": [64000] * 4,
    "Mixed-Same-Bucket": [20000, 25000, 30000, 28000],
    "Mixed-Adjacent-Buckets": [20000, 40000, 20000, 40000],
    "Mixed-Diverse": [10000, 50000, 100000, 200000],
    "Large-Uniform": [500000] * 8,
    "Large-Mixed": [256000, 512000] * 3,
}


def median_us(run, samples, warmup=10):
    for _ in range(warmup):
        run()
    times = []
    for _ in range(samples):
        start = time.perf_counter_ns()
        run()
        times.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(times)


def report(peer, case, us, note=""):
    print(f"{peer},{case},{us:.3f},{note}", flush=True)


def with_torch(args):
    import torch

    n = args.mi << 20
    x = torch.rand(n, device="cuda")
    y = torch.rand(n, device="cuda")

    def saxpy():
        torch.add(y, x, alpha=1.5, out=y)
        torch.cuda.synchronize()

    us = median_us(saxpy, args.samples)
    report("torch", f"saxpy-{args.mi}Mi", us, f"{12 * n / us / 1e6:.3f} TB/s")
    del x, y

    a = torch.rand(1024, device="cuda")
    b = torch.rand(1024, device="cuda")
    torch.add(b, a, alpha=0.5, out=b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(650):
            torch.add(b, a, alpha=0.5, out=b)

    def chain():
        graph.replay()
        torch.cuda.synchronize()

    us = median_us(chain, args.samples)
    report("torch", "chain-650", us, f"{us / 650:.3f} us per stage, CUDA graph")

    for name, sizes in SCENARIOS.items():
        host = [(torch.rand(k).pin_memory(), torch.rand(k).pin_memory(),
                 torch.empty(k).pin_memory()) for k in sizes]

        def batch():
            for p, q, r in host:
                r.copy_(p.to("cuda", non_blocking=True) + q.to("cuda", non_blocking=True),
                        non_blocking=True)
            torch.cuda.synchronize()

        us = median_us(batch, args.samples)
        report("torch", name, us, f"{us / len(sizes):.2f} us per task")


def with_cupy(args):
    import cupy
    import numpy

    n = args.mi << 20
    x = cupy.random.rand(n, dtype=cupy.float32)
    y = cupy.random.rand(n, dtype=cupy.float32)
    saxpy_kernel = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y",
                                          "saxpy")
    wait = cupy.cuda.get_current_stream().synchronize

    def saxpy():
        saxpy_kernel(numpy.float32(1.5), x, y)
        wait()

    us = median_us(saxpy, args.samples)
    report("cupy", f"saxpy-{args.mi}Mi", us, f"{12 * n / us / 1e6:.3f} TB/s")
    del x, y

    a = cupy.random.rand(1024, dtype=cupy.float32)
    b = cupy.random.rand(1024, dtype=cupy.float32)

    def chain():
        for _ in range(650):
            saxpy_kernel(numpy.float32(0.5), a, b)
        wait()

    us = median_us(chain, max(5, args.samples // 5))
    report("cupy", "chain-650", us, f"{us / 650:.3f} us per stage, one launch each")

    def pinned(count):
        memory = cupy.cuda.alloc_pinned_memory(count * 4)
        return numpy.frombuffer(memory, numpy.float32, count)

    for name, sizes in SCENARIOS.items():
        host = [(pinned(k), pinned(k), pinned(k)) for k in sizes]
        device = [(cupy.empty(k, cupy.float32), cupy.empty(k, cupy.float32)) for k in sizes]

        def batch():
            for (p, q, r), (u, v) in zip(host, device):
                u.set(p)
                v.set(q)
                (u + v).get(out=r, blocking=False)
            wait()

        us = median_us(batch, args.samples)
        report("cupy", name, us, f"{us / len(sizes):.2f} us per task")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mi", type=int, default=256, help="saxpy size in Mi floats")
    parser.add_argument("--samples", type=int, default=100)
    args = parser.parse_args()
    for name, run in (("torch", with_torch), ("cupy", with_cupy)):
        try:
            run(args)
        except ImportError as missing:
            report(name, "missing", 0, str(missing))


if __name__ == "__main__":
    main()
