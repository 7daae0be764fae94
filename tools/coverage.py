#!/usr/bin/env python3
"""coverage.py BUILD [KEPT] - coverage of the library by the tests of a build with gcov.

Prints the lines and branches of the library that were run, by folder: src without src/cli and
src/lab, whichever program of the build ran them; `host` is all but kernels, some of which only run on
devices. With KEPT, a file with lines `host LINES BRANCHES` and `total LINES BRANCHES` in percent, it ends
with 1 if one of these is more than 0.3 below it. `--missing FOLDER` lists the
files of a folder by missing branches instead.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

SLACK = 0.3  # threads and clocks decide some branches
ROOT = pathlib.Path(__file__).resolve().parent.parent


def count(notes):
    """The lines and branches of one object, as (file, line): hits and (file, line, i): hits. A line that belongs
    to several functions, through a macro or several widths of a vector, counts once."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)],
                         capture_output=True, text=True, check=False).stdout
    lines, branches = collections.Counter(), collections.Counter()
    for text in out.splitlines():
        data = json.loads(text)
        for file in data["files"]:
            path = os.path.relpath(os.path.join(data["current_working_directory"], file["file"]), ROOT)
            if not re.match(r"src/(?!cli/|lab/)", path):
                continue
            seen = collections.Counter()
            for line in file["lines"]:
                key = (path, line["line_number"])
                lines[key] += line["count"]
                function = line.get("function_name", "")
                for branch in line["branches"]:
                    place = (*key, seen[key, function])
                    seen[key, function] += 1
                    branches[place] += branch["count"]
    return lines, branches


def count_all(build):
    notes = sorted(pathlib.Path(build).rglob("*.gcno"))
    if not notes:
        sys.exit(f"coverage: {build} has no counters; make coverage builds it")
    lines, branches = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(count, notes):
            lines.update(one[0])
            branches.update(one[1])
    return lines, branches


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[1:3] if parts[1] == "domain" and len(parts) > 3 else parts[1:2])


def sums(counters, group):
    """group -> [run, all]"""
    out = collections.defaultdict(lambda: [0, 0])
    for key, hits in counters.items():
        for name in (group(key[0]), "total", *([] if key[0].startswith("src/kernel/") else ["host"])):
            out[name][0] += hits > 0
            out[name][1] += 1
    return out


def percent(run_all):
    return 100.0 * run_all[0] / run_all[1] if run_all[1] else 100.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("kept", nargs="?")
    parser.add_argument("--missing", metavar="FOLDER")
    args = parser.parse_args()
    lines, branches = count_all(args.build)
    if args.missing:
        by_file = sums(branches, str)
        for path, (run, of) in sorted(by_file.items(), key=lambda item: item[1][0] - item[1][1]):
            if path.startswith(args.missing):
                where = sorted({key[1] for key, hits in branches.items() if key[0] == path and not hits})
                print(f"{of - run:5d} of {of:5d}  {path}: {' '.join(map(str, where))}")
        return 0
    line_sums, branch_sums = sums(lines, folder_of), sums(branches, folder_of)
    print(f"{'FOLDER':16} {'LINES':>7} {'RUN %':>6} {'BRANCHES':>9} {'RUN %':>6}")
    for name in sorted(line_sums, key=lambda name: (name == "total", name == "host", name)):
        print(f"{name:16} {line_sums[name][1]:7d} {percent(line_sums[name]):6.1f} "
              f"{branch_sums[name][1]:9d} {percent(branch_sums[name]):6.1f}")
    if not args.kept:
        return 0
    kept = re.findall(r"^(host|total) ([\d.]+) ([\d.]+)$", pathlib.Path(args.kept).read_text(), re.M)
    if not kept:
        sys.exit(f"coverage: {args.kept} has no line \"total LINES BRANCHES\"")
    fell = False
    for name, *before in kept:
        for what, now, least in (("lines", percent(line_sums[name]), float(before[0])),
                                 ("branches", percent(branch_sums[name]), float(before[1]))):
            if now < least - SLACK:
                print(f"coverage: {now:.1f} % of the {what} of {name} were run; {args.kept} keeps {least:.1f} %")
                fell = True
    return int(fell)


if __name__ == "__main__":
    sys.exit(main())
