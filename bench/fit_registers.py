#!/usr/bin/env python3
"""fit_registers.py QUERN MOCK [OUT.md] - registers and spills of the kernels of fit, by ptxas.

No GPU is needed: the CUDA driver is MOCK (build/libcuda_mock.so), which has the kernels' texts
compiled and runs nothing; nvcc compiles the texts again and tells what they take. Every program is
compiled twice: with all values kept (QUERN_FIT_LIVE=0), and as it is by default. Prints a table in
Markdown; the first architecture is the one whose figures are shown for both.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHS = ("90", "89", "75")

BALL = """fit 1;
mesh M = obj("ball.obj");
param x[M.verts] : vec3 = M.pos;
"""

COVARIANCE = BALL + """
fun part(a, b, c, i, j) = corner_angle(a, b, c) * tri_normal(a, b, c)[i] * tri_normal(a, b, c)[j];
energy covariance over v in M.verts {
  yield eig3_min(%s);
}
solve lbfgs { max_iterations = 1; }
"""

HINGE = BALL + """
fun tilt(m, n) {
  let across = cross(m, n);
  return atan2(length(across), dot(m, n)) * normalize(cross(across, m));
}
fun part(m, a, b, c, i, j) =
  corner_angle(a, b, c) * tilt(m, tri_normal(a, b, c))[i] * tilt(m, tri_normal(a, b, c))[j];
energy hinge over v in M.verts {
  let m = normalize(sum(c in v.ring: tri_area(x[v], x[c.j], x[c.k]) *
                                     tri_normal(x[v], x[c.j], x[c.k])));
  yield eig3_mid(%s);
}
solve lbfgs { max_iterations = 1; }
"""

BENDING = BALL + """
residual bending over h in M.hinges { yield dihedral(x[h.a], x[h.b], x[h.c], x[h.d]) - 0.1; }
solve %s
"""

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def ring_sums(first):
    """The six sums over a ring that make a symmetric matrix."""
    return ",\n    ".join(f"sum(c in v.ring: part({first}x[v], x[c.j], x[c.k], {i}, {j}))"
                          for i, j in PAIRS)


def write_ball(quern, folder):
    """A sphere with edges flipped here and there: rings of 4 to 8 faces."""
    path = folder / "ball.obj"
    subprocess.run([quern, "fit", "mesh", "icosphere", "2", path], check=True, capture_output=True)
    lines = path.read_text().splitlines()
    points = [line for line in lines if line.startswith("v ")]
    faces = [[int(word.split("/")[0]) for word in line.split()[1:]]
             for line in lines if line.startswith("f ")]
    for step in range(40):
        flip_one(faces, step)
    path.write_text("\n".join(points + ["f %d %d %d" % tuple(face) for face in faces]) + "\n")


def flip_one(faces, step):
    """Flips the first suitable edge; which one that is depends only on `step`."""
    across = {(face[k], face[(k + 1) % 3]): (number, face[(k + 2) % 3])
              for number, face in enumerate(faces) for k in range(3)}
    degree = collections.Counter(corner for face in faces for corner in face)
    for (a, b), (left, c) in sorted(across.items()):
        right, d = across[b, a]
        is_free = (c, d) not in across and (d, c) not in across
        has_room = min(degree[a], degree[b]) > 4 and max(degree[c], degree[d]) < 8
        if a < b and is_free and has_room and (7 * a + 13 * b + 5 * step) % 11 == 0:
            faces[left] = [a, d, c]
            faces[right] = [d, b, c]
            return


def cases(folder):
    """Name and command of every case."""
    programs = {
        "bending, J": BENDING % "lm { linear_solver = pcg; max_iterations = 1; }",
        "bending, gradient": BENDING % "lbfgs { max_iterations = 1; accumulate = gather; }",
        "covariance": COVARIANCE % ring_sums(""),
        "hinge": HINGE % ring_sums("m, "),
    }
    for number, name in enumerate(("B1", "B2", "B3")):
        what = ("springs", "64 operations", "cameras")[number]
        yield what, ["bench", name, "--n", "2000"]
    yield "hinge, built in", ["bench", "B6", "--n", "2"]
    for name, text in programs.items():
        path = folder / (name.replace(", ", "-") + ".fit")
        path.write_text(text)
        yield name, ["run", str(path), "--data", str(folder), "--out", str(folder / "out")]


def dump(quern, mock, command, live, folder):
    """Texts of the kernels of terms, by module."""
    env = dict(os.environ, QUERN_CACHE="0", QUERN_DUMP=str(folder), QUERN_CUDA_LIB=str(mock),
               QUERN_HIDE="opencl", QUERN_PROFILE="0")
    env.pop("QUERN_FIT_LIVE", None)
    if live is not None:
        env["QUERN_FIT_LIVE"] = live
    subprocess.run([quern, "fit", *command, "--backend", "cuda"], env=env, capture_output=True,
                   check=False)
    return {path.name[len("cuda-"):-len(".cu")]: path
            for path in sorted(folder.glob("cuda-fit.*.cu"))}


def measure(path, arch):
    """Kernel: (registers, bytes stored, bytes loaded), as reported by ptxas."""
    said = subprocess.run(["nvcc", "-x", "cu", f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v",
                           "--fmad=false", "-o", os.devnull, str(path)],
                          capture_output=True, text=True, check=True).stderr
    found = re.finditer(r"entry function '(?:qnk_)?(\w+)'.*?(\d+) bytes spill stores, "
                        r"(\d+) bytes spill loads.*?Used (\d+) registers", said, re.S)
    return {m[1]: (int(m[4]), int(m[2]), int(m[3])) for m in found}


def notes(path):
    """Kernel: (operations, values alive), from the comments of the text."""
    found = re.finditer(r"/\* [^\n]*?: (\d+) operations, at most (\d+) values alive[^\n]*\n"
                        r"[^\n]*?qnk_(\w+?)_item\(", path.read_text())
    return {m[3]: (int(m[1]), int(m[2])) for m in found}


def rows_of(name, before, after):
    """A row for each kernel of a term in a module, of both texts."""
    for module, path in after.items():
        same = before[module].read_text() == path.read_text()
        kept = notes(before[module])
        said = notes(path)
        old = {arch: measure(before[module], arch) for arch in ARCHS}
        new = old if same else {arch: measure(path, arch) for arch in ARCHS}
        for kernel in sorted(said):
            cells = [name, f"{module}.{kernel}",
                     "%d" % kept[kernel][0], "%d" % kept[kernel][1]]
            cells += ["%d, %d/%d" % old[arch][kernel] for arch in ARCHS]
            if said[kernel] == kept[kernel]:
                cells += ["", "", *("" for _ in ARCHS)]
            else:
                cells += ["%d" % said[kernel][0], "%d" % said[kernel][1]]
                cells += ["%d, %d/%d" % new[arch][kernel] for arch in ARCHS]
            yield cells


def main():
    """Writes the table."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    quern, mock = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    head = ["term", "kernel", "operations", "alive", *(f"sm_{arch}" for arch in ARCHS),
            "operations", "alive", *(f"sm_{arch}" for arch in ARCHS)]
    table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_ball(quern, folder)
        for number, (case, command) in enumerate(cases(folder)):
            texts = []
            for live in ("0", None):
                into = folder / f"{number}-{live}"
                into.mkdir()
                texts.append(dump(quern, mock, command, live, into))
            if not texts[1]:
                sys.exit(f"{case}: no kernel was compiled")
            table += ["| " + " | ".join(cells) + " |" for cells in rows_of(case, *texts)]
    text = "\n".join(table) + "\n"
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
