#!/usr/bin/env python3
"""arc_reference.py FOLDER TASKS OUT.json - the reference interpreter on every pair of the tasks.

FOLDER holds the public dsl.py and solvers.py; nothing of it is part of quern. One process, one
pass: seconds of all runs, and of all but those of the program that takes the most time.
"""
import json
import os
import platform
import sys
import time


def grid(rows):
    return tuple(tuple(row) for row in rows)


def main():
    folder, tasks, out = sys.argv[1:4]
    sys.path.insert(0, folder)
    import solvers

    seconds, runs, solved, errors = {}, {}, 0, 0
    for name in sorted(os.listdir(tasks)):
        task_id = name[:-5]
        solve = getattr(solvers, "solve_" + task_id, None)
        if not name.endswith(".json") or solve is None:
            continue
        with open(os.path.join(tasks, name), encoding="utf-8") as file:
            task = json.load(file)
        for pair in task["train"] + task["test"]:
            given, wanted = grid(pair["input"]), grid(pair["output"])
            start = time.perf_counter()
            try:
                solved += solve(given) == wanted
            except Exception:  # whatever a program does wrong is counted, not fatal
                errors += 1
            seconds[task_id] = seconds.get(task_id, 0) + time.perf_counter() - start
            runs[task_id] = runs.get(task_id, 0) + 1
    worst = max(seconds, key=seconds.get)
    total, n = sum(seconds.values()), sum(runs.values())
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"python": platform.python_version(), "runs": n, "solved": solved,
                   "errors": errors, "seconds": total, "worst_program": worst,
                   "worst_seconds": seconds[worst], "worst_runs": runs[worst],
                   "program_seconds": seconds, "program_runs": runs}, file)
    print(f"reference: {n} runs, {solved} solved, {errors} errors, {total:.3f} s;"
          f" {worst} takes {seconds[worst]:.3f} s")


if __name__ == "__main__":
    main()
