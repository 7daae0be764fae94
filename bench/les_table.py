#!/usr/bin/env python3
"""les_table.py DIR - one table from the files les_peers.sh wrote: figure, bar, peers, verdict."""
import csv
import json
import pathlib
import sys

BARS_MS = {256: 0.030, 512: 0.045, 1024: 0.105, 2048: 0.42, 4096: 1.65}
FLOOR_BYTES_PER_CELL = 31 * 4  # a step that reads and writes each field once, f32
HBM = 4.3e12


def points(folder):
    path = sorted(folder.glob("les_bench_*.csv"))[-1]
    return {int(r["n"]): r for r in csv.DictReader(path.open())}


def peer(path):
    if not path.exists():
        return {}
    return {r["N"]: r["ms_per_step"] for r in json.loads(path.read_text())["rows"]}


def main():
    out = pathlib.Path(sys.argv[1])
    own, library = points(out / "own"), points(out / "library")
    torch, jax = peer(out / "torch.json"), peer(out / "jax.json")
    met = True

    print("# A step of the flow on one GPU, f32, flux form\n")
    for line in (out / "conditions.txt").read_text().splitlines():
        print(f"- {line}")
    print("- command: `bench/les_peers.sh PACK PEERS GOLDEN`\n")
    print("| N | quern, own passes, ms | by VkFFT | bar | met | torch | jax | torch / quern | floor |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n, bar in BARS_MS.items():
        ms = float(own[n]["ms_per_step"])
        met = met and ms <= bar
        floor = 1e3 * FLOOR_BYTES_PER_CELL * n * n / HBM
        print(f"| {n} | {ms:.4f} | {float(library[n]['ms_per_step']):.4f} | {bar} | "
              f"{'yes' if ms <= bar else 'NO'} | {torch.get(n, float('nan')):.4f} | "
              f"{jax.get(n, float('nan')):.4f} | {torch.get(n, float('nan')) / ms:.2f} | {floor:.4f} |")
    print("\nfloor: 31 fields of f32, each moved once at 4.3 TB/s.\n")
    double = points(out / "double")
    print("f64, ms per step: " + ", ".join(
        f"N = {n} {float(r['ms_per_step']):.4f}" for n, r in double.items()) + "\n")
    rate = float(points(out / "members")[256]["cell_steps_per_s"])
    met = met and rate >= 8e9
    print(f"N = 256, 64 members: {rate:.2e} cell-steps/s (bar 8e9: {'yes' if rate >= 8e9 else 'NO'})\n")
    gemv, blocked = map(float, (out / "rollout.txt").read_text().splitlines()[1].split()[-2:])
    fits = gemv <= 4 and blocked <= 0.5
    met = met and fits
    print(f"Rollout, 328 features: {gemv:.2f} us per step, blocked {blocked:.2f} us "
          f"(bars 4 and 0.5: {'yes' if fits else 'NO'})\n")
    print("\n".join((out / "whole" / "summary.md").read_text().splitlines()[2:]))
    sys.exit(0 if met else 1)


main()
