#!/usr/bin/env python3
"""arc_reference.py FOLDER TASKS OUT.json - the reference interpreter on every pair of the tasks.

FOLDER holds the public dsl.py and solvers.py; nothing of it is part of quern. One process; grids are
read before the clock runs. Of every program the shortest of three times counts, except of the one that
takes nearly all of the time: it runs once.
"""
import json
import os
import platform
import sys
import time


def grid(rows):
    return tuple(tuple(row) for row in rows)


def run(solve, pairs):
    """Seconds, pairs solved and errors of one program."""
    solved = errors = 0
    start = time.perf_counter()
    for given, wanted in pairs:
        try:
            solved += solve(given) == wanted
        except Exception:  # whatever a program does wrong is counted, not fatal
            errors += 1
    return time.perf_counter() - start, solved, errors


def main():
    folder, tasks, out = sys.argv[1:4]
    sys.path.insert(0, folder)
    import solvers

    pairs = {}
    for name in sorted(os.listdir(tasks)):
        if name.endswith(".json") and hasattr(solvers, "solve_" + name[:-5]):
            with open(os.path.join(tasks, name), encoding="utf-8") as file:
                task = json.load(file)
            pairs[name[:-5]] = [(grid(p["input"]), grid(p["output"]))
                                for p in task["train"] + task["test"]]
    seconds, solved, errors = {}, 0, 0
    for task_id, of_task in pairs.items():
        seconds[task_id], n_solved, n_errors = run(getattr(solvers, "solve_" + task_id), of_task)
        solved, errors = solved + n_solved, errors + n_errors
    worst = max(seconds, key=seconds.get)
    for task_id in 2 * [task_id for task_id in pairs if task_id != worst]:
        again = run(getattr(solvers, "solve_" + task_id), pairs[task_id])[0]
        seconds[task_id] = min(seconds[task_id], again)
    runs = {task_id: len(of_task) for task_id, of_task in pairs.items()}
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
