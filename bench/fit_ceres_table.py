#!/usr/bin/env python3
"""fit_ceres_table.py DIR - one table from the files fit_ceres.sh wrote; the best of three turns."""
import json
import pathlib
import re
import sys

BAR = 10


def least(text, key):
    return min(float(v) for v in re.findall(rf"{key}=([0-9.]+)", text) if float(v) > 0)


def main():
    out = pathlib.Path(sys.argv[1])
    met = True

    print("| what | blocks | Ceres Evaluate, ns | in a solve | quern, ns | Ceres / quern | met |")
    print("|---|---|---|---|---|---|---|")
    for bench, name in (("B1", "springs"), ("B3", "cameras")):
        text = (out / f"{name}.txt").read_text()
        evaluate, solve = least(text, "residual_jacobian_crs_ns"), least(text, "jac_ns_per_block")
        rows = [r for f in out.glob(f"{bench}_*.json") for r in json.loads(f.read_text())["rows"]]
        for what in (f"{name} residuals+jacobian", f"{name} linearize by the host"):
            ours = [r for r in rows if r["what"] == what]
            ns = min(1e9 * r["best_s"] / r["n"] for r in ours)
            ratio = min(evaluate, solve) / ns
            met = met and ratio >= BAR
            print(f"| {what} | {ours[0]['n']} | {evaluate:.0f} | {solve:.0f} | {ns:.1f} | {ratio:.1f} | "
                  f"{'yes' if ratio >= BAR else 'NO'} |")
    sys.exit(0 if met else 1)


main()
