#!/usr/bin/env python3
"""fit_shuffle.py IN.obj OUT.obj - the same mesh, its vertices and faces in a random order.

The order is the same in every run, so that times of two runs compare.
"""
import random
import sys


def main(source, target):
    with open(source, encoding="ascii") as file:
        lines = [line.split() for line in file]
    vertices = [line[1:] for line in lines if line and line[0] == "v"]
    faces = [[int(corner.split("/")[0]) - 1 for corner in line[1:]]
             for line in lines if line and line[0] == "f"]

    dice = random.Random(1)
    order = list(range(len(vertices)))
    dice.shuffle(order)
    dice.shuffle(faces)
    place = [0] * len(order)
    for new, old in enumerate(order):
        place[old] = new

    with open(target, "w", encoding="ascii") as file:
        for old in order:
            print("v", *vertices[old], file=file)
        for face in faces:
            print("f", *(place[corner] + 1 for corner in face), file=file)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: fit_shuffle.py IN.obj OUT.obj")
    main(sys.argv[1], sys.argv[2])
