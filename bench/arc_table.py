#!/usr/bin/env python3
"""arc_table.py BENCH.json [REFERENCE.json] - the figures of `arc.sh` as Markdown, with the bars.

Times are medians; only where one core is compared with the reference, the shortest of both are.
The last line says whether all bars that could be judged are met; the exit status too.
"""
import json
import sys

CORE_BAR, CORE_GOAL = 50, 300
DEVICE_BAR, DEVICE_GOAL = 4, 15
RATE_BAR, RATE_GOAL = 2e6, 10e6


def print_rows(bench):
    print("| where | without | runs | kernel ms | runs/s | run ms | end to end ms | runs/s | solved | left the device |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in bench["rows"]:
        where = row["device"] + (f", {row['threads']} thread" + "s" * (row["threads"] > 1)
                                 if row["threads"] else "")
        print(f"| {where} | {row['without'] or '-'} | {row['runs']} | {row['kernel_s'] * 1e3:.3f} |"
              f" {row['kernel_runs_per_s']:.0f} | {row['run_s'] * 1e3:.3f} | {row['wall_s'] * 1e3:.3f} |"
              f" {row['wall_runs_per_s']:.0f} | {row['solved']} | {row['fallbacks']} |")


def pick(bench, test):
    rows = [row for row in bench["rows"] if test(row)]
    return max(rows, key=lambda row: row["runs"]) if rows else None


def reference_rate(reference, without):
    """Runs per second of the reference, with or without the program that quern found the
    slowest."""
    seconds = sum(s for p, s in reference["program_seconds"].items() if p != without)
    runs = sum(n for p, n in reference["program_runs"].items() if p != without)
    return runs / seconds


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        bench = json.load(file)
    reference = None
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            reference = json.load(file)
    all_met = True

    def judge(what, value, bar, goal, unit):
        nonlocal all_met
        all_met = all_met and value >= bar
        print(f"| {what} | {value:.4g}{unit} | {bar:g}{unit} | {goal:g}{unit} |"
              f" {'yes' if value >= bar else 'NO'} |")

    print_rows(bench)
    print(f"\n{bench['worst_program']} takes {bench['worst_share_pct']:.1f} % of the CPU's time.")
    for crossover in bench["crossovers"]:
        print(f"{crossover['device']} overtakes the CPU from {crossover['crossover'] or 'no'}"
              " runs a batch on.")
    if reference:
        worst = reference["worst_program"]
        print(f"\nReference interpreter (Python {reference['python']}, one process):"
              f" {reference['runs']} runs in {reference['seconds']:.3f} s,"
              f" {reference_rate(reference, None):.1f} runs/s; without {worst}"
              f" {reference_rate(reference, worst):.1f} runs/s.")
    print("\n| | value | bar | goal | met |\n|---|---|---|---|---|")
    for without in (False, True):
        name = f"without {bench['worst_program']}" if without else "all programs"

        def is_set(row, without=without):
            return bool(row["without"]) == without

        one = pick(bench, lambda row: row["threads"] == 1 and is_set(row))
        cpu = pick(bench, lambda row: row["threads"] > 1 and is_set(row))
        device = pick(bench, lambda row: row["threads"] == 0 and is_set(row))
        if reference and one:
            rate = reference_rate(reference, bench["worst_program"] if without else None)
            # The shortest times of both: other load on the machine only makes times longer.
            judge(f"one core over the reference, {one['runs']} runs, {name}",
                  one["runs"] / one["shortest_run_s"] / rate, CORE_BAR, CORE_GOAL, " x")
        if cpu and device:
            judge(f"device over {cpu['threads']} threads, {device['runs']} runs, {name}",
                  device["kernel_runs_per_s"] / cpu["kernel_runs_per_s"], DEVICE_BAR, DEVICE_GOAL,
                  " x")
        if device and without:
            judge(f"device, runs/s, {name}", device["kernel_runs_per_s"], RATE_BAR, RATE_GOAL, "")
    print("\nall bars are met" if all_met else "\nnot all bars are met")
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
