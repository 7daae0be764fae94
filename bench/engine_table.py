#!/usr/bin/env python3
"""engine_table.py DIR - one table from the files engine.sh wrote: figure, bar, peers, verdict."""
import csv
import json
import pathlib
import sys

SMALL = ("Uniform-32k", "Uniform-64k", "Mixed-Same-Bucket", "Mixed-Adjacent-Buckets")
LARGE_BYTES = 8 * 500_000 * 12
BUS_BYTES_PER_US = 54e3


def figures(path):
    rows = json.loads(path.read_text())["figures"]
    return {(r["item"], r["metric"]): r["value"] for r in rows}


def find(table, item, metric):
    hits = [v for (i, m), v in table.items() if i.startswith(item) and m == metric]
    return hits[0] if hits else float("nan")


def peers(path):
    table = {}
    for row in csv.reader(path.open()):
        table[(row[0], row[1])] = float(row[2])
    return table


def scenarios(path):
    lines = (line for line in path.open() if not line.startswith("#"))
    return {
        r["scenario"]: (float(r["median_us"]), int(r["tasks"]))
        for r in csv.DictReader(lines)
        if r["mechanism"] == "single pass" and r["setting"] == "on"
    }


def show(name, quern, bar, ok, peer):
    print(f"| {name} | {quern} | {bar} | {'yes' if ok else 'NO'} | {peer} |")


def main():
    out = pathlib.Path(sys.argv[1])
    ops, cpu = figures(out / "ops.json"), figures(out / "ops_cpu.json")
    graph, other = figures(out / "graph.json"), peers(out / "peers.csv")
    tasks = scenarios(out / "tasks.csv")

    print("# The engine on one GPU\n")
    for line in (out / "conditions.txt").read_text().splitlines():
        print(f"- {line}")
    print("- command: `bench/engine.sh PACK`\n")
    print("| work | quern | bar | met | peers in the same run |\n|---|---|---|---|---|")

    rate = find(ops, "saxpy", "GB/s") / 1000
    n = 256 << 20
    show("saxpy, resident, 256 Mi floats", f"{rate:.2f} TB/s", ">= 4.0 TB/s", rate >= 4.0,
         ", ".join(f"{p} {12 * n / other[(p, 'saxpy-256Mi')] / 1e6:.2f} TB/s"
                   for p in ("torch", "cupy") if (p, "saxpy-256Mi") in other))
    stage = find(graph, "650 stages replayed", "us/stage")
    show("650 dependent stages, replayed", f"{stage:.3f} us per stage", "<= 1.2 us", stage <= 1.2,
         ", ".join(f"{p} {other[(p, 'chain-650')] / 650:.3f} us"
                   for p in ("torch", "cupy") if (p, "chain-650") in other))
    for name, (us, count) in tasks.items():
        mine = us / count
        rivals = {p: other[(p, name)] / count for p in ("torch", "cupy") if (p, name) in other}
        text = ", ".join(f"{p} {v:.1f} us ({v / mine:.2f} x)" for p, v in rivals.items())
        fast = all(mine < v for v in rivals.values())
        if name in SMALL:
            show(f"{name}, host to host", f"{mine:.1f} us per task", "<= 40 us, beats peers",
                 mine <= 40 and fast, text)
        elif name == "Large-Uniform":
            floor = LARGE_BYTES / BUS_BYTES_PER_US
            show(f"{name}, host to host", f"{us:.0f} us, {us / floor:.2f} x its bytes at 54 GB/s",
                 "<= 1.3 x", us <= 1.3 * floor, text)
        else:
            show(f"{name}, host to host", f"{mine:.1f} us per task", "-", fast, text)
    hashes = find(ops, "merkle", "Mhash/s") / 1000
    show("merkle, 1 Mi leaves, resident", f"{hashes:.2f} G hashes/s", ">= 2 G hashes/s", hashes >= 2, "-")
    flops = find(ops, "matmul", "GFLOP/s") / 1000
    show("matmul, resident", f"{flops:.1f} TFLOP/s", "-", True, "-")
    for op in ("vadd", "saxpy"):
        share = find(cpu, op, "of triad")
        show(f"{op} on this machine's CPU", f"{find(cpu, op, 'GB/s'):.0f} GB/s, {share:.2f} of triad",
             ">= 0.90", share >= 0.9, "-")

    print("\n## Router, vadd batches host to host\n\n```")
    print((out / "regret.txt").read_text().rstrip())
    print("```")


if __name__ == "__main__":
    main()
