#!/usr/bin/env python3
"""house_table.py OUT [LIMIT] - figures of two builds side by side, from what house.sh left in OUT.

B / A is a ratio of times: above 1 the new build is slower. Exit 1 when one is more than LIMIT % slower,
or when either build lacks a figure that the other has.
"""
import csv
import json
import math
import pathlib
import sys


def of_json(path):
    """Pairs of a key and a time; rates come as their inverse."""
    data = json.loads(path.read_text())
    for row in data.get("figures", []):
        key = f"{row['item']}, {row['metric']}, {row['device']}"
        if row["value"] and row.get("better") in ("less", "more"):
            yield key, row["value"] if row["better"] == "less" else 1 / row["value"]
    for row in data.get("points", []):
        names = ("profile", "precision", "n", "members", "device")
        yield ", ".join(f"{row[k]}" for k in names if k in row), row.get("ms_per_step")
    for row in data.get("rows", []):
        names = ("bench", "what", "precision", "n", "copies", "threads", "without", "device")
        key = ", ".join(f"{k} {row[k]}" for k in names if row.get(k) not in (None, ""))
        for metric in ("best_s", "shortest_run_s", "wall_s"):
            yield f"{key}, {metric}", row.get(metric)


def of_csv(path):
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    for row in csv.DictReader(lines):
        times = [k for k in row if k in ("median_us", "min_us", "wall_us", "median", "p50_us")]
        names = [k for k in ("scenario", "mechanism", "setting", "depth", "depths", "device") if k in row]
        for metric in times:
            yield ", ".join([*(row[k] for k in names), metric]), float(row[metric] or "nan")


def read(folder):
    """The shortest time of each figure over all rounds."""
    best = {}
    for path in sorted(folder.glob("*/**/*")):
        pairs = {".json": of_json, ".csv": of_csv}.get(path.suffix)
        if not pairs or path.name.endswith(".figures.json") or (
            "les_bench" in path.name and path.suffix == ".csv"
        ):
            continue
        # Its path below the round, without dates in file names.
        place = path.relative_to(folder).parts[1:-1]
        stem = "" if "les_bench" in path.name else path.stem
        for key, value in pairs(path):
            if isinstance(value, (int, float)) and math.isfinite(value) and value > 0:
                full = ("/".join([*place, stem]).rstrip("/"), key)
                best[full] = min(value, best.get(full, math.inf))
    return best


def main():
    out = pathlib.Path(sys.argv[1])
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    a, b = read(out / "A"), read(out / "B")
    if not a or not b:
        sys.exit(f"house_table: no figures in {out}")
    slower, missing, logs = [], [], {}
    print("| bench | figure | A | B | B / A | |\n|---|---|---|---|---|---|")
    for key in sorted(a.keys() | b.keys()):
        if key not in a or key not in b:
            missing.append(key)
            print(f"| {key[0]} | {key[1]} | {a.get(key, '-')} | {b.get(key, '-')} | - | MISSING |")
            continue
        ratio = b[key] / a[key]
        logs.setdefault(key[0].split("/")[0], []).append(math.log(ratio))
        is_slower = ratio > 1 + limit / 100
        if is_slower:
            slower.append((ratio, key))
        print(f"| {key[0]} | {key[1]} | {a[key]:.4g} | {b[key]:.4g} | {ratio:.3f} | "
              f"{'SLOWER' if is_slower else ''} |")
    print()
    for bench, values in logs.items():
        print(f"- {bench}: {len(values)} figures, mean ratio {math.exp(sum(values) / len(values)):.3f}")
    print(f"- {len(slower)} figures more than {limit:g} % slower, {len(missing)} in one build only")
    for ratio, key in sorted(slower, reverse=True)[:10]:
        print(f"  - {ratio:.3f}: {key[0]}, {key[1]}")
    sys.exit(1 if slower or missing else 0)


if __name__ == "__main__":
    main()
