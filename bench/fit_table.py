#!/usr/bin/env python3
"""fit_table.py DIR - one table from the files fit.sh wrote: figure, bar, jax, verdict."""
import json
import pathlib
import sys

# what, instances, precision -> microseconds, one evaluation behind the other
BARS = {
    ("springs residuals+jacobian", 10000000, "f64"): 240,
    ("springs residuals+jacobian", 10000000, "f32"): 150,
    ("graph64 residuals+jacobian", 1000000, "f64"): 90,
    ("cameras residuals+jacobian", 1000000, "f64"): 100,
    ("springs gradient owner", 10000000, "f64"): 300,
}
# the same work in jax: names of its modes, of which the best counts
JAX = {
    "springs residuals": ["springs residual only"],
    "springs residuals+jacobian": ["springs jacfwd aos", "springs jacrev aos", "springs jacfwd soa",
                                   "springs jacrev soa"],
    "graph64 residuals": ["graph64 residual only"],
    "graph64 residuals+jacobian": ["graph64 jacfwd soa", "graph64 jacrev soa",
                                   "graph64 value_and_grad soa"],
    "cameras residuals": ["bal residual only"],
    "cameras residuals+jacobian": ["bal jacfwd aos", "bal jacfwd soa", "bal jacrev aos", "bal jacrev soa"],
    "springs gradient owner": ["grad springs at[].add", "grad springs sorted segment_sum",
                               "grad springs jax.grad of cost"],
    "springs gradient gather": ["grad springs at[].add", "grad springs sorted segment_sum",
                                "grad springs jax.grad of cost"],
    "cameras gradient gather": ["grad bal jax.grad (1000 cameras)"],
}


def jax_best(rows, what, n, precision):
    times = [1e6 * r["piped_s"] for r in rows
             if r["name"] in JAX.get(what, []) and r["dtype"] == precision and abs(r["n"] - n) < n / 100]
    return min(times, default=None)


def rows_of(out, bench):
    path = out / f"{bench}_f64.json"
    return json.loads(path.read_text())["rows"] if path.exists() else []


def print_even(rows):
    """A step of Levenberg-Marquardt, CPU and device side by side."""
    if not rows:
        return
    print("\n## From which size on the GPU pays\n")
    print("A step of Levenberg-Marquardt on spheres of springs and anchors, f64, the same graphs on both\n"
          "sides; microseconds, the best of three solves. chosen: what `auto` does, and why.\n")
    print("| sphere | terms | CPU | GPU | CPU / GPU | chosen |")
    print("|---|---|---|---|---|---|")
    for cpu, gpu in zip(rows[::2], rows[1::2]):
        c, g = 1e6 * cpu["best_s"], 1e6 * gpu["best_s"]
        print(f"| {gpu['what'].split(':')[0]} | {gpu['n']} | {c:.0f} | {g:.0f} | {c / g:.2f} | {gpu['note']} |")


def print_cache(rows):
    if not rows:
        return
    print("\n## What compiling costs\n")
    print("From tables in host memory to the first result.\n")
    print("| what | ms |")
    print("|---|---|")
    for r in rows:
        print(f"| {r['what']} | {1e3 * r['best_s']:.1f} |")


def main():
    out = pathlib.Path(sys.argv[1])
    files = sorted(out.glob("B[1-4]_f??.json"), key=lambda f: (f.name[3:] != "f64.json", f.name))
    reports = [json.loads(f.read_text()) for f in files]
    jax = [r for f in out.glob("jax_*.json") for r in json.loads(f.read_text())["results"]]
    met, seen = True, set()

    print("# Evaluation of terms on one GPU\n")
    for line in (out / "conditions.txt").read_text().splitlines():
        print(f"- {line}")
    print(f"- bandwidth of y = a x + y: {max((r['bandwidth_gbs'] for r in reports), default=0):.0f} GB/s")
    print("- command: `bench/fit.sh PACK PEERS`\n")
    print("Microseconds. piped: many evaluations with one wait at the end, which is how jax is timed too;\n"
          "alone: best and median of 20 that are waited for. bound: the bytes that have to move, at that\n"
          "bandwidth. jax: the best of its modes.\n")
    print("| what | precision | n | piped | alone | median | ns each | GB/s | % of bound | bar | met | jax | jax / quern |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for report in reports:
        for r in report["rows"]:
            key = (r["what"], r["n"], r["precision"])
            if key in seen:
                continue
            seen.add(key)
            us, bar = 1e6 * r["piped_s"], BARS.get(key)
            peer = jax_best(jax, *key)
            met = met and (bar is None or us <= bar)
            verdict = "" if bar is None else "yes" if us <= bar else "NO"
            print(f"| {r['what']} | {r['precision']} | {r['n']} | {us:.1f} | {1e6 * r['best_s']:.1f} | "
                  f"{1e6 * r['median_s']:.1f} | {r['ns_per_instance']:.4f} | {r['gbs']:.0f} | "
                  f"{r['bound_pct']:.0f} | {bar or ''} | {verdict} | {f'{peer:.1f}' if peer else ''} | "
                  f"{f'{peer / us:.2f}' if peer else ''} |")
    print_even(rows_of(out, "B8"))
    print_cache(rows_of(out, "B7"))
    missing = [f"{what} {precision}" for what, n, precision in BARS if (what, n, precision) not in seen]
    if missing:
        print("\nnot measured: " + ", ".join(missing))
    sys.exit(0 if met and not missing else 1)


main()
