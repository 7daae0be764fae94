# tutorial-flow.sh - a vorticity field of two waves.
# shellcheck shell=bash
if ! command -v python3 >/dev/null || ! has_fftw; then
    echo 'skipped: flows need FFTW, and python3 makes the field'
    exit 77
fi
python3 - <<'PY'
import math
import struct

side = 32
turn = 2 * math.pi / side
field = [math.sin(3 * turn * i) * math.cos(2 * turn * j) for j in range(side) for i in range(side)]
head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({side}, {side}), }}"
head = head.ljust(127 - 10) + "\n"
with open("field.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode("ascii"))
    file.write(struct.pack(f"<{len(field)}d", *field))
PY
