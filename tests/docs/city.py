#!/usr/bin/env python3
"""Makes the files of somebody who has a town: dsm.tif, trees.tif and city.epw, small."""

import math
import struct

COLS, ROWS, PIXEL_M = 64, 48, 2.0
EPSG = 32633  # UTM 33N


def write_geotiff(path, heights):
    """A raster of floats, north up, without compression."""
    data = b"".join(struct.pack("<f", h) for h in heights)
    matrix = [PIXEL_M, 0, 0, 500000, 0, -PIXEL_M, 0, 5000000, 0, 0, 0, 0, 0, 0, 0, 1]
    keys = [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, EPSG]
    tags = [(256, "I", [COLS]), (257, "I", [ROWS]), (258, "H", [32]), (259, "H", [1]),
            (262, "H", [1]), (273, "I", [0]), (277, "H", [1]), (278, "I", [ROWS]),
            (279, "I", [len(data)]), (339, "H", [3]), (34264, "d", matrix), (34735, "H", keys)]
    codes = {"H": 3, "I": 4, "d": 12}
    extra_at = 8 + 2 + 12 * len(tags) + 4
    extra_len = sum(n for n in (len(v) * struct.calcsize(k) for _, k, v in tags) if n > 4)
    entries, extra = b"", b""
    for tag, kind, values in tags:
        if tag == 273:
            values = [extra_at + extra_len]
        body = struct.pack(f"<{len(values)}{kind}", *values)
        head = struct.pack("<HHI", tag, codes[kind], len(values))
        if len(body) > 4:
            entries += head + struct.pack("<I", extra_at + len(extra))
            extra += body
        else:
            entries += head + body.ljust(4, b"\0")
    with open(path, "wb") as file:
        file.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0" * 4 + extra + data)


def write_epw(path):
    """Two summer days, hour by hour."""
    place = "LOCATION,Town,-,-,made up,0,45.1,15.0,1.0,120.0\n"
    heads = ["DESIGN CONDITIONS,0", "TYPICAL/EXTREME PERIODS,0", "GROUND TEMPERATURES,0",
             "HOLIDAYS/DAYLIGHT SAVINGS,No,0,0,0", "COMMENTS 1,", "COMMENTS 2,",
             "DATA PERIODS,1,1,Data,Sunday,7/1,7/2"]
    rows = []
    for hour in range(48):
        day, clock = 1 + hour // 24, 1 + hour % 24
        height = max(0.0, math.sin(math.pi * (clock - 5) / 15)) if 5 < clock < 20 else 0.0
        air, light = 20 + 10 * height, 850 * height
        rows.append(f"2023,7,{day},{clock},0,-,{air:.1f},12.0,50,100000,0,0,350,{light:.0f},"
                    f"{0.9 * light:.0f},{0.2 * light:.0f},0,0,0,0,180,2.0,2,2,20,9999,9,0,20,0.1,0,0,"
                    f"0.2,0,0")
    with open(path, "w", encoding="ascii") as file:
        file.write(place + "\n".join(heads + rows) + "\n")


def building(x, y):
    return 15.0 if x % 20 < 10 and y % 16 < 9 else 0.0


def tree(x, y):
    return 6.0 if (x - 15) % 20 < 3 and (y - 12) % 16 < 3 else 0.0


CELLS = [(x, y) for y in range(ROWS) for x in range(COLS)]
write_geotiff("dsm.tif", [100 + building(x, y) for x, y in CELLS])
write_geotiff("trees.tif", [tree(x, y) for x, y in CELLS])
write_epw("city.epw")
